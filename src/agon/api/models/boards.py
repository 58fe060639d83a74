"""Published boards: pages, proofs, explanations, histories, snapshots, participants."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agon.api.models.base import PlainText, Query, RecordId, Resource
from agon.api.models.contests import ContestAmendment
from agon.entities import contests
from agon.errors import Unreadable
from agon.kernel import explanations, findings

AsOf = Annotated[PlainText, StringConstraints(max_length=64)]
ColumnOrder = Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]
ColumnValues = Annotated[PlainText, StringConstraints(min_length=1, max_length=4000)]
PageCursor = Annotated[PlainText, StringConstraints(max_length=200)]
_AS_OF = "A position of the ledger (digits) or a time (ISO 8601)."
_NAMES = "By id, the names at the board's position; null or left out: the contest hides names."
_CURSOR = "Where the page begins, as an earlier page of the same snapshot returned it."


def exclude(**parameters: object) -> None:
    """Reject a request with parameters that exclude each other.

    Raises:
        Unreadable: all of them have a value.
    """
    if all(value is not None for value in parameters.values()):
        both = " and ".join(parameters)
        remedy = (
            "a cursor belongs to one snapshot, give one" if "cursor" in parameters else "give one"
        )
        raise Unreadable(f"{both} exclude each other; {remedy}")


class BoardQuery(Query):
    """Which page of a board is wanted, and in which format."""

    as_of: AsOf | None = Field(default=None, description=_AS_OF)
    cursor: PageCursor | None = Field(default=None, description=_CURSOR)
    around: RecordId | None = Field(default=None, description="An id to have in the middle.")
    q: RecordId | None = Field(
        default=None,
        description="How names or ids begin: only those rows. Rows found by name come first, in "
        "the order of names, without regard to case and accents; then ids in their order.",
    )
    sort: ColumnOrder | None = Field(
        default=None,
        description="A column to sort by, with - in front the largest value first; "
        "components.NAME is a part of the score. Rows without a value are left out.",
        examples=["-score"],
    )
    minimum: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="Only rows with at least this value in the column of sort; true is 1.",
    )
    maximum: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="Only rows with at most this value in the column of sort.",
    )
    values: ColumnValues | None = Field(
        default=None,
        description="Only rows with one of these values in the column of sort, with commas "
        "between them; true and false for flags.",
        examples=["gold,silver"],
    )
    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of rows.")
    format: Literal["json", "csv", "ndjson", "parquet"] | None = Field(
        default=None, description="csv, ndjson and parquet are the complete board."
    )

    def require_sortable(self) -> None:
        """Check that a sorted page is not wanted together with what has an order of its own.

        Raises:
            Unreadable: naming the two parameters.
        """
        if (self.sort, self.minimum, self.maximum, self.values) == (None,) * 4:
            return
        exclude(sort=self.sort, q=self.q)
        exclude(sort=self.sort, around=self.around)
        exclude(sort=self.sort, format=None if self.format == "json" else self.format)
        exclude(values=self.values, minimum=self.minimum)
        exclude(values=self.values, maximum=self.maximum)
        for name in ("minimum", "maximum", "values"):
            if self.sort is None and getattr(self, name) is not None:
                raise Unreadable(f"{name} is about a column; give it as sort")


class UnscoredQuery(Query):
    """Which page of the participants without a score is wanted."""

    as_of: AsOf | None = Field(default=None, description=_AS_OF)
    cursor: PageCursor | None = Field(default=None, description=_CURSOR)
    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of items.")


class RowQuery(Query):
    """How much of the board around a participant's row is wanted."""

    neighbors: int = Field(default=0, ge=0, le=250, description="Rows above and below.")
    as_of: AsOf | None = Field(default=None, description=_AS_OF)


class BoardProof(Resource):
    """The inputs of a board: edition, position of the ledger, hashes."""

    board: str
    edition: str
    overrides: dict[str, Any]
    rules_sha256: str
    seq: int = Field(description="Position of the ledger.")
    head_sha256: str
    at: datetime = Field(description="The ledger's time at that position.")
    published_at: datetime
    snapshot: int
    board_sha256: str
    merkle_root: str
    rows_total: int
    unscored_total: int
    title: str = Field(default="", description="Of a problem's board: the problem's title.")


