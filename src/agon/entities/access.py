"""Hold users, tokens and roles, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

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


@dataclass(frozen=True, kw_only=True)
class StoredResponse:
    """Hold a request that was answered, so that its repetition gets the same answer.

    Attributes:
        caller: token id (or ``anonymous``).
        key: its ``Idempotency-Key``.
        request_sha256: hash of method, path, query and body: another request under the same key
            is a conflict.
        status, headers, body: the answer; status 0 while the first request is still under way.
    """

    caller: str
    key: str
    request_sha256: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes
    at: datetime


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """Hold one line of the audit log: who did what to what, and from which network."""

    no: int
    at: datetime
    by: str
    action: str
    target: str
    detail: Mapping[str, Any]
    network: str | None = None
