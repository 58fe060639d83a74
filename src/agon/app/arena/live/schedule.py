"""Plan the automatic rounds of arenas: setting ``arena_round_minutes`` after the one before."""

from collections.abc import Iterator
from typing import Final

from agon.app.queue.rounds import queue_next
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.contests import Contest
from agon.entities.jobs import Job
from agon.store.session import Session

_PAGE: Final = 500


def due_round(session: Session, contest: Contest) -> Job | None:
    """Return the job that begins the next round by itself; None: none is due."""
    queued = session.queue.page(contest_no=contest.no, kinds=("round",), states=("queued",))
    return next((job for job in queued if job.payload["automatic"]), None)


def plan_rounds(service: Service) -> None:
    """Let the setting in force hold for the rounds that are due already.

    A server, and a worker that runs rounds, call it when they start, because the operator may have
    changed the setting: the next round of each arena with bots begins so long after the one before,
    at once if that is past; none begins by itself where automatic rounds are off.
    """
    with service.store.write() as session:
        for contest in _contests(session):
            due = due_round(session, contest)
            if due is None:
                if session.arena.bots(contest.no):
                    queue_next(service, session, contest)
            elif service.round_pause is None or contest.is_over:
                session.queue.cancel(due.id, now=service.clock())
            else:
                # A clock that ran ahead when the round was queued delays it no more than one now.
                queued_at = min(due.created_at, service.clock())
                session.queue.move(due.id, not_before=queued_at + service.round_pause)


def _contests(session: Session) -> Iterator[Contest]:
    """Yield all arenas."""
    last: str | None = None
    while page := session.contests.page(after=last, limit=_PAGE):
        yield from (
            contest
            for contest in page
            if issubclass(discipline(contest.discipline).rules, ArenaRules)
        )
        last = page[-1].id
