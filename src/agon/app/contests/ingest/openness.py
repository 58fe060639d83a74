"""Decide whether a contest takes records now: until it is over, of participants while it runs.

A person can have a later end than the contest, or be withdrawn (``agon.app.contests.members``).
"""

from datetime import datetime
from typing import Final

from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.members import MemberTerms
from agon.errors import Conflict
from agon.kernel.times import written_time
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

_STAFF: Final = frozenset({"organiser", "operator"})
"""The roles that add records at any time before a contest is final."""


def require_open(service: Service, session: Session, contest: Contest, by: Caller) -> None:
    """Raise unless the contest takes records from the caller.

    Raises:
        Conflict: it is final or void, or ``by`` is not an organizer and it is a draft, has not
            started, or has ended; or the caller is withdrawn.
    """
    require_not_over(contest)
    if by.role in _STAFF:
        return
    terms = require_not_withdrawn(session, contest, by)
    if contest.state == "draft":
        raise Conflict(f"{contest.id} is not open yet; wait until its organizer opens it")
    if contest.starts_at is not None or contest.ends_at is not None:
        _require_running(contest, terms, now=service.clock())


def require_not_withdrawn(session: Session, contest: Contest, by: Caller) -> MemberTerms | None:
    """Return the caller's own terms, if any; raise where organizers withdrew the caller.

    Raises:
        Conflict: the caller is withdrawn, and is no organizer.
    """
    terms = None if by.user is None else session.members.terms(contest.no, by.user)
    if by.role in _STAFF or terms is None or terms.withdrawn_at is None:
        return terms
    raise Conflict(
        f"{by.user} is withdrawn from {contest.id} since {written_time(terms.withdrawn_at)} "
        f"({terms.reason}); ask its organizers"
    )


def _require_running(contest: Contest, terms: MemberTerms | None, *, now: datetime) -> None:
    """Raise unless participants may add to a contest at a time: from its start, before its end.

    Raises:
        Conflict: it has not started, or it has ended.
    """
    if contest.starts_at is not None and now < contest.starts_at:
        raise Conflict(
            f"{contest.id} starts at {written_time(contest.starts_at)}; send it from then on"
        )
    ends_at = contest.ends_at
    if ends_at is not None and terms is not None and terms.ends_at is not None:
        ends_at = max(ends_at, terms.ends_at)
    if ends_at is not None and now >= ends_at:
        whose = "" if ends_at == contest.ends_at else " for you"
        raise Conflict(
            f"{contest.id} ended{whose} at {written_time(ends_at)}; only its organizers can still "
            "add to it"
        )
