"""Decide whether a contest takes records now: until it is final, of participants as it runs."""

from datetime import datetime

from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.kernel.times import written_time


def require_open(service: Service, contest: Contest, by: Caller) -> None:
    """Raise unless the contest takes records from the caller.

    Raises:
        Conflict: it is final, or ``by`` is not an organizer and it is a draft, has not started, or
            has ended.
    """
    require_not_final(contest)
    if by.role in {"organiser", "operator"}:
        return
    if contest.state == "draft":
        raise Conflict(f"{contest.id} is not open yet; wait until its organizer opens it")
    if contest.starts_at is not None or contest.ends_at is not None:
        _require_running(contest, now=service.clock())


def require_not_final(contest: Contest) -> None:
    """Raise unless a contest takes records.

    Raises:
        Conflict: it is final.
    """
    if contest.state == "final":
        raise Conflict(
            f"{contest.id} is final and takes no records; propose a change set to correct it"
        )


def _require_running(contest: Contest, *, now: datetime) -> None:
    """Raise unless participants may add to a contest at a time: from its start, before its end.

    Raises:
        Conflict: it has not started, or it has ended.
    """
    if contest.starts_at is not None and now < contest.starts_at:
        raise Conflict(
            f"{contest.id} starts at {written_time(contest.starts_at)}; send it from then on"
        )
    if contest.ends_at is not None and now >= contest.ends_at:
        raise Conflict(
            f"{contest.id} ended at {written_time(contest.ends_at)}; only its organizers can still "
            "add to it"
        )
