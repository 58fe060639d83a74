"""Translate database errors to errors of agon: a fact and a remedy, without passwords."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import exc

from agon.errors import AgonError, Conflict, DatabaseUnavailable, Unreadable
from agon.kernel.text.plain_json import unstorable

_BUSY: Final = ("locked", "busy")

_HINTS: Final = (
    (("is full", "No space left"), "has no space to write", "free space on its disk and try again"),
    (("disk I/O error",), "cannot be read or written", "see whether its disk is full or failing"),
    (("readonly", "read-only"), "may only be read",
     "give the user that runs agon the right to write the file and its folder"),
    (("idle-in-transaction",), "ended a session that was idle for too long",
     "try again; if it happens often, raise database_idle_seconds"),
    (("malformed",), "is damaged",
     "agon db verify shows where; agon db restore restores a backup"),
)  # fmt: skip
"""What an operator can do, by words in the messages of SQLite and PostgreSQL."""


@contextmanager
def translate_errors(database: str) -> Iterator[None]:
    """Raise the database's errors as agon's.

    Args:
        database: its name in messages (:func:`~agon.store.connection.engines.display_url`).

    Raises:
        DatabaseUnavailable: it cannot be reached, is busy for too long, or is not a database.
        Conflict: a constraint was violated.
        Unreadable: a value cannot be stored.
    """
    try:
        yield
    except (exc.SQLAlchemyError, sqlite3.Error, UnicodeEncodeError) as error:
        raise to_agon_error(error, database) from error
    except OverflowError as error:
        if "SQLite" not in str(error):
            raise
        raise Unreadable("a number is too large to be stored; give one below 2^63") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "psycopg":
            raise to_agon_error(error, database) from error
        raise


def require_storable(values: Iterable[object]) -> None:
    """Raise unless both databases can hold the texts of a statement: SQLite alone takes NUL.

    Raises:
        Unreadable: one has a NUL, or half of a surrogate pair.
    """
    for value in values:
        if isinstance(value, str) and (fault := unstorable(value)) is not None:
            fact, remedy = fault
            raise Unreadable(f"a text {fact} and cannot be stored or looked up; {remedy}")


def to_agon_error(error: BaseException, database: str) -> AgonError:
    """Translate a database error to one that says what happened and what to do."""
    cause = original(error)
    text = str(cause).strip().partition("\n")[0]
    if is_conflict(error):
        return Conflict(f"{database} rejects it: {text}; read the stored values and try again")
    if isinstance(error, exc.TimeoutError):
        return DatabaseUnavailable(
            f"{database} has no connection free; try again, or raise its number of connections"
        )
    names = {kind.__name__ for kind in type(cause).__mro__}
    if "DataError" in names or isinstance(cause, UnicodeEncodeError):
        return Unreadable(f"{database} cannot store a value: {text}; remove the character")
    if any(word in text for word in _BUSY) or names & {
        "LockNotAvailable", "QueryCanceled", "DeadlockDetected", "SerializationFailure",
    }:  # fmt: skip
        return DatabaseUnavailable(f"{database} is busy ({text}); try again")
    for words, fact, remedy in _HINTS:
        if any(word in text for word in words):
            return DatabaseUnavailable(f"{database} {fact} ({text}); {remedy}")
    return DatabaseUnavailable(
        f"{database} does not answer as it should: {text}; see that it is there and may be used"
    )


def is_conflict(error: BaseException) -> bool:
    """Return whether a constraint was violated."""
    return any(kind.__name__ == "IntegrityError" for kind in type(original(error)).__mro__)


def original(error: BaseException) -> BaseException:
    """Return the driver's own error."""
    cause = error.orig if isinstance(error, exc.DBAPIError) else None
    return error if cause is None else cause
