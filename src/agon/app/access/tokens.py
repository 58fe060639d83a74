"""Create, check and revoke tokens: ``agon_<22 characters of id>_<43 of secret>``.

The secret is 256 random bits and is returned once. Its SHA-256 is stored; a value that cannot be
guessed needs no slow hash.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, get_args

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import ACTIONS, covers
from agon.app.service import Service
from agon.entities.access import Caller, Role, Token, User
from agon.errors import (
    Forbidden,
    NotFound,
    Unauthenticated,
    Unavailable,
    Unreadable,
    did_you_mean,
)
from agon.store.session import Session

ROLES: Final[tuple[Role, ...]] = get_args(Role)

SESSION: Final = "session of the site"
"""Beginning of the label of a session; :func:`session_label` names the token that began it."""

_TEXT: Final = re.compile(r"agon_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{43})")
_ID_BYTES: Final = 16
_SECRET_BYTES: Final = 32
_MAX_DAYS: Final = 3660
_MAX_LABEL_CHARACTERS: Final = 200
_USE_RECORDED_EVERY: Final = timedelta(hours=1)
_NOT_VALID: Final = "this token is not valid; use another or create a new one"


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The permissions of a new token.

    Attributes:
        user: the user it belongs to.
        role: the role whose actions it allows.
        label: a name that distinguishes the user's tokens.
        contests: contests it is limited to; None: all.
        scopes: actions or their first parts (``records``, ``records.add``); empty: all of its role.
        days: until it expires; None: never.
    """

    user: str
    role: Role
    label: str = ""
    contests: Sequence[str] | None = None
    scopes: Sequence[str] = ()
    days: float | None = 90


def create_token(service: Service, grant: Grant, *, by: Caller) -> tuple[Token, str]:
    """Create a token and return it with its text, which is not stored and cannot be shown again.

    Raises:
        Forbidden: the token would have scopes that ``by`` does not have.
        NotFound: there is no such user, role, scope or contest.
        Unreadable: the label or the days are out of bounds.
    """
    _require_valid(grant)
    _require_no_more_than_own(grant, by)
    token, text = new_token(service, grant)
    with service.store.write() as session:
        session.access.user(grant.user)
        for contest in grant.contests or ():
            session.contests.get(contest)
        session.access.add_token(token)
        add_audit_entry(
            service, session, by=by, action="token.create", target=token.id,
            detail={"user": token.user, "role": token.role},
        )  # fmt: skip
    return token, text


def new_token(service: Service, grant: Grant) -> tuple[Token, str]:
    """Return a token that is not stored yet, and its text."""
    now = service.clock()
    name, secret, secret_sha256 = new_secret(service)
    token = Token(
        id=name,
        user=grant.user,
        label=grant.label,
        role=grant.role,
        secret_sha256=secret_sha256,
        contests=None if grant.contests is None else tuple(grant.contests),
        scopes=tuple(grant.scopes),
        created_at=now,
        expires_at=None if grant.days is None else now + timedelta(days=grant.days),
    )
    return token, f"agon_{token.id}_{secret}"


def new_secret(service: Service) -> tuple[str, str, bytes]:
    """Return a random id, a random secret, and the secret's hash, which alone is stored."""
    secret = _text(service.random(_SECRET_BYTES))
    return _id(service), secret, secret_hash(secret)


def revoke_token(service: Service, token_id: str, *, by: Caller) -> Token:
    """Revoke a token and the sessions of the site that it began: from now on they are invalid.

    Revoking it again changes nothing.

    Raises:
        NotFound: there is no such token.
    """
    with service.store.write() as session:
        token = session.access.lock_token(token_id) if token_id.isprintable() else None
        if token is None:
            raise NotFound(f"there is no token {token_id[:40]!r}; see the list of tokens")
        if token.revoked_at is None:
            token = replace(token, revoked_at=service.clock())
            session.access.save_token(token)
            revoke_sessions(service, session, token.user, of=token.id)
            add_audit_entry(
                service,
                session,
                by=by,
                action="token.revoke",
                target=token_id,
                detail={"user": token.user},
            )
    return token


def revoke_sessions(
    service: Service, session: Session, user: str, *, of: str | None = None
) -> None:
    """Revoke the sessions of a user on the site: all of them, or those that a token began."""
    begins = SESSION if of is None else session_label(of)
    for token in tokens_of(session, user):
        if token.revoked_at is None and token.label.startswith(begins):
            session.access.save_token(replace(token, revoked_at=service.clock()))


def session_label(token_id: str) -> str:
    """Return the label of the sessions that a token began."""
    return f"{SESSION} by token {token_id}"


def tokens_of(session: Session, user: str) -> Iterator[Token]:
    """Yield all tokens of a user."""
    after = None
    while page := session.access.tokens(user=user, after=after):
        yield from page
        after = page[-1].id


