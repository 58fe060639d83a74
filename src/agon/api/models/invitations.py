"""Invitations to a contest."""

from datetime import datetime

from pydantic import Field

from agon.api.models.access import UserName
from agon.api.models.base import PlainText, Request, Resource, Time
from agon.entities import invitations as entities
from agon.entities.access import Role
from agon.entities.invitations import InvitedRole


class InvitationCreate(Request):
    """A new invitation."""

    role: InvitedRole = Field(default="participant", description="The role of the tokens it gives.")
    user: UserName | None = Field(
        default=None, description="The only user's id it can be accepted with; null: any free one."
    )
    max_uses: int = Field(default=1, ge=1, le=10_000, description="How often it can be accepted.")
    expires_at: Time | None = Field(default=None, description="null: never.")
    note: PlainText = Field(default="", max_length=200, description="For organizers.")
    approval: bool = Field(
        default=False, description="Whether an organizer approves each person who accepts it."
    )


class InvitedPerson(Request):
    """A person to invite."""

    user: UserName | None = Field(
        default=None, description="The only user's id it can be accepted with; null: any free one."
    )
    note: PlainText = Field(default="", max_length=200, description="For organizers, as a name.")


class InvitationsCreate(Request):
    """New invitations, one for each person, which can be accepted once."""

    people: tuple[InvitedPerson, ...] = Field(min_length=1, max_length=1000)
    role: InvitedRole = Field(default="participant", description="The role of the tokens.")
    expires_at: Time | None = Field(default=None, description="null: never.")
    approval: bool = Field(
        default=False, description="Whether an organizer approves each person who accepts one."
    )


class InvitationAccept(Request):
    """Who accepts an invitation."""

    code: str = Field(max_length=200, examples=["invite_…"])
    user: PlainText | None = Field(
        default=None,
        max_length=63,
        description="The new user's id; null: the caller's, or the invitation's.",
    )
    name: PlainText = Field(default="", max_length=200, description="For people; empty: the id.")
    password: str | None = Field(
        default=None,
        min_length=12,
        max_length=1024,
        description="A new user's, to sign in on the site; null: by tokens only.",
    )


class Invitation(Resource, entities.Invitation, hide=("contest_no", "secret_sha256")):
    """An invitation; its code is never returned again."""


class InvitationWithCode(Invitation):
    """A new invitation with its code, which is returned only once."""

    code: str = Field(description="The code to send to the person: invite_…")
    url: str | None = Field(
        default=None,
        description="The link to send, with the code; null: the server has no public_url.",
    )


class Applicant(Resource, entities.JoinRequest, hide=("contest_no",)):
    """A person who accepted an invitation, and waits for an organizer's approval."""


class Membership(Resource):
    """A user of a contest by invitation, with a token that is returned only once."""

    contest: str
    user: str
    name: str
    created_at: datetime = Field(description="When the user was created.")
    role: Role = Field(description="The role of the token, once it is approved.")
    waits: bool = Field(
        description="Whether an organizer has to approve it first; until then it is a viewer's."
    )
    expires_at: datetime | None = Field(description="Until when the token is valid.")
    token: str = Field(description="The text of the token, agon_…")
