"""Callers, users, tokens and the audit log."""

from typing import Annotated

from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from agon.api.models.base import PlainText, Request, Resource
from agon.entities import access as entities
from agon.entities.access import Everywhere, Role

UserName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


ContestName = Annotated[str, StringConstraints(max_length=63)]

Contests = Annotated[
    tuple[ContestName, ...] | Everywhere,
    Field(
        description="Contests by id; public: every public contest and those that the user created; "
        "all: every contest, for operators and workers only."
    ),
]


class Right(Resource, entities.Right):
    """A role in some contests, limited to some actions."""

    contests: Contests


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


class User(Resource, entities.User, hide=("password",)):
    """A user, without the password."""


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


class Token(Resource, entities.Token, hide=("secret_sha256",)):
    """A token; its text is never returned again."""

    contests: Contests


class TokenWithSecret(Token):
    """A new token with its text, which is returned only once."""

    token: str = Field(description="The text of the token, agon_…")


class AuditEntry(Resource, entities.AuditEntry, hide=("network",)):
    """An entry of the audit log."""
