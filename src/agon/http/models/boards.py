"""Name the forms of boards, proofs, explanations and histories."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agon.http.models.base import Asked, PlainText, Told

AsOf = Annotated[PlainText, StringConstraints(max_length=64)] | None
PageCursor = Annotated[PlainText, StringConstraints(max_length=200)] | None
_AS_OF = "A position of the ledger (digits) or a time (ISO 8601)."
_CURSOR = "Where the page begins, as an earlier page of the same snapshot gave it."


class BoardPath(Asked):
    """The path of a board."""

    contest: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")]
    board: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]


class RowPath(BoardPath):
    """The path of a participant's row on a board."""

    id: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]


class UnscoredQuery(Asked):
    """Which page of the participants without a score is wanted."""

    as_of: AsOf = Field(default=None, description=_AS_OF)
    cursor: PageCursor = Field(default=None, description=_CURSOR)
    limit: int = Field(default=50, ge=1, le=500, description="How many items the page has.")


class RowQuery(Asked):
    """How much of the board around a participant's row is wanted."""

    neighbours: int = Field(default=0, ge=0, le=250, description="Rows above and below.")
    as_of: AsOf = Field(default=None, description=_AS_OF)


class BoardQuery(Asked):
    """Which page of a board is wanted, and in which form."""

    as_of: AsOf = Field(default=None, description=_AS_OF)
    cursor: PageCursor = Field(default=None, description=_CURSOR)
    around: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="An id to have in the middle."
    )
    q: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="How ids begin: those rows alone, in id order."
    )
    limit: int = Field(default=50, ge=1, le=500, description="How many rows the page has.")
    format: Literal["json", "csv", "ndjson"] | None = Field(
        default=None, description="csv and ndjson are the whole board."
    )


class BoardProof(Told):
    """Tell what made a board: edition, position of the ledger, hashes."""

    board: str
    edition: str
    overrides: dict[str, Any]
    rules_sha256: str
    seq: int = Field(description="Position of the ledger it was made at.")
    head_sha256: str
    at: datetime = Field(description="The ledger's time there.")
    published_at: datetime
    snapshot: int
    board_sha256: str
    merkle_root: str
    rows_total: int
    unscored_total: int


class BoardList(Told):
    """Hold the newest state of every board, the default one first."""

    items: list[BoardProof]


class Amendment(Told):
    """Name the snapshot a final result was amended to."""

    snapshot: int
    seq: int
    at: datetime
    board_sha256: str


class _Page(BoardProof):
    contest: str
    discipline: str
    title: str
    state: str
    amended_by: Amendment | None
    start: int = Field(description="Place of the first row, from 0.")
    place: int | None = Field(description="Place of the id that was asked for.")
    next: str | None
    previous: str | None


class BoardPage(_Page):
    """Hold a page of a board."""

    rows: list[dict[str, Any]] = Field(description="Best first: rank, id, score and more.")


class UnscoredTold(Told):
    """Tell who has no score, and why."""

    id: str
    reason: str


class UnscoredPage(_Page):
    """Hold a page of those without a score."""

    unscored: list[UnscoredTold]


class ProofTold(Told):
    """Prove one line of a published board."""

    manifest: dict[str, Any] = Field(description="What is signed.")
    signature: str = Field(description="Ed25519 over the manifest's canonical JSON, hex.")
    public_key: str
    index: int = Field(description="The line's place among all leaves.")
    line: str = Field(description="The line as it was hashed.")
    path: list[str] = Field(description="Hashes beside the way to the root, leaf first.")


class PartTold(Told):
    """Tell one part of a score."""

    name: str
    points: float
    inputs: dict[str, Any]
    rules: dict[str, Any]
    threshold: float | None
    text: str
    missing: str | None = Field(description="What is missing for the next step.")
    records: list[dict[str, Any]]


class ExplanationTold(Told):
    """Tell why an id has its score, or none."""

    board: str
    id: str
    rank: int | None
    score: float | None
    reason: str | None
    parts: list[PartTold]
    notes: list[str]
    context: dict[str, Any]


class MovedByTold(Told):
    """Name the change set that made a step."""

    change: str
    kind: str
    reason: str
    rolled_back: bool = Field(description="Whether it was rolled back here, else applied.")


class StepTold(Told):
    """Tell one step of somebody's history."""

    id: str
    seq: int
    at: datetime
    rank: int | None
    score: float | None
    reason: str | None
    by: MovedByTold | None = Field(description="The change set that made it; null: records did.")


class HistoryPage(Told):
    """Hold somebody's steps on a board, oldest first."""

    items: list[StepTold]
    next: str | None


class SnapshotTold(BoardProof):
    """Tell of a snapshot, with its signed manifest."""

    manifest: dict[str, Any]
    signature: str
    stored: bool = Field(description="Whether its rows are at hand; others are rebuilt.")


class SnapshotPage(Told):
    """Hold a page of snapshots, newest first."""

    items: list[SnapshotTold]
    next: str | None


class ParticipantPage(Told):
    """Hold a page of participants."""

    items: list[dict[str, Any]]
    next: str | None


class ParticipantTold(Told):
    """Show somebody on every board."""

    id: str
    contest: str
    boards: list[dict[str, Any]] = Field(description="Place and row, or the reason for none.")
