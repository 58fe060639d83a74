"""Create users, and keep and check their passwords (Argon2)."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from agon.app.access.audit import add_audit_entry
from agon.app.service import Service
from agon.entities.access import Caller, User
from agon.errors import NotFound, Unauthenticated, Unavailable, Unreadable

_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_SHORTEST: Final = 12
_LONGEST: Final = 1024
_LONGEST_NAME: Final = 200


def create_user(
    service: Service, *, user: str, name: str = "", password: str | None = None, by: Caller
) -> User:
    """Create a user.

    Args:
        service: the service.
        user: the id: small letters, digits, ``. _ -``, at most 63 characters.
        name: for people; empty: the id.
        password: at least 12 characters; None: signs in by tokens only.
        by: the caller.

    Raises:
        Conflict: the id is taken.
        Unreadable: the id, the name or the password is not fit.
    """
    if _ID.fullmatch(user) is None:
        raise Unreadable(
            f"{user[:80]!r} cannot be a user's id; take small letters, digits and . _ -, at most 63"
        )
    created = User(
        id=user,
        name=_name(name or user),
        created_at=service.clock(),
        password=None if password is None else hashed(password),
    )
    with service.store.write() as session:
        session.access.add_user(created)
        add_audit_entry(service, session, by=by, action="user.create", target=user)
    return created


def set_password(service: Service, *, user: str, password: str | None, by: Caller) -> User:
    """Set or (None) remove a user's password.

    Raises:
        NotFound: there is no such user.
        Unreadable: the password is too short or too long.
    """
    kept = None if password is None else hashed(password)
    return _change(service, user, "user.set-password", lambda one: replace(one, password=kept), by)


def disable_user(service: Service, *, user: str, disabled: bool = True, by: Caller) -> User:
    """Disable a user, or enable one again; a disabled user's tokens open nothing.

    Raises:
        NotFound: there is no such user.
    """
    action = "user.disable" if disabled else "user.enable"
    return _change(service, user, action, lambda one: replace(one, disabled=disabled), by)


def users(service: Service, *, after: str | None = None, limit: int = 100) -> list[User]:
    """Return users in the order of their ids."""
    with service.store.read() as session:
        return session.access.users(after=after, limit=limit)


def hashed(password: str) -> str:
    """Hash a password with Argon2id.

    Raises:
        Unreadable: it is too short or too long.
        Unavailable: argon2-cffi is not installed.
    """
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise Unreadable(
            f"the password has {len(password)} characters; take {_SHORTEST} to {_LONGEST:,}"
        )
    return str(_hasher().hash(password))


def check_password(service: Service, *, user: str, password: str) -> User:
    """Return the user whose password this is; without one it takes as long to say no.

    Raises:
        Unauthenticated: no such user, another password, none at all, or disabled; in one message.
    """
    found = None
    if _ID.fullmatch(user) is not None:
        with service.store.read() as session, suppress(NotFound):
            found = session.access.user(user)
    kept = None if found is None else found.password
    if len(password) <= _LONGEST and _fits(kept, password) and found and not found.disabled:
        return found
    raise Unauthenticated("user and password do not fit together; try again")


def _fits(kept: str | None, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    if kept is None:
        _hasher().hash(password)  # as much work as looking at a password
        return False
    try:
        return bool(_hasher().verify(kept, password))
    except (Argon2Error, InvalidHashError):
        return False


def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise Unavailable("passwords need argon2-cffi; install agon[serve]") from None
    return PasswordHasher()


def _name(name: str) -> str:
    tidy = name.strip()
    if not 0 < len(tidy) <= _LONGEST_NAME or not tidy.isprintable():
        raise Unreadable(
            f"a name has 1 to {_LONGEST_NAME} printable characters; {name[:40]!r} has not"
        )
    return tidy


def _change(
    service: Service, user: str, action: str, change: Callable[[User], User], by: Caller
) -> User:
    if _ID.fullmatch(user) is None:
        raise NotFound(f"there is no user {user[:80]!r}; see the list of users")
    with service.store.write() as session:
        changed = change(session.access.lock_user(user))
        session.access.save_user(changed)
        add_audit_entry(service, session, by=by, action=action, target=user)
    return changed
