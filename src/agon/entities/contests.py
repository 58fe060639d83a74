"""Hold what a contest is and what it publishes, as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from agon.ledger.contest_state import ContestState

ROWS_PER_CHUNK = 256
"""So many rows of a board are stored and read together."""


@dataclass(frozen=True, kw_only=True)
class Contest(ContestState):
    """A contest in the database, as the newest entry of its ledger leaves it.

    Attributes:
        no: its number in this database.
        created_at: the time of its first entry.
    """

    no: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Hold a published board's proof: what made it, and what it says, as hashes.

    Attributes:
        no: its number in this database, rising with time within its contest.
        seq: position of the ledger it was made at.
        at: the ledger's time there.
        published_at: when it was written.
        manifest: what is signed (``agon.ledger.manifest``).
        signature: Ed25519 over the manifest, hex.
        rows, unscored: how many there are.
        stored: whether its rows are still in the database; others are rebuilt by replay.
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


@dataclass(frozen=True)
class StoredEntry:
    """Hold an entry as it lies in the database: its position, its bytes, the chain's hash there."""

    seq: int
    line: bytes
    sha256: bytes


class NewEntry(NamedTuple):
    """Hold an entry ready to be stored, with what it is looked up by.

    A tuple, because a request may bring a million of them.

    Attributes:
        record: the record's key (``votes/m7/j3``), None for entries that are no keyed records.
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
    """Hold sealed records that follow each other in a ledger, as columns.

    Attributes:
        seq: position of the first.
        at: the time of all of them.
        kinds: ``record-added`` or ``record-replaced``.
        heads: the chain's hash after each.
        records: their keys.
        external_ids: None where no record has one.
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
    """Hold an entry that is there already: where, and its line.

    A record that was replaced is known by its newest entry; one that was voided is still known.
    """

    seq: int
    line: bytes


@dataclass(frozen=True, kw_only=True)
class StepCause:
    """Name the change set that moved somebody: which, why, and whether it was rolled back there."""

    change: str
    kind: str
    reason: str
    rolled_back: bool


@dataclass(frozen=True, kw_only=True)
class HistoryStep:
    """Hold one step of somebody's history on a board: the score a position of the ledger gave.

    Attributes:
        reason: why there is no score.
        by: the change set that made the step; None: records did.
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
    """Hold one public or staff event of a contest, as it is streamed and sent to webhooks.

    Attributes:
        no: rises by time over all contests; a stream resumes after it.
        seq: position of the ledger it tells of; the public sees none later than the freeze.
        kind: ``snapshot-published``, ``contest-frozen``, ``rank-changed``, ….
        staff: whether only organisers and operators may see it.
    """

    no: int
    contest_no: int
    seq: int
    at: datetime
    kind: str
    body: Mapping[str, Any]
    staff: bool = False


ChangeState: TypeAlias = Literal["proposed", "applied", "cancelled", "rolled-back"]


@dataclass(frozen=True, kw_only=True)
class Change:
    """Hold a change set: what is proposed, what it would move, and what became of it.

    Attributes:
        kind: ``rules``, ``void``, ``rejudge`` or ``adjustment``.
        params: what it changes (of ``rules``: edition and overrides; of ``void``: records, people).
        report: what the dry run found: who moves, how far, which weights change; None before it.
        dry_run_at: position of the ledger the report is about.
    """

    id: str
    contest_no: int
    kind: Literal["rules", "void", "rejudge", "adjustment"]
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
    """Hold a case: a finding somebody looks into, with every step taken.

    Attributes:
        finding: the finding as it was when the case was opened; None for a case opened by hand.
        steps: what was said and decided, oldest first: ``at``, ``by``, ``kind`` (``opened``,
            ``note``, ``decision``, ``appeal``), ``text``.
    """

    id: str
    contest_no: int
    state: Literal["open", "decided", "appealed", "closed"]
    title: str
    subjects: tuple[str, ...]
    finding: Mapping[str, Any] | None
    steps: Sequence[Mapping[str, Any]]
    opened_at: datetime
