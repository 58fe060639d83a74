"""Queue the next steps of an arena's rounds, and what a contest that goes on left open."""

from datetime import datetime

from agon.app.queue.jobs import round_job
from agon.app.service import Service
from agon.entities.contests import Contest
from agon.store.session import Session

_MOST = 1000
"""Maximum number of jobs that are queued again."""


def queue_next(service: Service, session: Session, contest: Contest) -> None:
    """Queue the next automatic round of an arena, if there are any; one that is queued stays."""
    if service.round_pause is None or contest.is_over:
        return
    now = service.clock()
    time = now + service.round_pause
    session.queue.add(round_job(contest, id=service.new_id(), not_before=time), now=now)


def queue_played(
    service: Service, session: Session, contest: Contest, *, ask: bool = False, by: str
) -> None:
    """Queue the next step of the round that is being played, if there is one."""
    for played in session.arena.rounds(contest.no, limit=1):
        if played.phase != "settled":
            job = round_job(contest, id=service.new_id(), round_id=played.id, ask=ask, by=by)
            session.queue.add(job, now=service.clock())


def resume(
    service: Service, session: Session, contest: Contest, *, since: datetime, by: str
) -> None:
    """Let a contest that took nothing since a time go on where it was.

    Its open work has its whole time again, its round goes on, and programs are judged whose
    verdicts were refused meanwhile.
    """
    now = service.clock()
    session.arena.restart_work(contest.no, now=now)
    queue_played(service, session, contest, ask=True, by=by)
    if session.arena.bots(contest.no):
        queue_next(service, session, contest)
    failed = session.queue.page(
        contest_no=contest.no, states=("failed",), kinds=("judge", "trial", "gate"), limit=_MOST
    )
    for job in failed:
        if job.ended_at is not None and job.ended_at >= since:
            session.queue.retry(job.id, now=now)