def tokens(
    service: Service, *, user: str | None = None, after: str | None = None, limit: int = 100
) -> list[Token]:
    """Return tokens in the order of their ids; their secrets are not stored."""
    with service.store.read() as session:
        return session.access.tokens(user=user, after=after, limit=limit)


def authenticate(service: Service, text: str, *, network: str | None = None) -> Caller:
    """Return the caller that a token authenticates.

    Args:
        service: the service.
        text: the token as it was sent.
        network: keyed hash of the network address of the request.

    Raises:
        Unauthenticated: it is malformed, unknown, revoked, expired, or its user is disabled; the
            message is the same for all, so that guessing reveals nothing.
    """
    parts = _TEXT.fullmatch(text)
    token_id, secret = parts.groups() if parts else ("", "")
    token, user = _load_token(service, token_id)
    now = service.clock()
    stored = b"" if token is None else token.secret_sha256
    matches = hmac.compare_digest(secret_hash(secret), stored)
    if not matches or token is None or user is None or not _is_valid(token, user, now):
        raise Unauthenticated(_NOT_VALID)
    if token.used_at is None or now - token.used_at > _USE_RECORDED_EVERY:
        _record_use(service, token.id, at=now)
    return Caller(
        name=f"user:{token.user}",
        user=token.user,
        role=token.role,
        contests=token.contests,
        scopes=token.scopes,
        network=network,
    )


def public_id(text: str) -> str:
    """Return the public half of a token's text; empty if it is none.

    Example:
        >>> public_id("agon_" + "a_" * 11 + "_" + "s" * 43)
        'a_a_a_a_a_a_a_a_a_a_a_'
    """
    parts = _TEXT.fullmatch(text)
    return parts[1] if parts else ""


def require_valid_token(session: Session, token_id: str, *, now: datetime) -> None:
    """Require that a token that was authenticated earlier is still valid.

    Raises:
        Unauthenticated: it was revoked, has expired, or its user is disabled.
    """
    token = session.access.token(token_id)
    user = None
    with suppress(NotFound):
        user = None if token is None else session.access.user(token.user)
    if token is None or user is None or not _is_valid(token, user, now):
        raise Unauthenticated(_NOT_VALID)


def _record_use(service: Service, token_id: str, *, at: datetime) -> None:
    """Record when a token was used; if the database cannot be written now, it is skipped."""
    with suppress(Unavailable), service.store.write() as session:
        session.access.record_use(token_id, at=at)


def _load_token(service: Service, token_id: str) -> tuple[Token | None, User | None]:
    if not token_id:
        return None, None
    with service.store.read() as session:
        token = session.access.token(token_id)
        user = None
        with suppress(NotFound):
            user = None if token is None else session.access.user(token.user)
    return token, user


def _is_valid(token: Token, user: User, now: datetime) -> bool:
    expired = token.expires_at is not None and token.expires_at <= now
    return token.revoked_at is None and not expired and not user.disabled


def _require_valid(grant: Grant) -> None:
    if grant.role not in ROLES:
        raise NotFound(f"there is no role {grant.role!r}: {did_you_mean(grant.role, ROLES)}")
    scopes = {*ACTIONS, *(action.partition(".")[0] for action in ACTIONS)}
    for scope in grant.scopes:
        if scope not in scopes:
            raise NotFound(f"there is no scope {scope!r}: {did_you_mean(scope, scopes)}")
    for name in (grant.user, *(grant.contests or ())):
        if not name.isprintable():
            raise NotFound(f"there is no {name[:80]!r}; name existing users and contests")
    if len(grant.label) > _MAX_LABEL_CHARACTERS or not (grant.label.isprintable()):
        raise Unreadable(
            f"a label has at most {_MAX_LABEL_CHARACTERS} printable characters; shorten it"
        )
    if grant.days is not None and not 0 < grant.days <= _MAX_DAYS:
        raise Unreadable(f"a token lasts up to {_MAX_DAYS:,} days, not {grant.days:g}; give fewer")


def _require_no_more_than_own(grant: Grant, by: Caller) -> None:
    """Require that a token allows no more than the caller's; the caller's role is operator."""
    if not by.scopes:
        return
    if not grant.scopes or not all(covers(by.scopes, scope) for scope in grant.scopes):
        raise Forbidden(
            f"a token with the scopes {', '.join(by.scopes)} cannot create one with others; "
            "choose scopes among these"
        )


def _id(service: Service) -> str:
    """Return a random id that does not begin with a hyphen, as options of a command line do."""
    while (drawn := _text(service.random(_ID_BYTES))).startswith("-"):
        pass
    return drawn


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def secret_hash(secret: str) -> bytes:
    """Return the SHA-256 of a secret of 256 random bits."""
    return hashlib.sha256(secret.encode()).digest()
