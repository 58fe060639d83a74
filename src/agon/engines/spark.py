"""Speak Spark Connect: tables are temporary views of a session on a server."""

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from agon.engines.importing import importable
from agon.engines.spark_errors import answers
from agon.engines.spark_sql import SQL_TYPES, query_of

_RETRIES: Final = 3
"""Retries of a request to a server that does not answer, within about a second."""
_MAX_CACHED: Final = 4
"""Relations that a session keeps at once: those of two sets of rules, which are compared."""


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
        with answers(self.name):
            self._session = SparkSession.builder.remote(address).create()
            self._session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
            self._session.conf.set("spark.sql.session.timeZone", "UTC")
        self._caches: list[Any] = []
        self.close = weakref.finalize(self, _close, self._session, self._caches, stop)

    def read_parquet(self, name: str, path: Path, columns: Mapping[str, str]) -> None:
        """Name a Parquet file; ``columns`` are those to read, with their Ibis types."""
        casts = [f"CAST(`{c}` AS {SQL_TYPES[kind]}) AS `{c}`" for c, kind in columns.items()]
        with answers(self.name):
            rows = self._session.read.parquet(str(path)).selectExpr(*casts)
            rows.createOrReplaceTempView(name)

    def add(self, name: str, rows: pa.Table) -> None:
        """Name some rows of this machine."""
        nulls = [f"CAST(NULL AS {SQL_TYPES[str(f.type)]}) AS `{f.name}`" for f in rows.schema]
        empty = f"SELECT {', '.join(nulls)} WHERE 1 = 0"
        with answers(self.name):
            session = self._session
            frame = session.createDataFrame(rows) if len(rows) else session.sql(empty)
            frame.createOrReplaceTempView(name)

    def divide(self, name: str, expression: Any, *, by: str) -> None:
        """Name the rows of an expression, which are sent to tasks by the hash of a column."""
        with answers(self.name):
            self._rows(expression).repartition(by).createOrReplaceTempView(name)

    def keep(self, name: str, expression: Any) -> None:
        """Name the rows of an expression; executors keep them in memory or on disk."""
        with answers(self.name):
            if len(self._caches) == _MAX_CACHED:  # a view of the first one is computed again
                self._caches.pop(0).unpersist()
            self._caches.append(self._rows(expression).persist())
            self._caches[-1].createOrReplaceTempView(name)

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an Ibis expression over unbound tables."""
        client = self._session.client
        with answers(self.name):
            return client.to_table(query_of(expression).to_proto(client), {})[0]

    def _rows(self, expression: Any) -> Any:
        from pyspark.sql.connect.dataframe import DataFrame

        return DataFrame(query_of(expression), self._session)


def _close(session: Any, frames: list[Any], stop: Callable[[], object] | None) -> None:
    with suppress(Exception):  # the server may be gone
        for rows in frames:
            rows.unpersist()
        session.stop()
    if stop is not None:
        stop()
