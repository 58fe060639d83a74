"""Open sessions on a database."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from agon.errors import DatabaseUnavailable
from agon.store.engines import IDLE_TIMEOUT_S, LOCK_TIMEOUT_S, begin, display_url
from agon.store.migrations import require_newest
from agon.store.session import Session
from agon.store.transaction import Transaction


class Store:
    """A database; it opens sessions.

    Threads share a store; each session has its own connection. On SQLite, threads that write wait
    for each other at a lock here, which is fairer and faster than the file's lock.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        self._engine = engine
        self._lock_timeout_s = lock_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._database = display_url(engine.url)
        self._write_lock = Lock() if engine.dialect.name == "sqlite" else None
        self._checked = False

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Begin a session that may write; it is committed when its block ends without error.

        Raises:
            Unavailable: the database cannot be reached, or has another revision.
        """
        began = begin(self._engine, writing=True, idle_timeout_s=self._idle_timeout_s)
        with self._exclusive(), began as connection:
            yield self._session(connection)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a session that only reads; it sees one consistent state.

        Raises:
            Unavailable: as for :meth:`write`.
        """
        with begin(self._engine, writing=False) as connection:
            yield self._session(connection)

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._engine.dispose()

    def _session(self, connection: Connection) -> Session:
        if not self._checked:
            require_newest(connection, self._database)
            self._checked = True
        return Session(Transaction(connection, self._database))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        if self._write_lock is None:
            yield
            return
        if not self._write_lock.acquire(timeout=self._lock_timeout_s):
            raise DatabaseUnavailable(f"{self._database} is busy with another writer; try again")
        try:
            yield
        finally:
            self._write_lock.release()
