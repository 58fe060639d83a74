"""Callers, users, tokens and the audit log."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from agon.api.models.base import PlainText, Request, Resource
from agon.entities.access import Role

UserName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


class Me(Resource):
    """The caller and the caller's permissions."""

    name: str
    user: str | None
    role: Role | None
    contests: tuple[str, ...] | None = Field(
        description="The contests the token is limited to; null: all."
    )
    scopes: tuple[str, ...]
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


class TokenCreate(Request):
    """A new token."""

    user: UserName = Field(examples=["ada"])
    role: Role
    label: PlainText = Field(default="", max_length=200)
    contests: tuple[Annotated[str, StringConstraints(max_length=63)], ...] | None = Field(
        default=None, max_length=100, description="The contests it is limited to; null: all."
    )
    scopes: tuple[Annotated[str, StringConstraints(max_length=40)], ...] = Field(
        default=(), max_length=50, description="Permissions; empty: all of the role."
    )
    days: float | None = Field(default=90, gt=0, le=3660, description="null: never expires.")


class Token(Resource):
    """A token; its text is never returned again."""

    id: str
    user: str
    label: str
    role: Role
    contests: tuple[str, ...] | None
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


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