class SnapshotReference(Resource):
    """A snapshot, without what it shows."""

    snapshot: int
    seq: int
    at: datetime
    board_sha256: str


class Amendment(SnapshotReference):
    """The snapshot to which a final result was amended."""


class BoardIntervals(Resource):
    """How the intervals of a board (``low``, ``high``) are computed."""

    method: str
    confidence: float = Field(description="Their level, 0.95 for 95 %.")
    simultaneous: str | None = Field(
        default=None,
        description="Which comparisons of ratings hold all at once at this level: `none`, "
        "`neighbours` or `pairs`.",
    )


class _Page(BoardProof):
    contest: str
    discipline: str
    title: str
    state: str
    phase: contests.Phase = Field(description="Where the contest is in time.")
    void_reason: str | None = Field(default=None, description="Why the whole contest is void.")
    amended_by: Amendment | None = Field(
        description="Of a final result that is not in force any more: what it was amended to."
    )
    amendment: ContestAmendment | None = Field(
        default=None, description="The last correction of the final result."
    )
    intervals: BoardIntervals | None = Field(description="Of a board with intervals.")
    notes: tuple[str, ...] = Field(
        default=(),
        description="What limits the scores: rules that the records do not allow, matches that do "
        "not count, groups that never met, what depends on one another.",
    )
    start: int = Field(description="Index of the first row, from 0.")
    index: int | None = Field(description="Index of the row of the requested id.")
    next: str | None
    previous: str | None
    names: dict[str, str] | None = Field(default=None, description=_NAMES)


class BoardPage(_Page):
    """A page of a board."""

    matching: int | None = Field(
        default=None,
        description="Of a sorted page: how many rows are in the range; start counts among them.",
    )
    rows: tuple[dict[str, Any], ...] = Field(
        description="Best first unless sorted: rank, id, score and more."
    )


class UnscoredParticipant(Resource):
    """A participant without a score, with the reason."""

    id: str
    reason: str


class UnscoredPage(_Page):
    """A page of the participants without a score."""

    unscored: tuple[UnscoredParticipant, ...]


class LineProof(Resource):
    """The proof of one line of a published board."""

    manifest: dict[str, Any] = Field(description="What is signed.")
    signature: str = Field(description="Ed25519 over the manifest's canonical JSON, hex.")
    public_key: str
    index: int = Field(description="Index of the line among all leaves.")
    line: str = Field(description="The line as it was hashed.")
    path: tuple[str, ...] = Field(description="Sibling hashes on the way to the root, leaf first.")


class SentencePiece(Resource):
    """A piece of a sentence."""

    text: str
    participant: str | None = Field(
        description="The id of the participant that it names; null: it names none."
    )


class RecordRefs(Resource, findings.RecordRefs):
    """Records that a part of a score is based on."""


class ExplanationPart(Resource, explanations.Part):
    """One part of a score."""

    records: tuple[RecordRefs, ...] = Field()
    pieces: tuple[SentencePiece, ...] = Field(
        description="The text in pieces, some of which name participants; empty: none does."
    )


class Explanation(Resource, explanations.Explanation, hide=("places",)):
    """Why a participant has its score, or none."""

    parts: tuple[ExplanationPart, ...]
    note_pieces: tuple[tuple[SentencePiece, ...], ...] = Field(
        description="Each note in pieces, as of a part."
    )
    next_steps: tuple[str, ...] = Field(
        description="The names of the parts that say what is missing: first what takes the least "
        "count, then what adds most points."
    )
    names: dict[str, str] = Field(
        description="By id, the names at the board's position of those whom it is about; empty: "
        "they have none, or the contest hides names."
    )


class HistoryCause(Resource, contests.StepCause):
    """The change set that caused a step."""


class HistoryStep(Resource, contests.HistoryStep):
    """A step of a participant's history on a board."""

    by: HistoryCause | None = Field(description="The change set that caused it; null: records.")


class Snapshot(BoardProof):
    """A snapshot of a board, with its signed manifest."""

    manifest: dict[str, Any]
    signature: str
    stored: bool = Field(description="Whether its rows are stored; others are rebuilt.")


class Participant(Resource):
    """What every board of a contest says of one participant."""

    id: str
    contest: str
    name: str | None = Field(
        default=None, description="The newest name; null: none, or the contest hides names."
    )
    boards: tuple[dict[str, Any], ...] = Field(description="Index and row, or why there is none.")
