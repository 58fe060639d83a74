"""Open sessions on a database: each accesses all tables within one transaction."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, local
from typing import Generic, TypeAlias, TypeVar

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from agon.entities.invitations import JoinRequest
from agon.errors import AgonError, DatabaseUnavailable
from agon.store.attachments import Attachments
from agon.store.cases import Cases
from agon.store.changes import Changes
from agon.store.connection.direct import DirectConnection, DirectReads, StateToken
from agon.store.connection.engines import IDLE_TIMEOUT_S, LOCK_TIMEOUT_S, begin, display_url
from agon.store.connection.transaction import Transaction
from agon.store.contest_rows import ContestRows
from agon.store.contests import Contests
from agon.store.entries import Entries
from agon.store.events import Events
from agon.store.histories import Histories
from agon.store.jobs.queue import Queue
from agon.store.jobs.trial_details import TrialDetailsTable
from agon.store.live.arena import Arena
from agon.store.live.judging import Judging
from agon.store.migrations import require_newest
from agon.store.people.access import Access
from agon.store.people.invitations import Invitations
from agon.store.people.members import Members
from agon.store.people.names import Names
from agon.store.people.reserved_ids import People
from agon.store.schema import JOIN_REQUESTS
from agon.store.snapshots import Snapshots
from agon.store.webhooks import Webhooks

T = TypeVar("T")

_Begin: TypeAlias = Callable[[], AbstractContextManager["Session"]]


class _Part(Generic[T]):
    """An attribute of a session: some of the tables, made on first use."""

    def __init__(self, kind: Callable[[Transaction], T]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type["Session"], name: str) -> None:
        self._name = name

    def __get__(self, session: "Session", owner: type["Session"]) -> T:
        # The instance's attribute is found before this one from then on.
        part = session.__dict__[self._name] = self._kind(session.transaction)
        return part


class Session:
    """All tables of the database, within one transaction; each class says what its tables hold."""

    contests = _Part(Contests)
    entries = _Part(Entries)
    snapshots = _Part(Snapshots)
    histories = _Part(Histories)
    names = _Part(Names)
    people = _Part(People)
    changes = _Part(Changes)
    cases = _Part(Cases)
    events = _Part(Events)
    queue = _Part(Queue)
    trial_details = _Part(TrialDetailsTable)
    arena = _Part(Arena)
    access = _Part(Access)
    invitations = _Part(Invitations)
    join_requests = _Part(
        ContestRows.of(JOIN_REQUESTS, JoinRequest, noun="request to join", time="created_at")
    )
    members = _Part(Members)
    webhooks = _Part(Webhooks)
    judging = _Part(Judging)
    attachments = _Part(Attachments)

    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction


class Store:
    """A database; it opens sessions.

    Threads share a store; each session has its own connection. On SQLite, threads that write wait
    for each other at a lock here, which is fairer and faster than the file's lock.

    What a caller needs decides how it reads or writes:

    - :meth:`write`: one transaction that is committed at the end, or not at all.
    - :meth:`read`: one state of the database, for one use case.
    - :meth:`read_one_state`: one state for all use cases of a page, which each call :meth:`read`.
    - :meth:`rows`: no transaction, as beginning one costs more than the query; for what no write
      changes.
    - :meth:`state`: no rows; whether anything was stored since, for caches.

    Args:
        is_newest: whether the database is known to have the newest revision; else the first session
            checks it.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        is_newest: bool = False,
    ) -> None:
        self._engine = engine
        self._lock_timeout_s = lock_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._database = display_url(engine.url)
        self._direct = DirectConnection(engine.url)
        self._write_lock = Lock() if engine.dialect.name == "sqlite" else None
        self._is_newest = is_newest
        self._thread = local()

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Begin a session that may write; it is committed when its block ends without error.

        Raises:
            Unavailable: the database cannot be reached, or has another revision.
        """
        began = begin(self._engine, writing=True, idle_timeout_s=self._idle_timeout_s)
        with self._end_sharing(), self._exclusive(), began as connection:
            yield self._session(connection, writing=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a session that only reads; it sees one consistent state.

        Raises:
            Unavailable: as for :meth:`write`.
        """
        if (shared := self._shared) is not None:
            with shared.use() as session:
                yield session
            return
        with self._read() as session:
            yield session

    @contextmanager
    def read_one_state(self) -> Iterator[None]:
        """Share one session among all that this thread reads in the block, until it writes.

        A page that reads by several operations shows one state then, and begins one transaction. It
        begins with the first read; the first read after a write begins another.
        """
        if self._shared is not None:
            yield
            return
        self._thread.shared = _SharedRead(self._read)
        try:
            yield
        finally:
            shared, self._thread.shared = self._thread.shared, None
            shared.end()

    def state(self) -> StateToken:
        """Return the state of the database; it differs as soon as a session stored something.

        Raises:
            Unavailable: the database cannot be reached.
        """
        return self._direct.state()

    def rows(self) -> Session:
        """Return a session without a transaction, which costs nothing, for what never changes.

        These are the rows of snapshots, which are only deleted, and names at a position. Each query
        sees its own state of the database.
        """
        return Session(DirectReads(self._direct))

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._direct.close()
        self._engine.dispose()

    @property
    def _shared(self) -> "_SharedRead | None":
        shared: _SharedRead | None = getattr(self._thread, "shared", None)
        return shared

    @contextmanager
    def _end_sharing(self) -> Iterator[None]:
        """End the shared session, so that what is read after the block is what it stored."""
        shared = self._shared
        if shared is None:
            yield
            return
        shared.end()
        try:
            yield
        finally:
            shared.end()

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with begin(self._engine, writing=False) as connection:
            yield self._session(connection, writing=False)

    def _session(self, connection: Connection, *, writing: bool) -> Session:
        if not self._is_newest:
            require_newest(connection, self._database)
            self._is_newest = True
        return Session(Transaction(connection, self._database, None if writing else {}))

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


class _SharedRead:
    """A session that only reads, shared by the blocks of one thread that follow each other.

    Args:
        begin_session: begins a session.
    """

    def __init__(self, begin_session: _Begin) -> None:
        self._begin = begin_session
        self._open = ExitStack()
        self._session: Session | None = None
        self._is_used = False
        self._ends = False

    @contextmanager
    def use(self) -> Iterator[Session]:
        """Give the session to a block; a block within another has a session of its own."""
        if self._is_used:
            with self._begin() as session:
                yield session
            return
        if self._session is None:
            self._session = self._open.enter_context(self._begin())
        self._is_used = True
        try:
            yield self._session
        except (AgonError, GeneratorExit):
            raise  # of what was read: the session can be used further
        except BaseException as error:
            self._session = None
            self._open.__exit__(type(error), error, error.__traceback__)
            raise
        finally:
            self._is_used = False
            if self._ends:
                self.end()

    def end(self) -> None:
        """End the session, after the block that uses it; the next block begins another."""
        self._ends = self._is_used
        if not self._is_used:
            self._session = None
            self._open.close()
