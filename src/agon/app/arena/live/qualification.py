"""Let a bot qualify: it and a person answer one prompt, and a panel picks the more human answer."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from agon.app.arena.live.beginning import commit, round_name
from agon.app.arena.live.bots import own_bot
from agon.app.arena.live.scored import live_rules
from agon.app.queue.jobs import round_job
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.jobs import NewJob
from agon.errors import Conflict
from agon.kernel.times import written_time
from agon.store.session import Session


def begin(service: Service, contest_id: str, bot_id: str, *, by: Caller) -> NewJob:
    """Return the job that begins an attempt; one an hour, those without a verdict do not count.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
        Conflict: it tried within the last hour, or there is no human answer.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        bot = own_bot(session, contest, bot_id, by=by)
        require_possible(service, session, contest, bot.id)
    job = round_job(contest, id=service.new_id(), by=by.name)
    payload = {**job.payload, "qualify": bot_id}
    return replace(job, payload=payload, dedupe=f"qualify:{contest.no}:{bot_id}")


def require_possible(service: Service, session: Session, contest: Contest, bot_id: str) -> None:
    """Raise Conflict unless a bot may try to qualify now."""
    bot, rules = session.arena.bot(contest.no, bot_id), live_rules(contest)
    if bot.attempted_at is not None:
        again = bot.attempted_at + timedelta(minutes=rules.qualification_interval_minutes)
        if service.clock() < again:
            raise Conflict(
                f"{bot_id} tried to qualify at {written_time(bot.attempted_at)}; try again at "
                f"{written_time(again)}"
            )
    if not session.arena.human_answers(contest.no):
        raise Conflict("the contest has no human answers; add some with POST /human-answers")


def commit_qualification(
    service: Service,
    session: Session,
    payload: Mapping[str, Any],
    scores: Mapping[str, Any],
    *,
    by: str,
) -> Mapping[str, Any]:
    """Commit to the seed of an attempt, and queue its draw; return the job's result."""
    contest, bot_id = session.contests.lock(payload["contest"]), payload["qualify"]
    require_possible(service, session, contest, bot_id)
    bot = session.arena.bot(contest.no, bot_id)
    session.arena.save_bot(replace(bot, attempted_at=service.clock()))
    number = session.arena.last_number(contest.no) + 1
    answers = session.arena.human_answers(contest.no)
    body = {
        "at": scores["at"],
        "seq": scores["seq"],
        "rules": live_rules(contest).model_dump(mode="json"),
        "inputs": {
            "name": round_name(number),
            "at": scores["at"],
            "bot": bot_id,
            "owner_id": bot.owner_id,
            "judges": scores["judges"],
            "answers": [answer.id for answer in answers],
        },
    }
    return commit(service, session, contest, "qualification", number, body, by=by)
