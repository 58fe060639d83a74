"""Speak Spark Connect: tables are temporary views of a session on a server."""

import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from agon.engines.importing import importable
from agon.errors import Unavailable

_SQL_TYPES: Final = {
    "string": "STRING",
    "int64": "BIGINT",
    "bool": "BOOLEAN",
    "boolean": "BOOLEAN",
    "double": "DOUBLE",
    "float64": "DOUBLE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamp[us]": "TIMESTAMP_NTZ",
}
"""The types of columns, by their names in Ibis and Arrow."""
_RETRIES: Final = 3
"""Retries of a request to a server that does not answer, within about a second."""


class SparkConnect:
    """A session on a Spark Connect server, in which tables are temporary views.

    Args:
        address: ``sc://host:port``, with the parameters of Spark Connect. A token is taken from
            the environment (``SPARK_CONNECT_AUTHENTICATE_TOKEN``).
        stop: stops the server when the session is closed; None: it belongs to others.

    Raises:
        Unavailable: the server does not answer.
    """

    def __init__(self, address: str, *, stop: Callable[[], object] | None = None) -> None:
        with importable():
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
        self.name = f"the server {address.partition(';')[0]}"
        with self._answers():
            self._session = SparkSession.builder.remote(address).create()
            self._session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
            self._session.conf.set("spark.sql.session.timeZone", "UTC")
        self.close = weakref.finalize(self, _close, self._session, stop)

    def read_parquet(self, name: str, path: Path, columns: Mapping[str, str]) -> None:
        """Name a Parquet file; ``columns`` are those to read, with their Ibis types."""
        casts = [f"CAST(`{c}` AS {_SQL_TYPES[kind]}) AS `{c}`" for c, kind in columns.items()]
        with self._answers():
            rows = self._session.read.parquet(str(path)).selectExpr(*casts)
            rows.createOrReplaceTempView(name)

    def add(self, name: str, rows: pa.Table) -> None:
        """Name some rows of this machine."""
        nulls = [f"CAST(NULL AS {_SQL_TYPES[str(f.type)]}) AS `{f.name}`" for f in rows.schema]
        empty = f"SELECT {', '.join(nulls)} WHERE 1 = 0"
        with self._answers():
            session = self._session
            frame = session.createDataFrame(rows) if len(rows) else session.sql(empty)
            frame.createOrReplaceTempView(name)

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an Ibis expression over unbound tables."""
        import ibis

        if ibis.options.pyspark is None:  # its compiler reads them; its backend needs Java
            options = type("Options", (ibis.config.Config,), {"treat_nan_as_null": False})
            ibis.options.pyspark = options()
        sql = ibis.to_sql(expression, dialect="pyspark")
        with self._answers():
            return self._session.sql(sql).toArrow()

    @contextmanager
    def _answers(self) -> Iterator[None]:
        """Raise ``Unavailable``, with the server's name, where the server fails."""
        from grpc import RpcError
        from pyspark.errors import PySparkException

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that a retry was the last one
                yield
        except (PySparkException, RpcError) as error:
            text = error.details() if isinstance(error, RpcError) else str(error)
            reason = (text.splitlines() or [type(error).__name__])[0]
            raise Unavailable(f"{self.name} failed: {reason}") from error


def _close(session: Any, stop: Callable[[], object] | None) -> None:
    with suppress(Exception):  # the server may be gone
        session.stop()
    if stop is not None:
        stop()
