"""Hand out sessions on a database."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from agon.errors import DatabaseUnavailable
from agon.store.access import SqlAccess
from agon.store.cases import SqlCases
from agon.store.changes import SqlChanges
from agon.store.contests import SqlContests
from agon.store.engines import PATIENCE_SECONDS, begun, place
from agon.store.entries import SqlEntries
from agon.store.events import SqlEvents
from agon.store.histories import SqlHistories
from agon.store.migrations import refuse_other_versions
from agon.store.queue import SqlQueue
from agon.store.snapshots import SqlSnapshots
from agon.store.transactions import Transaction
from agon.store.webhooks import SqlWebhooks


class SqlSession:
    """Keep the promises of :class:`agon.app.contests.ports.Session`; rooms are made when asked."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @cached_property
    def contests(self) -> SqlContests:
        """Contests."""
        return SqlContests(self._transaction)

    @cached_property
    def entries(self) -> SqlEntries:
        """The ledgers' entries."""
        return SqlEntries(self._transaction)

    @cached_property
    def snapshots(self) -> SqlSnapshots:
        """Published boards."""
        return SqlSnapshots(self._transaction)

    @cached_property
    def histories(self) -> SqlHistories:
        """Everybody's steps."""
        return SqlHistories(self._transaction)

    @cached_property
    def changes(self) -> SqlChanges:
        """Change sets."""
        return SqlChanges(self._transaction)

    @cached_property
    def cases(self) -> SqlCases:
        """Findings and cases."""
        return SqlCases(self._transaction)

    @cached_property
    def events(self) -> SqlEvents:
        """What happened."""
        return SqlEvents(self._transaction)

    @cached_property
    def queue(self) -> SqlQueue:
        """Jobs and workers."""
        return SqlQueue(self._transaction)

    @cached_property
    def access(self) -> SqlAccess:
        """Users, tokens, repeated requests, the audit log."""
        return SqlAccess(self._transaction)

    @cached_property
    def webhooks(self) -> SqlWebhooks:
        """Webhooks and their deliveries."""
        return SqlWebhooks(self._transaction)


class SqlStore:
    """Keep the promises of :class:`agon.app.contests.ports.Store` on SQLite or PostgreSQL.

    Threads share a store; each session has a connection of its own. On SQLite, threads that write
    wait in line for each other here, which is fairer and faster than the file's lock.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._place = place(engine.url)
        self._line = Lock() if engine.dialect.name == "sqlite" else None
        self._checked = False

    @contextmanager
    def write(self) -> Iterator[SqlSession]:
        """Begin a session that may change things; it is committed when its block ends.

        Raises:
            Unavailable: the database cannot be reached, or is of another version of agon.
        """
        with self._in_line(), begun(self._engine, writing=True) as connection:
            yield self._session(connection)

    @contextmanager
    def read(self) -> Iterator[SqlSession]:
        """Begin a session that only reads; it sees one state of everything.

        Raises:
            Unavailable: as for :meth:`write`.
        """
        with begun(self._engine, writing=False) as connection:
            yield self._session(connection)

    def close(self) -> None:
        """Let go of all connections; a second call does nothing."""
        self._engine.dispose()

    def _session(self, connection: Connection) -> SqlSession:
        if not self._checked:
            refuse_other_versions(connection, self._place)
            self._checked = True
        return SqlSession(Transaction(connection, self._place))

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
