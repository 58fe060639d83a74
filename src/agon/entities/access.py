"""Users, tokens, roles, stored responses and audit entries, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["viewer", "participant", "judge", "organiser", "operator", "worker"]


@dataclass(frozen=True, kw_only=True)
class User:
    """A user; ``password`` is an Argon2 hash or None, and is never returned."""

    id: str
    name: str
    created_at: datetime
    disabled: bool = False
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Token:
    """The stored part of a token; its secret is returned once, when it is created, and not stored.

    Attributes:
        id: its public half.
        secret_sha256: hash of its secret half (256 random bits need no slow hash).
        contests: the contests it is scoped to; None: all.
        scopes: the actions it is limited to, of those of its role; empty: all of them.
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
    """The caller of one request or command.

    Attributes:
        name: the name in ledger entries (``user:ada``, ``anonymous``; never a token).
        user: the user's id; None if anonymous.
        network: keyed hash of the network address, None if there is none.
    """

    name: str
    user: str | None
    role: Role | None
    contests: tuple[str, ...] | None = None
    scopes: tuple[str, ...] = ()
    network: str | None = None


@dataclass(frozen=True, kw_only=True)
class StoredResponse:
    """The response to a request, stored so that a repeated request gets the same response.

    Attributes:
        caller: token id (or ``anonymous``).
        key: its ``Idempotency-Key``.
        request_sha256: hash of method, path, query and body: another request under the same key
            is a conflict.
        status, headers, body: the response; status 0 while the first request is being processed.
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
    """An entry of the audit log: who did what to what, and from which network."""

    no: int
    at: datetime
    by: str
    action: str
    target: str
    detail: Mapping[str, Any]
    network: str | None = None
