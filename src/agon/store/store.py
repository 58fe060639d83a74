"""Hand out sessions on a database."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from agon.errors import DatabaseUnavailable
from agon.store.engines import PATIENCE_SECONDS, begun, place
from agon.store.migrations import refuse_other_versions
from agon.store.session import Session
from agon.store.transactions import Transaction


class Store:
    """Hand out sessions.

    Threads share a store; each session has a connection of its own. On SQLite, threads that write
    wait in line for each other here, which is fairer and faster than the file's lock.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._place = place(engine.url)
        self._line = Lock() if engine.dialect.name == "sqlite" else None
        self._checked = False

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Begin a session that may change things; it is committed when its block ends.

        Raises:
            Unavailable: the database cannot be reached, or is of another version of agon.
        """
        with self._in_line(), begun(self._engine, writing=True) as connection:
            yield self._session(connection)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a session that only reads; it sees one state of everything.

        Raises:
            Unavailable: as for :meth:`write`.
        """
        with begun(self._engine, writing=False) as connection:
            yield self._session(connection)

    def close(self) -> None:
        """Let go of all connections; a second call does nothing."""
        self._engine.dispose()

    def _session(self, connection: Connection) -> Session:
        if not self._checked:
            refuse_other_versions(connection, self._place)
            self._checked = True
        return Session(Transaction(connection, self._place))

    @contextmanager
    def _in_line(self) -> Iterator[None]:
        if self._line is None:
            yield
            return
        if not self._line.acquire(timeout=PATIENCE_SECONDS):
            raise DatabaseUnavailable(f"{self._place} is busy with another writer; try again")
        try:
            yield
        finally:
            self._line.release()
