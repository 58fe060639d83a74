"""Sessions of the site: a token of its own for each sign-in, which expires and can be revoked."""

import hashlib
import hmac
from typing import Final

from agon.app.access.tokens import (
    Grant,
    authenticate,
    create_token,
    public_id,
    revoke_token,
    tokens,
)
from agon.app.access.users import check_password
from agon.app.service import Service
from agon.entities.access import Caller, Role, Token

LABEL: Final = "session of the site"
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
    return _session(service, caller)


def sign_in_with_password(
    service: Service, *, user: str, password: str, network: str | None = None
) -> str:
    """Return the token of a new session with the rights of a user's strongest token.

    A user without a valid token may read what is public.

    Raises:
        Unauthenticated: no such user, a wrong password, or a disabled user; with the same message.
    """
    check_password(service, user=user, password=password)
    now = service.clock()
    valid = [
        token
        for token in tokens(service, user=user, limit=1000)
        if token.revoked_at is None
        and (token.expires_at is None or token.expires_at > now)
        and token.role in _ROLES
        and token.label != LABEL
    ]
    strongest = max(valid, key=lambda token: _ROLES.index(token.role), default=None)
    return _session(service, _caller(user, strongest, network))


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


def _caller(user: str, token: Token | None, network: str | None) -> Caller:
    return Caller(
        name=f"user:{user}",
        user=user,
        role="viewer" if token is None else token.role,
        contests=None if token is None else token.contests,
        scopes=() if token is None else token.scopes,
        network=network,
    )


def _session(service: Service, caller: Caller) -> str:
    grant = Grant(
        user=str(caller.user),
        role=caller.role or "viewer",
        label=LABEL,
        contests=caller.contests,
        scopes=caller.scopes,
        days=DAYS,
    )
    return create_token(service, grant, by=caller)[1]
