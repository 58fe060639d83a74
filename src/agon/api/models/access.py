"""Callers, users, tokens and the audit log."""

from datetime import datetime
from typing import Annotated

from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from agon.api.models.base import PlainText, Request, Resource
from agon.entities.access import Everywhere, Role, SessionKind

UserName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


ContestName = Annotated[str, StringConstraints(max_length=63)]

Contests = Annotated[
    tuple[ContestName, ...] | Everywhere,
    Field(
        description="Contests by id; public: every public contest and those that the user created; "
        "all: every contest, for operators and workers only."
    ),
]


class Right(Resource):
    """A role in some contests, limited to some actions."""

    role: Role
    contests: Contests
    scopes: tuple[str, ...] = Field(description="Permissions; empty: all of the role.")


class Me(Resource):
    """The caller and the caller's permissions."""

    name: str
    user: str | None
    role: Role | None = Field(description="The role with the most permissions.")
    contests: Contests
    scopes: tuple[str, ...]
    rights: tuple[Right, ...] = Field(
        description="Each role, with the contests it is held in; role, contests and scopes above "
        "are the first one's, with the contests of all."
    )
    actions: tuple[str, ...] = Field(description="All permissions of the caller.")


class UserCreate(Request):
    """A new user."""

    id: UserName = Field(examples=["ada"])
    name: PlainText = Field(default="", max_length=200)
    password: str | None = Field(default=None, min_length=12, max_length=1024)


class UserUpdate(Request):
    """Changes of a user; null leaves a field as it is."""

    disabled: bool | None = Field(default=None, description="Whether all tokens are invalid.")
    password: str | None = Field(default=None, min_length=12, max_length=1024)


class User(Resource):
    """A user, without the password."""

    id: str
    name: str
    created_at: datetime
    disabled: bool


def _span(value: object, validated: ValidatorFunctionWrapHandler) -> object:
    """Return a span; what is none is one error, not one for each form."""
    try:
        return validated(value)
    except ValidationError:
        raise ValueError('give up to 100 ids of contests, "public" or "all"') from None


_Span = Annotated[tuple[ContestName, ...], Field(max_length=100)] | Everywhere


class TokenCreate(Request):
    """A new token."""

    user: UserName = Field(examples=["ada"])
    role: Role
    label: PlainText = Field(default="", max_length=200)
    contests: Annotated[_Span | None, WrapValidator(_span)] = Field(
        default=None,
        description="Up to 100 contests by id; public: every public contest and those that the "
        "user creates; all: every contest. Absent: all for operators and workers, public for "
        "other roles, which cannot have all.",
    )
    scopes: tuple[Annotated[str, StringConstraints(max_length=40)], ...] = Field(
        default=(), max_length=50, description="Permissions; empty: all of the role."
    )
    days: float | None = Field(default=90, gt=0, le=3660, description="null: never expires.")


class UserWithSimilar(User):
    """A new user, and what its id resembles."""

    similar_users: tuple[str, ...] = Field(
        description="Other users whose ids can be mistaken for this one."
    )
    named_in: tuple[str, ...] = Field(
        description="Contests whose records name this id, or one that can be mistaken for it."
    )


class Token(Resource):
    """A token; its text is never returned again."""

    id: str
    user: str
    label: str
    role: Role
    contests: Contests
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    session: SessionKind | None = Field(
        description="How a session of the site was begun; null: a token that was created."
    )
    sources: tuple[str, ...] = Field(
        description="The tokens whose rights a session has; one that a password began has those "
        "of all valid tokens of the user."
    )


class TokenWithSecret(Token):
    """A new token with its text, which is returned only once."""

    token: str = Field(description="The text of the token, agon_…")


class AuditEntry(Resource):
    """An entry of the audit log."""

    no: int
    at: datetime
    by: str
    action: str
    target: str
    detail: dict[str, object]
