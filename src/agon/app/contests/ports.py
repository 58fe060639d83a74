"""Say what use cases need of a database; ``agon.store`` keeps these promises.

A store hands out *sessions*. Everything done in one writing session happens together or not at
all: it is committed when its block ends, and undone when the block is left by an error. Sessions
are not shared between threads.

Values that a session gives are snapshots of what was there; nothing changes under the caller.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from agon.app.access.ports import Access
from agon.app.contests.values import (
    Case,
    Change,
    Contest,
    Event,
    Known,
    Moved,
    MovedBy,
    NewEntry,
    NewRecords,
    Snapshot,
    StoredEntry,
)
from agon.app.jobs.ports import Queue
from agon.app.webhooks.ports import Webhooks


class Contests(Protocol):
    """Keep contests; what stands here is derived from their ledgers."""

    def add(self, contest: Contest) -> Contest:
        """Add a contest and return it with its number; ``no`` is ignored.

        Raises:
            Conflict: the id is taken.
        """

    def get(self, contest_id: str) -> Contest:
        """Return a contest.

        Raises:
            NotFound: there is none of that id, with the closest there is.
        """

    def by_no(self, no: int) -> Contest:
        """Return a contest by its number."""

    def lock(self, contest_id: str) -> Contest:
        """Return a contest and keep other writers from it until the session ends.

        Raises:
            NotFound: there is none of that id.
        """

    def lock_series(self, series: str) -> None:
        """Keep others from adding contests to a series until the session ends."""

    def save(self, contest: Contest) -> None:
        """Store what changed of a locked contest."""

    def page(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        discipline: str | None = None,
        series: str | None = None,
    ) -> list[Contest]:
        """List contests in id order, those after an id."""


class Entries(Protocol):
    """Keep the ledgers' entries; they are added and read, and never changed."""

    def append(self, contest_no: int, entries: Iterable[NewEntry]) -> int:
        """Add sealed entries to a locked contest, fast for many; return how many.

        Raises:
            Conflict: a position, record key or external id is there already.
        """

    def enter(self, contest_no: int, records: NewRecords) -> None:
        """Add sealed records to a locked contest, as fast as the database takes them.

        Raises:
            Conflict: a position, record key or external id is there already.
        """

    def enter_new(self, contest_no: int, records: NewRecords) -> Callable[[], bool]:
        """Begin to add sealed records, unless the key or external id of any is known.

        They are added all or none. To try costs less than to ask before.

        Returns:
            What waits for the end and says whether they were added. It has to be called before
            anything else is asked of the session, and before the session ends.
        """

    def after(
        self, contest_no: int, seq: int = 0, *, until: int | None = None, limit: int | None = None
    ) -> Iterator[StoredEntry]:
        """Yield entries later than ``seq`` in order, read in portions."""

    def of_kind(
        self, contest_no: int, kinds: Collection[str], *, after: int = 0, until: int | None = None
    ) -> Iterator[StoredEntry]:
        """Yield entries of these kinds in order, without walking over the others.

        Kinds that hold records are not asked for here; :meth:`rows` gives those.
        """

    def known(
        self,
        contest_no: int,
        *,
        records: Sequence[str] = (),
        external_ids: Sequence[str] = (),
        until: int | None = None,
    ) -> dict[str, Known]:
        """Find which record keys (``votes/m7/j3``) and external ids (as given) are there.

        A submission is known as ``received/ID``. ``until`` is the last position looked at.
        """

    def exist(self, contest_no: int, table: str, keys: Sequence[str]) -> set[str]:
        """Return those of ``keys`` (record keys) of a table that are there."""

    def position_at(self, contest_no: int, moment: datetime) -> int:
        """Return the position of the last entry not later than ``moment``; 0 for none."""

    def time_of(self, contest_no: int, seq: int) -> datetime:
        """Return when an entry was made.

        Raises:
            NotFound: the ledger has no such position.
        """

    def rows(
        self, contest_no: int, table: str, *, after: int = 0, until: int | None = None, limit: int
    ) -> list[StoredEntry]:
        """Return entries that hold records of a table, those after a position."""


class Snapshots(Protocol):
    """Keep published boards: their proof for ever, their rows while wanted."""

    def add(
        self,
        snapshot: Snapshot,
        *,
        lines: Iterable[bytes],
        ids: Iterable[str],
        unscored: Iterable[bytes],
    ) -> Snapshot:
        """Store a snapshot with its rows and return it with its number; ``no`` is ignored.

        Args:
            snapshot: its proof.
            lines: one JSON line for each row, best first.
            ids: the rows' ids in that order.
            unscored: one JSON line for each id without a score.
        """

    def latest(self, contest_no: int, board: str, *, until: int | None = None) -> Snapshot | None:
        """Return the newest snapshot of a board made at or before position ``until``."""

    def get(self, no: int) -> Snapshot:
        """Return a snapshot.

        Raises:
            NotFound: there is none of that number.
        """

    def page(
        self,
        contest_no: int,
        *,
        board: str | None = None,
        until: int | None = None,
        before: int | None = None,
        stored_only: bool = False,
        limit: int = 100,
    ) -> list[Snapshot]:
        """List snapshots, newest first, those numbered below ``before``.

        ``stored_only`` leaves out those whose rows are not there.
        """

    def lines(self, no: int, *, start: int, count: int, unscored: bool = False) -> list[bytes]:
        """Return rows' (or unscored ids') JSON lines from place ``start`` (from 0) on."""

    def places(self, no: int, ids: Sequence[str]) -> dict[str, int]:
        """Find the places (from 0) of ids among a stored snapshot's rows."""

    def prune(self, contest_no: int, board: str, *, keep: Sequence[int]) -> int:
        """Forget the rows of all snapshots of a board but those numbered; return how many."""


