"""Name the forms of what belongs to the whole house: health, callers, users, tokens."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agon.entities.access import Role
from agon.http.models.base import Asked, PlainText, Told

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


class Alive(Told):
    """Say that the process answers."""

    status: Literal["alive"]
    version: str


class Ready(Told):
    """Say that the process can do its work."""

    status: Literal["ready"]
    version: str


class Me(Told):
    """Say who asks and what they may do."""

    name: str
    user: str | None
    role: Role | None
    contests: tuple[str, ...] | None = Field(description="Contests the token is good for.")
    scopes: tuple[str, ...]
    actions: tuple[str, ...] = Field(description="All that this caller may do.")


class NewUser(Asked):
    """Ask for a user."""

    id: Name = Field(examples=["ada"])
    name: PlainText = Field(default="", max_length=200)
    password: str | None = Field(default=None, min_length=12, max_length=1024)


class UserChange(Asked):
    """Change a user."""

    disabled: bool | None = Field(default=None, description="Whether all tokens open nothing.")
    password: str | None = Field(default=None, min_length=12, max_length=1024)


class UserTold(Told):
    """Tell of a user; nothing of the password."""

    id: str
    name: str
    created_at: datetime
    disabled: bool


class NewToken(Asked):
    """Ask for a token."""

    user: Name = Field(examples=["ada"])
    role: Role
    label: PlainText = Field(default="", max_length=200)
    contests: list[Annotated[str, StringConstraints(max_length=63)]] | None = Field(
        default=None, max_length=100, description="Contests it is good for; null: all."
    )
    scopes: list[Annotated[str, StringConstraints(max_length=40)]] = Field(
        default=[], max_length=50, description="Actions; empty: all that the role may do."
    )
    days: float | None = Field(default=90, gt=0, le=3660, description="null: never expires.")


class TokenTold(Told):
    """Tell of a token; the secret is nowhere to be had."""

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


class TokenShown(TokenTold):
    """Tell of a new token with its text, this once."""

    token: str = Field(description="Shown now and never again.")


class AuditedTold(Told):
    """Tell one line of the audit log."""

    no: int
    at: datetime
    by: str
    action: str
    target: str
    detail: dict[str, object]


class UserPage(Told):
    """Hold a page of users."""

    items: list[UserTold]
    next: str | None


class TokenPage(Told):
    """Hold a page of tokens."""

    items: list[TokenTold]
    next: str | None


class AuditPage(Told):
    """Hold a page of the audit log, newest first."""

    items: list[AuditedTold]
    next: str | None
