"""Lock a contest for a change by a caller who may make it."""

from typing import Final

from agon.app.access.permissions import allow, viewed
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Unreadable
from agon.store.session import Session

MAX_REASON_CHARACTERS: Final = 2_000


def lock_managed(
    session: Session, contest_id: str, by: Caller, action: str = "contest.manage"
) -> Contest:
    """Lock a contest and return it, if the caller may do the action to it.

    Raises:
        Forbidden, Unauthenticated: the caller may not.
        NotFound: there is no such contest, or none the caller may see.
    """
    contest = viewed(session, contest_id, by).contest
    allow(by, action, contest=contest)
    return session.contests.lock(contest_id)


def require_reason(reason: str) -> None:
    """Require the reason of a change that participants will ask about.

    Raises:
        Unreadable: it is empty or too long.
    """
    if not 0 < len(reason.strip()) <= MAX_REASON_CHARACTERS:
        raise Unreadable(f"the reason has 1 to {MAX_REASON_CHARACTERS:,} characters; say why")
