"""Decide who may become a user with an id: the one check for every way to get one.

Records name people by ids, often long before they sign up, and a user acts for the person of the
same id. So no newcomer chooses an id that means another person, here or in another contest:

- *Reserved* ids are callers of agon itself, which no user is. Operators give names of roles.
- An id that *looks like* a user's is not chosen; operators are warned.
- An id that *records name*, of any contest, is not chosen. Who manages the contest can vouch
  for a person with an invitation for that id; an operator creates the user for any id.
- A user who *joins a contest* whose records name the id needs such an invitation as well, unless
  the user has or had a token for this contest: the records may name another person.

Importing or adding records creates no users.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agon.app.access.permissions import ROLES, in_span
from agon.entities.access import folded_id
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.store.session import Session

RESERVED: Final = frozenset({"anonymous", "local", "system", "user"})
"""Ids that no user has: the callers of agon itself, as ledgers and the audit log name them."""

OFFICIAL: Final = frozenset({*ROLES, "admin", "administrator", "agon", "organizer", "root"})
"""Ids that would pass for a role; operators may give them."""


@dataclass(frozen=True, kw_only=True)
class Resemblance:
    """What an operator should know of a new user's id.

    Attributes:
        users: other users whose ids are read as the same.
        contests: the contests whose records name it.
    """

    users: tuple[str, ...]
    contests: tuple[str, ...]


def require_not_reserved(user: str) -> None:
    """Require an id that is none of agon's own; for operators, who may give all others.

    Raises:
        Conflict: it is reserved, or is read as a reserved one.
    """
    if folded_id(user) in _FOLDED_RESERVED:
        raise conflict(user)


def require_free(
    session: Session, user: str, *, vouches: Callable[[Contest], bool] | None = None
) -> None:
    """Require that a newcomer may have an id.

    Args:
        session: the session.
        user: the id.
        vouches: returns whether who invited a person by this id vouches that the records of a
            contest mean this person; None: the newcomer chose the id.

    Raises:
        Conflict: it is reserved, is read as another user's, or records name it of a contest that
            which is not vouched; with one message, which shows nothing of private contests.
    """
    folded = folded_id(user)
    if folded in _FOLDED_RESERVED | _FOLDED_OFFICIAL:
        raise conflict(user)
    if session.access.users_read_as(folded):
        raise conflict(user)
    for no in session.people.contests_with(folded):
        if vouches is None or not vouches(session.contests.by_no(no)):
            raise conflict(user)


def require_same_person(session: Session, contest: Contest, user: str) -> None:
    """Require that a user who joins a contest is the person whom its records name, if any.

    Raises:
        Conflict: the records name the id, and the user never had a token for the contest.
    """
    if session.people.is_named(contest.no, user) and not _had_token(session, contest, user):
        raise Conflict(
            f"the records of {contest.id} name {user!r}, which may be another person; ask its "
            f"organizer for an invitation for the user {user}"
        )


def resemblance(session: Session, user: str) -> Resemblance:
    """Return the users and contests with ids that read as a user's id does."""
    folded = folded_id(user)
    numbers = session.people.contests_with(folded)
    return Resemblance(
        users=tuple(name for name in session.access.users_read_as(folded) if name != user),
        contests=tuple(sorted(session.contests.by_no(no).id for no in numbers)),
    )


def conflict(user: str) -> Conflict:
    """Return the error of an id that cannot be chosen; why is not revealed."""
    return Conflict(f"the user {user!r} is taken; choose another id")


_FOLDED_RESERVED: Final = frozenset(map(folded_id, RESERVED))
_FOLDED_OFFICIAL: Final = frozenset(map(folded_id, OFFICIAL))


def _had_token(session: Session, contest: Contest, user: str) -> bool:
    """Return whether a user has, or had, a token for a contest that lets its holder take part."""
    after = None
    while page := session.access.tokens(user=user, after=after):
        for token in page:
            takes_part = token.session is None and token.role not in {"viewer", "worker"}
            if takes_part and in_span(contest, token.contests):
                return True
        after = page[-1].id
    return False
