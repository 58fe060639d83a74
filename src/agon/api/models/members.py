"""People of a contest."""

from pydantic import Field

from agon.api.models.base import Reason, Request, Resource, Time
from agon.entities import members

_WHY = "Why; the person can read it."


class MemberTerms(Resource, members.MemberTerms, hide=("contest_no",)):
    """What differs for one person in a contest."""


class Member(Resource, members.Member):
    """A person of a contest."""

    terms: MemberTerms | None = Field(description="What differs for the person; null: nothing.")


class MemberExtension(Request):
    """A later end or further submissions for one person."""

    ends_at: Time | None = Field(
        default=None,
        description="The person's end, later than the contest's, or than the freeze of problem; "
        "null: as before.",
    )
    problem: str | None = Field(
        default=None,
        max_length=200,
        description="The id or slug of the problem that ends_at is for; null: the contest.",
    )
    attempts: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="Submissions to each problem beyond max_submissions, in all; null: as before.",
    )
    reason: Reason = Field(description=_WHY)


class MemberReason(Request):
    """Why something changes for a person."""

    reason: Reason = Field(description=_WHY)
