"""Create, check and revoke tokens: ``agon_<22 characters of id>_<43 of secret>``.

The secret is 256 random bits and is returned once. Its SHA-256 is stored; a value that cannot be
guessed needs no slow hash.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import (
    ACTIONS,
    ROLES,
    UNLIMITED,
    caller_with,
    covers,
    widest_span,
)
from agon.app.service import Service
from agon.entities.access import Caller, Everywhere, Right, Role, Span, Token, User
from agon.errors import (
    Forbidden,
    NotFound,
    Unauthenticated,
    Unavailable,
    Unreadable,
    did_you_mean,
)
from agon.store.session import Session

_TEXT: Final = re.compile(r"agon_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{43})")
_ID_BYTES: Final = 16
_SECRET_BYTES: Final = 32
_MAX_DAYS: Final = 3660
_MAX_LABEL_CHARACTERS: Final = 200
_OF_PEOPLE: Final = frozenset(ROLES) - {"worker"}
_USE_RECORDED_EVERY: Final = timedelta(hours=1)
_NOT_VALID: Final = "this token is not valid; use another or create a new one"


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The permissions of a new token.

    Attributes:
        user: the user it belongs to.
        role: the role whose actions it allows.
        label: a name that distinguishes the user's tokens.
        contests: where it gives its role: some contests by id, or :class:`Everywhere`. All contests
            are given to operators and workers only, and never by leaving something out.
        scopes: actions or their first parts (``records``, ``records.add``); empty: all of its role.
        days: until it expires; None: never.
    """

    user: str
    role: Role
    label: str = ""
    contests: Sequence[str] | Everywhere = Everywhere.PUBLIC
    scopes: Sequence[str] = ()
    days: float | None = 90


def create_token(service: Service, grant: Grant, *, by: Caller) -> tuple[Token, str]:
    """Create a token and return it with its text, which is not stored and cannot be shown again.

    Raises:
        Forbidden: the token would have scopes that ``by`` does not have.
        NotFound: there is no such user, role, scope or contest.
        Unreadable: the label or the days are out of bounds, or the role is not held everywhere.
    """
    _require_valid(grant)
    _require_no_more_than_own(grant, by)
    token, text = new_token(service, grant)
    with service.store.write() as session:
        session.access.user(grant.user)
        for contest in _contest_ids(grant):
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
        contests=_span(grant),
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
            revoke_sessions(service, session, token.user, token_id=token.id)
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
    service: Service, session: Session, user: str, *, token_id: str | None = None
) -> None:
    """Revoke the sessions of a user on the site: all of them, or those that only a token began."""
    for token in session.access.sessions(user):
        if token_id is None or token.sources == (token_id,):
            session.access.save_token(replace(token, revoked_at=service.clock()))


def tokens(
    service: Service, *, user: str | None = None, after: str | None = None, limit: int = 100
) -> list[Token]:
    """Return tokens in the order of their ids; their secrets are not stored."""
    with service.store.read() as session:
        return session.access.tokens(user=user, after=after, limit=limit)


def authenticate(service: Service, text: str, *, network: str | None = None) -> Caller:
    """Return the caller that a token authenticates, with the rights of this moment.

    Args:
        service: the service.
        text: the token as it was sent.
        network: keyed hash of the network address of the request.

    Raises:
        Unauthenticated: it is malformed, unknown, revoked, expired, or its user is disabled; the
            message is the same for all, so that guessing reveals nothing.
    """
    now = service.clock()
    with service.store.read() as session:
        token = authentic(session, text)
        caller = _caller_of(session, token, now=now, network=network)
    if token.used_at is None or now - token.used_at > _USE_RECORDED_EVERY:
        _record_use(service, token.id, at=now)
    return caller


def authentic(session: Session, text: str) -> Token:
    """Return the token with a text, valid or not.

    Raises:
        Unauthenticated: it is malformed or unknown.
    """
    parts = _TEXT.fullmatch(text)
    token_id, secret = parts.groups() if parts else ("", "")
    token = session.access.token(token_id) if token_id else None
    stored = b"" if token is None else token.secret_sha256
    if not hmac.compare_digest(secret_hash(secret), stored) or token is None:
        raise Unauthenticated(_NOT_VALID)
    return token