class Histories(Protocol):
    """Keep everybody's steps on the boards; derived, for reading."""

    def add(self, contest_no: int, board: str, steps: Iterable[Moved]) -> None:
        """Add steps, fast for many; a step that is there already is replaced."""

    def of(
        self,
        contest_no: int,
        board: str,
        participant: str,
        *,
        until: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[Moved]:
        """Return somebody's steps in ledger order."""

    def names(
        self,
        contest_no: int,
        board: str,
        *,
        begins: str,
        after: str | None = None,
        until: int | None = None,
        limit: int = 50,
    ) -> list[str]:
        """List ids that have steps on a board and begin with a text, by code point.

        Args:
            contest_no: the contest.
            board: the board.
            begins: the text.
            after: the id behind which to begin.
            until: leave out whose steps are all of later positions.
            limit: how many at most.
        """


class Changes(Protocol):
    """Keep change sets."""

    def save(self, change: Change) -> None:
        """Store a change set, new or known."""

    def get(self, contest_no: int, change_id: str) -> Change:
        """Return a change set.

        Raises:
            NotFound: the contest has none of that id.
        """

    def page(self, contest_no: int, *, after: str | None = None, limit: int = 100) -> list[Change]:
        """List change sets, oldest first by when they were proposed, those after an id."""

    def between(self, contest_no: int, first: int, last: int) -> dict[int, MovedBy]:
        """Tell at which positions, both ends included, change sets were applied or rolled back."""


class Cases(Protocol):
    """Keep findings and the cases made of them."""

    def save(self, case: Case) -> None:
        """Store a case, new or known."""

    def get(self, contest_no: int, case_id: str) -> Case:
        """Return a case.

        Raises:
            NotFound: the contest has none of that id.
        """

    def page(self, contest_no: int, *, after: str | None = None, limit: int = 100) -> list[Case]:
        """List cases, oldest first, those after an id."""

    def keep_findings(self, contest_no: int, seq: int, findings: Sequence[bytes]) -> None:
        """Store the newest findings (JSON) in place of those before."""

    def looked(self, contest_no: int) -> int:
        """Return the position the findings are of; 0: never looked."""

    def findings(self, contest_no: int) -> tuple[int, list[bytes]]:
        """Return the position the findings are of (0: never looked), and the findings."""


class Events(Protocol):
    """Keep what happened, for streams that resume and for webhooks."""

    def add(self, event: Event) -> Event:
        """Store an event and return it with its number; ``no`` is ignored."""

    def after(
        self, no: int, *, contest_no: int | None = None, until: int | None = None, limit: int = 500
    ) -> list[Event]:
        """Return events numbered above ``no``; ``until`` is the last position they may be of."""

    def last(self) -> int:
        """Return the newest event's number, 0 for none."""


class Session(Protocol):
    """Give all rooms of the database within one transaction."""

    @property
    def contests(self) -> Contests:
        """Contests."""

    @property
    def entries(self) -> Entries:
        """The ledgers' entries."""

    @property
    def snapshots(self) -> Snapshots:
        """Published boards."""

    @property
    def histories(self) -> Histories:
        """Everybody's steps."""

    @property
    def changes(self) -> Changes:
        """Change sets."""

    @property
    def cases(self) -> Cases:
        """Findings and cases."""

    @property
    def events(self) -> Events:
        """What happened."""

    @property
    def queue(self) -> Queue:
        """Jobs and workers."""

    @property
    def access(self) -> Access:
        """Users, tokens, repeated requests, the audit log."""

    @property
    def webhooks(self) -> Webhooks:
        """Webhooks and their deliveries."""


class Store(Protocol):
    """Hand out sessions."""

    def write(self) -> AbstractContextManager[Session]:
        """Begin a session that may change things; it is committed when its block ends.

        Raises:
            Unavailable: the database cannot be reached, or is of another version of agon.
        """

    def read(self) -> AbstractContextManager[Session]:
        """Begin a session that only reads; it sees one state of everything.

        Raises:
            Unavailable: as for :meth:`write`.
        """

    def close(self) -> None:
        """Let go of all connections; a second call does nothing."""
