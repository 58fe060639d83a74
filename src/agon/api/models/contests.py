"""Contests."""

from typing import Literal

from pydantic import Field

from agon.api.models.base import (
    BoardName,
    ContestId,
    JsonObject,
    PlainText,
    Request,
    Resource,
    Time,
)
from agon.entities import contests as entities
from agon.ledger.contest_state import NameDisplay, Visibility

_NAMES = "Whether boards show names of participants next to their ids, and searches find them."
_NAMES_OR_USUAL = (
    f"{_NAMES} null: as is usual for the discipline, shown for names of bots, hidden for those of "
    "people."
)


class ContestCreate(Request):
    """A new contest; its state is draft."""

    id: ContestId = Field(examples=["spring-2026"], description="Its name in URLs.")
    discipline: PlainText = Field(max_length=40, examples=["community"])
    title: PlainText = Field(min_length=1, max_length=200, examples=["Spring 2026"])
    edition: PlainText | None = Field(
        default=None, max_length=100, description="null: the discipline's reference edition."
    )
    overrides: JsonObject = Field(default={}, description="Rules with other values.")
    visibility: Visibility = "public"
    description: PlainText = Field(default="", max_length=20_000)
    series: ContestId | None = Field(default=None, description="The series it is a season of.")
    boards: tuple[BoardName, ...] | None = Field(
        default=None, max_length=50, description="The default board first; null: all boards."
    )
    starts_at: Time | None = Field(
        default=None, description="Participants may add to it from then on; null: once it is open."
    )
    ends_at: Time | None = Field(
        default=None, description="Participants may add to it before then; null: until it is final."
    )
    names: NameDisplay | None = Field(default=None, description=_NAMES_OR_USUAL)
    preset: Literal["friendly"] | None = Field(
        default=None,
        description="friendly: an arena with prompts that plays with two bots and one judge, "
        "without qualification; overrides count before it.",
    )


class ContestUpdate(Request):
    """Changes of a contest's details; fields that are left out stay as they are."""

    title: PlainText = Field(default="", min_length=1, max_length=200)
    description: PlainText = Field(default="", max_length=20_000)
    visibility: Visibility = "public"
    starts_at: Time | None = Field(default=None, description="null: no start.")
    ends_at: Time | None = Field(default=None, description="null: no end.")
    names: NameDisplay = Field(default="hidden", description=_NAMES)


class SeasonCreate(Request):
    """The next season of a contest."""

    id: ContestId = Field(examples=["spring-2027"])


class FinalizeRequest(Request):
    """How to finalize a contest."""

    force: bool = Field(default=False, description="Even while programs wait for a verdict.")


class ContestAmendment(Resource, entities.Amendment):
    """The last correction of a final result."""


class ContestClock(Resource, entities.ContestClock):
    """Where a contest is in time."""

    amendment: ContestAmendment | None = Field()
    void_reason: str | None = Field(default=None, description="Why the whole contest is void.")


class Finalization(Resource, entities.Finalization):
    """What is open before a contest is finalized, and how long the final result can be undone."""


class Contest(Resource, entities.Contest, hide=("no", "head", "created_by")):
    """A contest, as far as the caller may see it."""

    seq: int = Field(description="Position of the newest entry that the caller may see.")
    names: NameDisplay | None = Field(description=_NAMES_OR_USUAL)
    clock: ContestClock | None = Field(
        description="Where it is in time; null: this is a state of the past."
    )
    version: str = Field(
        description="Of its details: another one after each edit. It is the ETag, and If-Match of "
        "an edit takes it."
    )
