"""Hold what a house answers, the same beside the database and over HTTP.

Fields that a newer server adds are passed over.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from agon.entities.access import Role
from agon.entities.contests import ChangeState
from agon.entities.jobs import JobKind, JobState
from agon.ledger.contest_state import Lifecycle, Visibility


class Answer(BaseModel):
    """Lay the ground of all answers: immutable, read from JSON or from a value of the house."""

    model_config = ConfigDict(frozen=True, from_attributes=True, extra="ignore")


class ContestTold(Answer):
    """Tell of a contest, as far as the caller may see.

    Attributes:
        seq: position of the newest entry that may be seen.
        frozen_at: position of the freeze, while it lasts.
        finalized_at: position of the final result, once there is one.
    """

    id: str
    discipline: str
    title: str
    description: str
    visibility: Visibility
    state: Lifecycle
    series: str | None
    season: int | None
    edition: str
    overrides: Mapping[str, Any]
    boards: tuple[str, ...]
    created_at: datetime
    seq: int
    frozen_at: int | None = None
    finalized_at: int | None = None


class RecordedTold(Answer):
    """Tell what became of sent records.

    Attributes:
        repeated: those that were there already, just so.
        first_seq, last_seq: positions of the first and the last new entry; None without any.
    """

    added: int
    repeated: int
    replaced: int
    first_seq: int | None = None
    last_seq: int | None = None


class Published(Answer):
    """Tell what made a board: edition, position of the ledger, hashes.

    Attributes:
        seq: the ledger's position, ``at`` its time there.
        snapshot: the board's number in that house.
    """

    board: str
    edition: str
    overrides: Mapping[str, Any]
    rules_sha256: str
    seq: int
    head_sha256: str
    at: datetime
    published_at: datetime
    snapshot: int
    board_sha256: str
    merkle_root: str
    rows_total: int
    unscored_total: int


class Page(Published):
    """Hold some rows of a published board, best first.

    Attributes:
        rows: the rows; of a page of those without a score, ``id`` and ``reason`` of each.
        start: place of the first, from 0; ``place`` that of the id that was asked for.
        next, previous: cursors of the pages beside this one.
        amended_by: the snapshot a final result was amended to, if it was.
    """

    contest: str
    discipline: str
    title: str
    state: Lifecycle
    rows: tuple[Mapping[str, Any], ...]
    start: int
    place: int | None = None
    next: str | None = None
    previous: str | None = None
    amended_by: Mapping[str, Any] | None = None


class StepCause(Answer):
    """Name the change set that made a step, applied or rolled back there."""

    change: str
    kind: str
    reason: str
    rolled_back: bool


class Step(Answer):
    """Tell one step of somebody's history on a board; ``by`` is the change set that made it."""

    id: str
    seq: int
    at: datetime
    rank: int | None
    score: float | None
    reason: str | None = None
    by: StepCause | None = None


class ChangeTold(Answer):
    """Tell of a change set.

    Attributes:
        report: what the dry run at position ``dry_run_at`` found: by board who moves how far.
        applied_at, rolled_back_at: positions of the ledger.
        failed: why its dry run failed, if it did.
    """

    id: str
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

    def moves(self, board: str) -> Iterator[Mapping[str, Any]]:
        """Yield who moves on a board, the largest moves first."""
        yield from ((self.report or {}).get("boards", {}).get(board, {})).get("moves", ())

    failed: str | None = None


class FindingsTold(Answer):
    """Hold the findings of a position of the ledger, gravest first; position 0: never looked."""

    seq: int
    findings: tuple[Mapping[str, Any], ...]


class UserTold(Answer):
    """Tell of a user."""

    id: str
    name: str
    created_at: datetime
    disabled: bool


class TokenTold(Answer):
    """Tell of a token; its secret is nowhere to be had."""

    id: str
    user: str
    label: str
    role: Role
    contests: tuple[str, ...] | None
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    used_at: datetime | None = None


class JobTold(Answer):
    """Tell of a job; neither its payload nor its lease."""

    id: str
    kind: JobKind
    state: JobState
    contest: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    not_before: datetime | None = None
    attempts: int
    max_attempts: int
    by: str
    worker: str | None = None
    progress: float | None = None
    causes: tuple[Mapping[str, Any], ...] = ()
    position: int | None = None
    eta_seconds: float | None = None


class ProblemTold(Answer):
    """Tell of a dojo's problem.

    Attributes:
        id: its P_hash.
        disclosed: the terms solvers work from: a_1, a_3, …, each ``{"n", "a"}``.
        source, terms: the answer, once it is revealed.
    """

    id: str
    title: str
    interface: str | None
    N_check: int
    setter_user_id: str | None
    freeze_started_at: datetime | None
    disclosed: tuple[Mapping[str, Any], ...]
    revealed: bool
    source: str | None = None
    terms: tuple[str, ...] | None = None


class SubmittedTold(Answer):
    """Tell that a submission was taken; ``seq``, its position, is told to the staff alone."""

    id: str
    seq: int | None = None
    jobs: tuple[JobTold, ...] = ()


class SubmissionTold(Answer):
    """Tell of a submission; ``records`` holds its verdict, as far as the caller may see."""

    id: str
    seq: int | None = None
    at: datetime
    user: str
    problem: str | None
    content: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]


class QueueTold(Answer):
    """Tell how the queue is: paused or not, jobs of each kind and state, who works."""

    paused: bool
    leased: int
    counts: tuple[Mapping[str, Any], ...]
    workers: tuple[Mapping[str, Any], ...]


class CaseTold(Answer):
    """Tell of a case with all its steps: ``at``, ``by``, ``kind``, ``text`` and more of each."""

    id: str
    state: Literal["open", "decided", "appealed", "closed"]
    title: str
    subjects: tuple[str, ...]
    finding: Mapping[str, Any] | None
    steps: tuple[Mapping[str, Any], ...]
    opened_at: datetime


class WebhookTold(Answer):
    """Tell where a contest's events are sent; ``events`` empty: all kinds.

    Attributes:
        staff: whether events for organisers alone are sent too.
    """

    id: str
    url: str
    events: tuple[str, ...]
    staff: bool
    active: bool
    created_at: datetime
    by: str


class DeliveryTold(Answer):
    """Tell one event's way to a webhook, every attempt with what came of it."""

    id: str
    event_no: int
    state: Literal["waiting", "delivered", "given-up"]
    attempts: tuple[Mapping[str, Any], ...]
    created_at: datetime


class EventTold(Answer):
    """Tell one event of a contest; a stream resumes after its id."""

    id: str
    contest: str
    seq: int
    at: datetime
    kind: str
    body: Mapping[str, Any]


class HeadTold(Answer):
    """Tell a ledger's signed head."""

    contest: str
    seq: int
    head_sha256: str
    at: str
    signature: str
    public_key: str
