"""Contests and what they publish, as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from agon.ledger.contest_state import ContestState

ROWS_PER_CHUNK = 256
"""Number of rows of a board that are stored and read together."""

INDEX_BYTES = 4
"""Number of bytes of the index of a row in a stored order."""

Phase: TypeAlias = Literal["not started", "open", "frozen", "ended", "final", "amended", "void"]
"""Where a contest is in time; its state alone does not say whether it has begun or ended."""


@dataclass(frozen=True, kw_only=True)
class Contest(ContestState):
    """A contest in the database, as the newest entry of its ledger leaves it.

    Attributes:
        no: its number in this database.
        created_at: the time of its first entry.
        created_by: the user who created or imported it in this database; None: no user did.
    """

    no: int
    created_at: datetime
    created_by: str | None = None

    @property
    def shows_names(self) -> bool:
        """Return whether pages show the names of participants."""
        if self.names is None:
            from agon.disciplines import discipline  # lists of contests do without

            return discipline(self.discipline).shows_names
        return self.names == "shown"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A published board: what it was made from, and its hashes.

    Attributes:
        no: its number in this database, increasing with time within its contest.
        seq: the position of the ledger it was made at.
        at: the ledger's time there.
        published_at: when it was stored.
        manifest: the signed value (``agon.ledger.manifest``).
        signature: Ed25519 over the manifest, hex.
        rows, unscored: numbers of rows and of ids without a score.
        stored: whether its rows are in the database; otherwise they can be rebuilt by replay.
        notes: what limits its scores, as sentences.
    """

    no: int
    contest_no: int
    board: str
    seq: int
    at: datetime
    published_at: datetime
    manifest: Mapping[str, Any]
    signature: str
    board_sha256: str
    rows: int
    unscored: int
    stored: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoardSummary:
    """What is counted of a board when it is published, so that no page reads all of its rows.

    Attributes:
        values: of the complete board, for JSON: ``parts`` (distributions), ``columns`` (ranges).
        orders: of each column that rows can be sorted by, the indexes of the rows that have a
            value, the largest first and equal ones in the order of the board; each an unsigned
            integer of :data:`INDEX_BYTES` bytes, little-endian.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredEntry:
    """An entry in the database: its position, its bytes, the chain's hash there."""

    seq: int
    line: bytes
    sha256: bytes


class NewEntry(NamedTuple):
    """An entry to be stored, with the keys it can be looked up by.

    A tuple, because a request may contain a million of them.

    Attributes:
        record: the record's key (``votes/m7/j3``); None for entries without one.
    """

    seq: int
    kind: str
    at: datetime
    line: bytes
    sha256: bytes
    table: str | None = None
    record: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewRecords:
    """Encoded records that follow each other in a ledger, as columns.

    Attributes:
        seq: position of the first.
        at: the time of all of them.
        kinds: ``record-added`` or ``record-replaced``.
        heads: the chain's hash after each.
        records: their keys.
        external_ids: None if no record has one.
    """

    seq: int
    at: datetime
    kinds: Sequence[str]
    lines: Sequence[bytes]
    heads: Sequence[bytes]
    tables: Sequence[str]
    records: Sequence[str | None]
    external_ids: Sequence[str | None] | None


@dataclass(frozen=True)
class ExistingEntry:
    """An entry that is stored already: its position and its line.

    Of a record that was replaced, it is the newest entry; one that was voided still has an entry.
    """

    seq: int
    line: bytes


@dataclass(frozen=True, kw_only=True)
class StepCause:
    """The change set that caused a step.

    Attributes:
        rolled_back: whether it was rolled back here, else applied.
    """

    change: str
    kind: str
    reason: str
    rolled_back: bool


@dataclass(frozen=True, kw_only=True)
class HistoryStep:
    """A step of a participant's history on a board: the score from a position of the ledger on.

    Attributes:
        reason: why there is no score.
        by: the change set that caused the step; None: records did.
    """

    id: str
    seq: int
    at: datetime
    rank: int | None
    score: float | None
    reason: str | None = None
    by: StepCause | None = None


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of a contest, public or for staff, as it is streamed and sent to webhooks.

    Attributes:
        no: increases with time over all contests; a stream resumes after it.
        seq: the position of the ledger it is about; the public sees none after the freeze.
        kind: ``snapshot-published``, ``contest-frozen``, ``rank-changed``, ….
        staff: whether only organizers and operators may see it.
        user: a user who may see it as well, even after a freeze, because it is about what is the
            user's own.
    """

    no: int
    contest_no: int
    seq: int
    at: datetime
    kind: str
    body: Mapping[str, Any]
    staff: bool = False
    user: str | None = None


ChangeState: TypeAlias = Literal["proposed", "applied", "cancelled", "rolled-back"]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change set: what is proposed, what it would move, and its state.

    Attributes:
        kind: ``rules``, ``void``, ``rejudge``, ``adjustment``, ``correction`` or ``merge``.
        params: what it changes (of ``rules``: edition and overrides; of ``void``: records and
            participants).
        report: result of the dry run: who moves, how far, which weights change; None before it.
        dry_run_at: position of the ledger of the dry run.
    """

    id: str
    contest_no: int
    kind: Literal["rules", "void", "rejudge", "adjustment", "correction", "merge"]
    params: Mapping[str, Any]
    reason: str
    state: ChangeState
    proposed_by: str
    proposed_at: datetime
    report: Mapping[str, Any] | None = None
    dry_run_at: int | None = None
    applied_at: int | None = None
    rolled_back_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case: the examination of a finding, with all its steps.

    Attributes:
        finding: the finding as it was when the case was opened; None for a case opened by hand.
        steps: oldest first: ``at``, ``by``, ``kind`` (``opened``, ``note``, ``decision``,
            ``appeal``), ``text`` and more of each.
    """

    id: str
    contest_no: int
    state: Literal["open", "decided", "appealed", "closed"]
    title: str
    subjects: tuple[str, ...]
    finding: Mapping[str, Any] | None
    steps: tuple[Mapping[str, Any], ...]
    opened_at: datetime


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """The last correction of a final result.

    Attributes:
        seq: position of the ledger from which the amended result holds.
        at: the ledger's time there.
        reason: why; None: this database does not know the change set.
        change: the change set that did it; None as well.
        final_seq: position of the result that was final before.
    """

    seq: int
    at: datetime
    reason: str | None
    change: str | None
    final_seq: int


@dataclass(frozen=True, kw_only=True)
class ContestClock:
    """The clock of a contest.

    Attributes:
        phase: where the contest is.
        next: the next time that its organizers have set; None: there is none.
        next_at: when that is.
        amendment: what amended the final result; None: nothing.
        void_reason: why the whole contest is void; None: it counts.
    """

    phase: Phase
    next: Literal["start", "end"] | None = None
    next_at: datetime | None = None
    amendment: Amendment | None = None
    void_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Finalization:
    """What is open before a contest is finalized, and how long the final result can be undone.

    Attributes:
        submissions: number of submissions without a verdict.
        rounds: the ids of rounds that are not settled.
        cases: number of cases that are not decided.
        changes: number of change sets that are proposed and not applied.
        webhooks: number of webhooks that are sent the final result at once.
        undo_until: before when the final result, or the declaration that the contest is void, can
            be undone; None: it cannot, or there is none.
        obstacle: why it cannot be undone; None: it can, or there is none.
    """

    submissions: int
    rounds: tuple[str, ...]
    cases: int
    changes: int
    webhooks: int
    undo_until: datetime | None
    obstacle: str | None
