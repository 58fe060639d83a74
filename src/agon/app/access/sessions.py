"""Sessions of the site: a token of its own for each sign-in, which expires and can be revoked.

A session that a token began has the rights of this token and ends with it. One that a password
began has the rights of all valid tokens of the person, read again at each request: a token that is
added or revoked counts at once, and without any the person reads what is public.
"""

import hashlib
import hmac
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.passwords import check_password
from agon.app.access.tokens import Grant, authentic, authenticate, new_token
from agon.app.service import Service
from agon.entities.access import Caller, SessionKind, Token
from agon.errors import Forbidden, Unauthenticated
from agon.store.session import Session

DAYS: Final = 0.5


@dataclass(frozen=True, kw_only=True)
class _Beginning:
    """How a session begins: its kind, the tokens whose rights it has, and until when at most."""

    kind: SessionKind
    sources: tuple[str, ...] = ()
    until: datetime | None = None


def sign_in_with_token(
    service: Service, text: str, *, network: str | None = None, former: str | None = None
) -> str:
    """Return the token of a new session with the rights of a token.

    Args:
        service: the service.
        text: the token; that of a session begins one like it, which lasts no longer.
        network: keyed hash of the network address.
        former: the token of the browser's session until now, which ends; None: there is none.

    Raises:
        Unauthenticated: the token is not valid.
        Forbidden: it is a worker's.
    """
    caller = authenticate(service, text, network=network)
    if caller.role == "worker":
        raise Forbidden("this is the token of a worker; sign in with one of a person")
    with service.store.write() as session:
        return _begin(service, session, _as_begun(session, text), by=caller, former=former)


def sign_in_with_password(
    service: Service,
    *,
    user: str,
    password: str,
    network: str | None = None,
    former: str | None = None,
) -> str:
    """Return the token of a new session with the rights of all tokens of a user.

    Arguments are those of :func:`sign_in_with_token`.

    Raises:
        Unauthenticated: no such user, a wrong password, or a disabled user; with the same message.
        TooMany: there were too many wrong passwords (:mod:`agon.app.wrong_passwords`), whether or
            not the name is a user's.
    """
    now = service.clock()
    service.wrong_passwords.count(user, network, now=now)
    check_password(service, user=user, password=password)
    service.wrong_passwords.remove(user, network, now=now)
    return begin_with_password(service, user, network=network, former=former)


def begin_with_password(
    service: Service, user: str, *, network: str | None = None, former: str | None = None
) -> str:
    """Return the token of a new session of a user whose password was just checked or set."""
    caller = Caller(name=f"user:{user}", user=user, role="viewer", network=network)
    with service.store.write() as session:
        return _begin(service, session, _Beginning(kind="password"), by=caller, former=former)


def extend_session(service: Service, text: str, *, former: str, by: Caller) -> str:
    """Return the token of a session that has the rights of a further token of the same user.

    A session that a password began has them already and stays.
    """
    with service.store.write() as session:
        begun = _as_begun(session, former)
        if begun.kind == "password":
            return former
        added = _as_begun(session, text)
        both = replace(begun, sources=(*begun.sources, *added.sources))
        return _begin(service, session, both, by=by, former=former)


def sign_out(service: Service, text: str, *, by: Caller) -> None:
    """End a session."""
    with service.store.write() as session:
        _end(service, session, text, by=by)


def form_token(text: str) -> str:
    """Return the token against forged requests that the forms of a session contain.

    Example:
        >>> form_token("agon_a_b") == form_token("agon_a_b") != form_token("agon_a_c")
        True
    """
    return hmac.new(text.encode(), b"form", hashlib.sha256).hexdigest()


def _as_begun(session: Session, text: str) -> _Beginning:
    """Return how a session begins that has the rights of a token, or of another session.

    Raises:
        Unauthenticated: there is no such token.
    """
    source = authentic(session, text)
    if source.session is None:
        return _Beginning(kind="token", sources=(source.id,))
    return _Beginning(kind=source.session, sources=source.sources, until=source.expires_at)


def _begin(
    service: Service,
    session: Session,
    beginning: _Beginning,
    *,
    by: Caller,
    former: str | None,
) -> str:
    """Store a session, end the browser's former one, and return the session's token."""
    now = service.clock()
    days = DAYS
    if beginning.until is not None:
        days = min(DAYS, (beginning.until - now) / timedelta(days=1))
    label = "session of the site"
    if beginning.sources:
        label += f", begun by {' and '.join(beginning.sources)}"
    grant = Grant(user=str(by.user), role="viewer", label=label, days=days)
    new, text = new_token(service, grant)
    new = replace(new, session=beginning.kind, sources=beginning.sources)
    session.access.add_token(new)
    _audit(service, session, "create", new, by=by)
    _end(service, session, former or "", by=by)
    return text


def _end(service: Service, session: Session, text: str, *, by: Caller) -> None:
    """Revoke a session by its token; a text that is no session's token ends nothing."""
    with suppress(Unauthenticated):
        ended = authentic(session, text)
        if ended.session is not None and ended.revoked_at is None:
            session.access.save_token(replace(ended, revoked_at=service.clock()))
            _audit(service, session, "revoke", ended, by=by)


def _audit(service: Service, session: Session, action: str, token: Token, *, by: Caller) -> None:
    add_audit_entry(
        service, session, by=by, action=f"token.{action}", target=token.id,
        detail={"user": token.user, "session": token.session},
    )  # fmt: skip
