"""A connection of its own for queries that need no transaction, and the state of the database.

A session costs many times the page that is read in it: a connection from the pool, a transaction
of its own. What is stored under the number of a snapshot never changes, so its rows need neither.
"""

import sqlite3
from collections.abc import Hashable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

from sqlalchemy import URL

from agon.errors import DatabaseUnavailable
from agon.store.connection.database_errors import require_storable, translate_errors
from agon.store.connection.engines import display_url
from agon.store.connection.transaction import Transaction, with_percent_marks

TIMEOUT_S: Final = 10
"""Maximum number of seconds the database may take for a query, and a thread waits for its turn."""

StateToken: TypeAlias = Hashable
"""The state of a database: two equal tokens mean that nothing was stored in between."""


class DirectConnection:
    """Runs queries one by one, each for itself; threads share it. The first use connects.

    Args:
        url: the database.
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self._database = display_url(url)
        self._on_sqlite = url.get_backend_name() == "sqlite"
        self._turns = Lock()
        self._driver: Any = None

    def state(self) -> StateToken:
        """Return the state of the database now.

        SQLite counts the commits of other connections, and this one never commits. PostgreSQL names
        the transactions that have ended; that stays equal until one ends that stored something.

        Raises:
            DatabaseUnavailable: the database does not answer.
        """
        counting = (
            "PRAGMA data_version" if self._on_sqlite else "SELECT pg_current_snapshot()::text"
        )
        state: StateToken = self.query(counting, ())[0][0]
        return state

    def query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; ``?`` marks a value.

        Raises:
            DatabaseUnavailable: the database does not answer.
            Unreadable: a value cannot be stored.
        """
        require_storable(values)
        if not self._turns.acquire(timeout=TIMEOUT_S):
            raise DatabaseUnavailable(f"{self._database} took too long; try again")
        try:
            with translate_errors(self._database):
                return self._run(sql, values)
        finally:
            self._turns.release()

    def close(self) -> None:
        """Close the connection; a second call does nothing, and the next query connects again."""
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    def _run(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._driver is None:
            self._driver = self._connect_sqlite() if self._on_sqlite else self._connect_postgresql()
        try:
            if self._on_sqlite:
                rows: list[tuple[Any, ...]] = self._driver.execute(sql, values).fetchall()
            else:
                cursor = self._driver.cursor(binary=True)
                rows = cursor.execute(with_percent_marks(sql), values, prepare=True).fetchall()
        except Exception:
            self.close()  # it may be broken; the next query opens another
            raise
        return rows

    def _connect_sqlite(self) -> sqlite3.Connection:
        file = Path(self._url.database or "").absolute().as_uri()
        connection = sqlite3.connect(
            f"{file}?mode=rw",  # otherwise SQLite creates a file that is missing
            uri=True,
            timeout=TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,  # one at a time uses it
        )
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -65536")
        return connection

    def _connect_postgresql(self) -> Any:
        from psycopg import connect

        _, arguments = self._url.get_dialect()().create_connect_args(self._url)
        options = f"-c statement_timeout={TIMEOUT_S}s -c default_transaction_read_only=on"
        further = {"application_name": "agon", "options": options, "connect_timeout": TIMEOUT_S}
        return connect(**{**arguments, **further}, autocommit=True)


class DirectReads(Transaction):
    """Reads by a direct connection in place of a transaction; everything else fails."""

    _direct: DirectConnection

    def __init__(self, direct: DirectConnection) -> None:
        super().__init__(_NO_CONNECTION, "", {})
        vars(self).update(_direct=direct)  # the class is frozen

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._direct.query(sql, values)


class _NoConnection:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"a direct connection only runs queries of the driver, not {name}")


_NO_CONNECTION: Final[Any] = _NoConnection()