def caller_now(session: Session, token_id: str, *, now: datetime) -> Caller:
    """Return the caller of a token that was authenticated earlier, with the rights it has now.

    Raises:
        Unauthenticated: it was revoked, has expired, or its user is disabled.
    """
    token = session.access.token(token_id)
    if token is None:
        raise Unauthenticated(_NOT_VALID)
    return _caller_of(session, token, now=now, network=None)


def person(session: Session, user: str, *, now: datetime, network: str | None = None) -> Caller:
    """Return a user as who signed in with a password: with the rights of all valid tokens.

    A user without one reads what is public.
    """
    rights = _rights_of(session.access.valid_tokens(user, now=now))
    visitor = Right(role="viewer", contests=Everywhere.PUBLIC)
    return _caller(session, user, rights or [visitor], network=network)


def public_id(text: str) -> str:
    """Return the public half of a token's text; empty if it is none.

    Example:
        >>> public_id("agon_" + "a_" * 11 + "_" + "s" * 43)
        'a_a_a_a_a_a_a_a_a_a_a_'
    """
    parts = _TEXT.fullmatch(text)
    return parts[1] if parts else ""


def _record_use(service: Service, token_id: str, *, at: datetime) -> None:
    """Record when a token was used; if the database cannot be written now, it is skipped."""
    with suppress(Unavailable), service.store.write() as session:
        session.access.record_use(token_id, at=at)


def _caller_of(session: Session, token: Token, *, now: datetime, network: str | None) -> Caller:
    """Return the caller of a token.

    Raises:
        Unauthenticated: it is not valid now, or of a session no token that began it is.
    """
    user = None
    with suppress(NotFound):
        user = session.access.user(token.user)
    if user is None or not _is_valid(token, user, now):
        raise Unauthenticated(_NOT_VALID)
    if token.session == "password":
        return person(session, user.id, now=now, network=network)
    rights = [_right(token)]
    if token.session == "token":
        rights = _rights_of(session.access.valid_tokens(user.id, now=now, ids=token.sources))
        if not rights:
            raise Unauthenticated(_NOT_VALID)
    return _caller(session, user.id, rights, network=network)


def _caller(session: Session, user: str, rights: Sequence[Right], *, network: str | None) -> Caller:
    """Return a user with rights, and with the contests created where a right covers these."""
    created: frozenset[str] = frozenset()
    if any(right.contests is Everywhere.PUBLIC for right in rights):
        created = session.contests.created_by(user)
    caller = Caller(name=f"user:{user}", user=user, role=None, network=network, created=created)
    return caller_with(caller, rights)


def _rights_of(tokens: Iterable[Token]) -> list[Right]:
    """Return what tokens of people give; equal rights of two once."""
    return list(dict.fromkeys(_right(token) for token in tokens if token.role in _OF_PEOPLE))


def _right(token: Token) -> Right:
    return Right(role=token.role, contests=token.contests, scopes=token.scopes)


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
    if grant.contests is Everywhere.ALL and grant.role not in UNLIMITED:
        raise Unreadable(
            f"the role {grant.role} is not held in all contests; name contests, or give public, "
            "which are the public ones"
        )
    if grant.contests is Everywhere.PUBLIC and widest_span(grant.role) is Everywhere.ALL:
        raise Unreadable(f"the role {grant.role} is held in named contests or in all; give one")
    for name in (grant.user, *_contest_ids(grant)):
        if not name.isprintable():
            raise NotFound(f"there is no {name[:80]!r}; name existing users and contests")
    if len(grant.label) > _MAX_LABEL_CHARACTERS or not (grant.label.isprintable()):
        raise Unreadable(
            f"a label has at most {_MAX_LABEL_CHARACTERS} printable characters; shorten it"
        )
    if grant.days is not None and not 0 < grant.days <= _MAX_DAYS:
        raise Unreadable(f"a token lasts up to {_MAX_DAYS:,} days, not {grant.days:g}; give fewer")


def _contest_ids(grant: Grant) -> Sequence[str]:
    return () if isinstance(grant.contests, Everywhere) else grant.contests


def _span(grant: Grant) -> Span:
    return grant.contests if isinstance(grant.contests, Everywhere) else tuple(grant.contests)


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
