"""Users, tokens, roles, stored responses and audit entries, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, TypeAlias
from unicodedata import normalize

Role: TypeAlias = Literal["viewer", "participant", "judge", "organiser", "operator", "worker"]


class Everywhere(Enum):
    """Contests that are not named one by one, also those that are created later.

    An absent limit is none of them: who holds ``ALL`` was given that value.
    """

    PUBLIC = "public"
    """Every public contest, and those that the user created."""

    ALL = "all"
    """Every contest of the server; only operators and workers hold it."""


Span: TypeAlias = tuple[str, ...] | Everywhere
"""The contests in which a role is held: some by their ids, or :class:`Everywhere`."""

SessionKind: TypeAlias = Literal["token", "password"]


def folded_id(name: str) -> str:
    """Return a form of an id that ids have in common which are read as the same.

    Capitals, and letters of other scripts that look like Latin ones, are read as small Latin
    letters; zero as the letter o, one as l, ``rn`` as m, ``vv`` as w; every ``.``, ``_`` and ``-``
    as one hyphen, or as nothing at either end.

    Example:
        >>> folded_id("Al1.corn_") == folded_id("all-com"), folded_id("ada") == folded_id("adb")
        (True, False)
    """
    letters = normalize("NFKC", name).casefold().translate(_READ_AS)
    letters = letters.replace("rn", "m").replace("vv", "w")
    return "-".join(part for part in letters.split("-") if part)


_CYRILLIC_AND_GREEK: Final = dict(
    zip("аеорсухіјѕһԁԛԝкмтвнοανρικτυχγ", "aeopcyxijshdqwkmtbnoavpiktuxy", strict=True)
)
_READ_AS: Final = str.maketrans({**_CYRILLIC_AND_GREEK, "0": "o", "1": "l", ".": "-", "_": "-"})
"""Letters and what they are read as; the first part are those of Cyrillic and of Greek."""


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
        id: the public half of its text.
        secret_sha256: hash of its secret half (256 random bits need no slow hash).
        contests: the contests in which it gives its role.
        scopes: permissions it is limited to, of those of its role; empty: all of them.
        session: how a session of the site was begun; None: a token that was created.
        sources: the tokens whose rights a session has; one that a password began has those of all
            valid tokens of the user.
    """

    id: str
    user: str
    label: str
    role: Role
    secret_sha256: bytes = field(repr=False)
    contests: Span
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    used_at: datetime | None = None
    session: SessionKind | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Right:
    """A role in some contests, limited to some actions: what one token gives.

    Attributes:
        scopes: permissions; empty: all of the role.
    """

    role: Role
    contests: Span
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller of one request or command, with the rights of this moment.

    ``role``, ``contests`` and ``scopes`` are one right; a person who signed in with a password has
    further ones, such as participant in one contest and judge in another. An operation acts with
    the strongest right that permits it (:func:`agon.app.access.permissions.acting`).

    Attributes:
        name: the name in ledger entries (``user:ada``, ``anonymous``; never a token).
        user: the user's id; None if anonymous.
        role: the role; None if anonymous.
        contests: the contests in which the role is held; by default none.
        network: keyed hash of the network address, None if there is none.
        further: the other rights.
        created: ids of the contests that the user created, where a right covers these.
    """

    name: str
    user: str | None
    role: Role | None
    contests: Span = ()
    scopes: tuple[str, ...] = ()
    network: str | None = None
    further: tuple[Right, ...] = ()
    created: frozenset[str] = frozenset()

    @property
    def rights(self) -> tuple[Right, ...]:
        """All rights; none of an anonymous caller."""
        if self.role is None:
            return ()
        return (Right(role=self.role, contests=self.contests, scopes=self.scopes), *self.further)


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
