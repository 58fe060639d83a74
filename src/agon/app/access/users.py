"""Create, change and list users."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.identities import require_not_reserved, resemblance
from agon.app.access.passwords import hash_password
from agon.app.access.tokens import revoke_sessions
from agon.app.service import Service
from agon.entities.access import Caller, User
from agon.errors import NotFound, Unreadable
from agon.kernel.text.names import unfit_line

_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_MAX_NAME: Final = 200
_SET_PASSWORD: Final = "user.set-password"  # noqa: S105 (the name of an action)


def create_user(
    service: Service, *, user: str, name: str = "", password: str | None = None, by: Caller
) -> User:
    """Create a user.

    Args:
        service: the service.
        user: the id: lowercase letters, digits, ``. _ -``, at most 63 characters.
        name: for people; empty: the id.
        password: at least 12 characters; None: signs in by tokens only.
        by: the caller.

    The caller is an operator, who may give an id that looks like another or that records name.

    Raises:
        Conflict: the id is taken or reserved.
        Unreadable: the id, the name or the password is invalid.
    """
    created = new_user(service, user=user, name=name, password=password)
    require_not_reserved(user)
    with service.store.write() as session:
        like = resemblance(session, user)
        session.access.add_user(created)
        add_audit_entry(
            service, session, by=by, action="user.create", target=user,
            detail={"similar_users": like.users, "named_in": like.contests},
        )  # fmt: skip
    return created


def new_user(service: Service, *, user: str, name: str = "", password: str | None = None) -> User:
    """Return a user that is not stored yet; the arguments are those of :func:`create_user`.

    Raises:
        Unreadable: the id, the name or the password is invalid.
    """
    if _ID.fullmatch(user) is None:
        raise Unreadable(
            f"{user[:80]!r} is not a user's id; give up to 63 lowercase letters, digits and . _ -"
        )
    return User(
        id=user,
        name=_name(name or user),
        created_at=service.clock(),
        password=None if password is None else hash_password(service, password),
    )


def set_password(service: Service, *, user: str, password: str | None, by: Caller) -> User:
    """Set or (None) remove a user's password; the user's sessions on the site end.

    Raises:
        NotFound: there is no such user.
        Unreadable: the password is too short or too long.
    """
    password_hash = None if password is None else hash_password(service, password)
    return _change(
        service,
        user,
        _SET_PASSWORD,
        lambda stored: replace(stored, password=password_hash),
        by,
    )


def disable_user(service: Service, *, user: str, disabled: bool = True, by: Caller) -> User:
    """Disable a user, or enable one again; a disabled user's tokens are invalid.

    Raises:
        NotFound: there is no such user.
    """
    action = "user.disable" if disabled else "user.enable"
    return _change(service, user, action, lambda stored: replace(stored, disabled=disabled), by)


def users(service: Service, *, after: str | None = None, limit: int = 100) -> list[User]:
    """Return users in the order of their ids."""
    with service.store.read() as session:
        return session.access.users(after=after, limit=limit)


def _name(name: str) -> str:
    stripped = name.strip()
    if (wrong := unfit_line(name, longest=_MAX_NAME)) is not None:
        raise Unreadable(f"the name {name[:40]!r} {wrong}")
    return stripped


def _change(
    service: Service, user: str, action: str, change: Callable[[User], User], by: Caller
) -> User:
    if _ID.fullmatch(user) is None:
        raise NotFound(f"there is no user {user[:80]!r}; see the list of users")
    with service.store.write() as session:
        changed = change(session.access.lock_user(user))
        session.access.save_user(changed)
        if action == _SET_PASSWORD:
            revoke_sessions(service, session, user)
        add_audit_entry(service, session, by=by, action=action, target=user)
    return changed
