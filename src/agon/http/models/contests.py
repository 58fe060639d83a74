"""Name the forms of contests and of what is sent into them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agon.http.models.base import Asked, PlainObject, PlainText, Reason, Told

ContestName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")]
BoardName = Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]


class ContestAsked(Asked):
    """Ask for a contest; it begins as a draft."""

    id: ContestName = Field(examples=["spring-2026"], description="Its name in addresses.")
    discipline: PlainText = Field(max_length=40, examples=["community"])
    title: PlainText = Field(min_length=1, max_length=200, examples=["Spring 2026"])
    edition: PlainText | None = Field(
        default=None, max_length=100, description="null: the discipline's literal edition."
    )
    overrides: PlainObject = Field(default={}, description="Rules to set otherwise.")
    visibility: Literal["public", "private"] = "public"
    description: PlainText = Field(default="", max_length=20_000)
    series: ContestName | None = Field(default=None, description="What seasons have in common.")
    boards: list[BoardName] | None = Field(
        default=None, max_length=50, description="The default first; null: all there are."
    )


class SeasonAsked(Asked):
    """Ask for a contest's next season."""

    id: ContestName = Field(examples=["spring-2027"])


class ReasonAsked(Asked):
    """Give a reason."""

    reason: Reason


class FinalAsked(Asked):
    """Say how to finalise."""

    force: bool = Field(default=False, description="Even while programs wait for a verdict.")


class ContestTold(Told):
    """Tell of a contest, no further than the caller may see."""

    id: str
    discipline: str
    title: str
    description: str
    visibility: Literal["public", "private"]
    state: Literal["draft", "open", "frozen", "final"]
    series: str | None
    season: int | None
    edition: str
    overrides: dict[str, object]
    boards: tuple[str, ...]
    created_at: datetime
    seq: int = Field(description="Position of the newest entry that the caller may see.")
    frozen_at: int | None
    finalized_at: int | None


class ContestPage(Told):
    """Hold a page of contests."""

    items: list[ContestTold]
    next: str | None = Field(description="Cursor of the next page; null on the last.")


class RecordedTold(Told):
    """Tell what became of sent records."""

    added: int
    repeated: int = Field(description="Those that were there already, just so.")
    replaced: int
    first_seq: int | None = Field(description="Position of the first new entry.")
    last_seq: int | None


class RecordTold(Told):
    """Tell one entry that holds a record."""

    seq: int
    at: datetime
    by: str
    kind: str
    external_id: str | None
    table: str
    row: dict[str, object]


class RecordPage(Told):
    """Hold a page of records."""

    items: list[RecordTold]
    next: str | None


class HeadTold(Told):
    """Tell a ledger's signed head."""

    contest: str
    seq: int
    head_sha256: str
    at: str = Field(description="As it was signed: UTC with microseconds.")
    signature: str = Field(description="Ed25519 over the canonical JSON of the four, hex.")
    public_key: str


class LedgerImported(Told):
    """Tell what became of an imported ledger."""

    contest: ContestTold
