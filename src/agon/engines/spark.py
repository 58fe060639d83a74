"""Speak Spark Connect: tables are temporary views of a session on a server."""

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from agon.engines.importing import importable
from agon.engines.spark_errors import answers
from agon.engines.spark_sql import SQL_TYPES, query_of, rows_of

_RETRIES: Final = 3
"""Retries of a request to a server that does not answer, within about a second."""
_MAX_CACHED: Final = 4
"""Relations that a session keeps at once: those of two sets of rules, which are compared."""


class SparkConnect:
    """A session on a Spark Connect server, in which tables are temporary views.

    Args:
        address: ``sc://host:port``, with the parameters of Spark Connect; a session that they name
            (``/;session_id=UUID``) stays on the server, any other one ends with this object. A
            token is taken from the environment (``SPARK_CONNECT_AUTHENTICATE_TOKEN``).
        stop: stops the server when the session is closed; None: it belongs to others.

    Raises:
        Unavailable: the server does not answer.
    """

    def __init__(self, address: str, *, stop: Callable[[], object] | None = None) -> None:
        with importable():
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
        self.name = f"the server {address.partition(';')[0].rstrip('/')}"
        with answers(self.name):
            self._session = SparkSession.builder.remote(address).create()
            self._session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
            self._session.conf.set("spark.sql.session.timeZone", "UTC")
            self._session.release_session_on_close = "session_id=" not in address
        self._caches: list[Any] = []
        self._views: list[str] = []
        self.close = weakref.finalize(self, _close, self._session, self._caches, self._views, stop)

    def read_parquet(self, name: str, path: Path, columns: Mapping[str, str]) -> None:
        """Name a Parquet file; ``columns`` are those to read, with their Ibis types."""
        casts = [f"CAST(`{c}` AS {SQL_TYPES[kind]}) AS `{c}`" for c, kind in columns.items()]
        with answers(self.name):
            self._name(self._session.read.parquet(str(path)).selectExpr(*casts), name)

    def add(self, name: str, rows: pa.Table) -> None:
        """Name some rows of this machine."""
        nulls = [f"CAST(NULL AS {SQL_TYPES[str(f.type)]}) AS `{f.name}`" for f in rows.schema]
        empty = f"SELECT {', '.join(nulls)} WHERE 1 = 0"
        with answers(self.name):
            session = self._session
            self._name(session.createDataFrame(rows) if len(rows) else session.sql(empty), name)

    def divide(self, name: str, expression: Any, *, by: str) -> None:
        """Name the rows of an expression, which are sent to tasks by the hash of a column."""
        with answers(self.name):
            self._name(rows_of(expression, self._session).repartition(by), name)

    def keep(self, name: str, expression: Any) -> None:
        """Name the rows of an expression; executors keep them in memory or on disk."""
        with answers(self.name):
            if len(self._caches) == _MAX_CACHED:  # a view of the first one is computed again
                self._caches.pop(0).unpersist()
            self._caches.append(rows_of(expression, self._session).persist())
            self._name(self._caches[-1], name)

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an Ibis expression over unbound tables."""
        client = self._session.client
        with answers(self.name):
            return client.to_table(query_of(expression).to_proto(client), {})[0]

    def _name(self, rows: Any, name: str) -> None:
        rows.createOrReplaceTempView(name)
        self._views.append(name)


def _close(
    session: Any, frames: list[Any], views: list[str], stop: Callable[[], object] | None
) -> None:
    with suppress(Exception):  # the server may be gone
        for rows in frames:
            rows.unpersist()
        for view in () if session.release_session_on_close else views:
            session.catalog.dropTempView(view)
        session.stop()
    if stop is not None:
        stop()
