"""Hold users, tokens and roles, as plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["viewer", "participant", "judge", "organiser", "operator", "worker"]


@dataclass(frozen=True, kw_only=True)
class User:
    """Hold a user; ``password`` is an Argon2 hash or None, never shown."""

    id: str
    name: str
    created_at: datetime
    disabled: bool = False
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Token:
    """Hold what is stored of a token; the secret itself is shown once and kept nowhere.

    Attributes:
        id: its public half.
        secret_sha256: hash of its secret half (256 random bits need no slow hash).
        contests: contests it is good for; None: all.
        scopes: what it may do of what its role may; empty: all of that.
    """

    id: str
    user: str
    label: str
    role: Role
    secret_sha256: bytes = field(repr=False)
    contests: tuple[str, ...] | None
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    used_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Hold who asks, for one request or command.

    Attributes:
        name: how entries name them (``user:ada``, ``token:…`` never; ``anonymous``).
        user: the user's id; None for nobody in particular.
        network: keyed hash of the address, None where there is none.
    """

    name: str
    user: str | None
    role: Role | None
    contests: tuple[str, ...] | None = None
    scopes: tuple[str, ...] = ()
    network: str | None = None
