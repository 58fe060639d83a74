"""Check passwords, and hash new ones."""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from agon.app.service import Service
from agon.entities.access import User
from agon.errors import NotFound, Unauthenticated, Unreadable

_MIN_LENGTH: Final = 12
_MAX_LENGTH: Final = 1024


def hash_password(service: Service, password: str) -> str:
    """Return the hash of a new password.

    Raises:
        Unreadable: it is too short or too long.
        Unavailable: argon2-cffi is not installed.
    """
    if not _MIN_LENGTH <= len(password) <= _MAX_LENGTH:
        raise Unreadable(
            f"the password has {len(password)} characters; give {_MIN_LENGTH} to {_MAX_LENGTH:,}"
        )
    return service.passwords.hash(password)


def check_password(service: Service, *, user: str, password: str) -> User:
    """Return the user with this password, in the same time whether or not the user exists.

    A hash with parameters of another version is replaced by one with today's.

    Raises:
        Unauthenticated: no such user, a wrong password, no password, or a disabled user; with the
            same message.
    """
    stored = None
    if user.isascii() and user.isprintable():  # as all ids are; PostgreSQL stores no NUL
        with service.store.read() as session, suppress(NotFound):
            stored = session.access.user(user)
    password_hash = None if stored is None else stored.password
    if (
        len(password) > _MAX_LENGTH
        or not service.passwords.matches(password_hash, password)
        or stored is None
        or password_hash is None
        or stored.disabled
    ):
        raise Unauthenticated("user or password is wrong; try again")
    if not service.passwords.is_current(password_hash):
        _rehash(service, stored, password)
    return stored


def _rehash(service: Service, user: User, password: str) -> None:
    """Replace a user's hash, unless it was changed in the meantime."""
    password_hash = service.passwords.hash(password)
    with service.store.write() as session:
        current = session.access.lock_user(user.id)
        if current.password == user.password:
            session.access.save_user(replace(current, password=password_hash))
