"""Sessions of the site: a token of its own for each sign-in, which expires and can be revoked.

A session ends no later than the token that it has its rights of.
"""

import hashlib
import hmac
from datetime import timedelta
from typing import Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.passwords import check_password
from agon.app.access.tokens import (
    SESSION,
    Grant,
    authenticate,
    new_token,
    public_id,
    require_valid_token,
    revoke_token,
    session_label,
    tokens_of,
)
from agon.app.service import Service
from agon.entities.access import Caller, Role, Token
from agon.errors import Forbidden

DAYS: Final = 0.5
"""How long a session lasts."""

_ROLES: Final[tuple[Role, ...]] = ("viewer", "participant", "judge", "organiser", "operator")
"""Roles for people, the one with the fewest permissions first."""


def sign_in_with_token(service: Service, text: str, *, network: str | None = None) -> str:
    """Return the token of a new session with the rights of a token.

    Raises:
        Unauthenticated: the token is not valid.
        Forbidden: it is a worker's.
    """
    caller = authenticate(service, text, network=network)
    if caller.role not in _ROLES:
        raise Forbidden("this is the token of a worker; sign in with one of a person")
    with service.store.read() as session:
        source = session.access.token(public_id(text))
    return _begin(service, source, by=caller)


def sign_in_with_password(
    service: Service, *, user: str, password: str, network: str | None = None
) -> str:
    """Return the token of a new session with the rights of a user's strongest token.

    A user without a valid token may read what is public.

    Raises:
        Unauthenticated: no such user, a wrong password, or a disabled user; with the same message.
        TooMany: there were too many wrong passwords for this name, whether or not it is a user's.
    """
    now = service.clock()
    service.wrong_passwords.count(user, network, now=now)
    check_password(service, user=user, password=password)
    service.wrong_passwords.remove(user, network, now=now)
    with service.store.read() as session:
        valid = [
            token
            for token in tokens_of(session, user)
            if token.revoked_at is None
            and (token.expires_at is None or token.expires_at > now)
            and token.role in _ROLES
            and not token.label.startswith(SESSION)
        ]
    strongest = max(valid, key=lambda token: _ROLES.index(token.role), default=None)
    caller = Caller(name=f"user:{user}", user=user, role="viewer", network=network)
    return _begin(service, strongest, by=caller)


def sign_out(service: Service, text: str, *, by: Caller) -> None:
    """Revoke the token of a session."""
    revoke_token(service, public_id(text), by=by)


def form_token(text: str) -> str:
    """Return what the forms of a session contain: another site cannot know it.

    Example:
        >>> form_token("agon_a_b") == form_token("agon_a_b") != form_token("agon_a_c")
        True
    """
    return hmac.new(text.encode(), b"form", hashlib.sha256).hexdigest()


def _begin(service: Service, source: Token | None, *, by: Caller) -> str:
    """Store a session with the rights of a token, and return the session's token.

    Raises:
        Unauthenticated: the token was revoked in the meantime.
    """
    now = service.clock()
    grant = Grant(user=str(by.user), role="viewer", label=SESSION, days=DAYS)
    if source is not None:
        days = DAYS
        if source.expires_at is not None:
            days = min(DAYS, (source.expires_at - now) / timedelta(days=1))
        is_session = source.label.startswith(SESSION)
        grant = Grant(
            user=source.user,
            role=source.role,
            label=source.label if is_session else session_label(source.id),
            contests=source.contests,
            scopes=source.scopes,
            days=days,
        )
    token, text = new_token(service, grant)
    with service.store.write() as session:
        if source is not None:
            session.access.lock_token(source.id)  # against those who revoke it now
            require_valid_token(session, source.id, now=now)
        session.access.add_token(token)
        add_audit_entry(
            service, session, by=by, action="token.create", target=token.id,
            detail={"user": token.user, "role": token.role},
        )  # fmt: skip
    return text
