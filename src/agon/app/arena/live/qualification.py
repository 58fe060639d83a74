"""Let a bot qualify: it and a person answer one prompt, and a panel picks the more human answer."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.arena.live.beginning import commit
from agon.app.arena.live.entrants.bots import own_bot
from agon.app.arena.live.entrants.people import record_people
from agon.app.arena.live.matches import matches_of
from agon.app.arena.live.names import next_name, played_elsewhere
from agon.app.arena.live.scored import live_rules
from agon.app.arena.live.settlement import is_uncounted, winner_of
from agon.app.queue.jobs import round_job
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.arena import LiveBot, RoundState
from agon.entities.arena_reports import AttemptState, AttemptStatus
from agon.entities.contests import Contest
from agon.entities.jobs import NewJob
from agon.errors import Conflict
from agon.kernel.times import written_time
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

MAX_ATTEMPTS: Final = 500
"""Number of a contest's attempts among which the last one of a bot is searched."""


def status(service: Service, view: View, bot_id: str, *, by: Caller) -> AttemptStatus:
    """Return how a bot's last attempt to qualify stands.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
    """
    contest = view.contest
    with service.store.read() as session:
        bot = own_bot(session, contest, bot_id, by=by)
        next_at = next_attempt_at(bot, contest, now=service.clock())
        last = session.arena.newest_attempt(contest.no, bot_id, limit=MAX_ATTEMPTS)
        if last is None:
            return AttemptStatus(state="none", next_attempt_at=next_at)
        state: AttemptState = "playing"
        cause = None
        if last.phase == "settled":
            ((_, match),) = tuple(matches_of(session.arena.round(contest.no, last.id)))
            state = _verdict(match)
            cause = _cause(match) if state == "no-verdict" else None
    return AttemptStatus(
        state=state,
        attempt=last.id,
        began_at=last.began_at,
        waits_for=_obstacle(last),
        cause=cause,
        next_attempt_at=next_at,
    )


def _verdict(match: Mapping[str, Any]) -> AttemptState:
    if is_uncounted(match):
        return "no-verdict"
    is_picked = match["outcome"] is None and winner_of(match["votes"]) == "a"
    return "qualified" if is_picked else "not-qualified"


def _cause(match: Mapping[str, Any]) -> str | None:
    """Return why an attempt has no verdict."""
    for reason in ("unjudged", "undecided"):
        if reason in match:
            return str(match[reason])
    return next((f"{fault['code']} {fault['detail']}".strip() for fault in match["faults"]), None)


def _obstacle(state: RoundState) -> str | None:
    """Return what an attempt waits for."""
    missing = state.summary["missing_votes"]
    if state.phase == "settled":
        return None
    if state.phase == "committed":
        return "its draw by a worker"
    if state.phase == "answering":
        return "the answer of the bot"
    if state.phase == "voting":
        return f"{missing} {'vote' if missing == 1 else 'votes'} of its panel"
    return state.summary["waits_for"] or "the vote of a model"


def next_attempt_at(bot: LiveBot, contest: Contest, *, now: datetime) -> datetime | None:
    """Return from when a bot may try to qualify; None: now.

    An attempt that a clock timed while it ran ahead keeps nobody waiting once the clock is right.
    """
    if bot.attempted_at is None or bot.attempted_at > now:
        return None
    minutes = live_rules(contest).qualification_interval_minutes
    again = bot.attempted_at + timedelta(minutes=minutes)
    return again if again > now else None


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
    require_not_over(contest, remedy="no bot qualifies any more")
    bot = session.arena.bot(contest.no, bot_id)
    again = next_attempt_at(bot, contest, now=service.clock())
    if bot.attempted_at is not None and again is not None:
        raise Conflict(
            f"{bot_id} tried to qualify at {written_time(bot.attempted_at)}; try again at "
            f"{written_time(again)}"
        )
    if (elsewhere := played_elsewhere(session, contest)) is not None:
        raise Conflict(elsewhere)
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
    contest = record_people(service, session, contest, scores["people"])
    bot = session.arena.bot(contest.no, bot_id)
    session.arena.save_bot(replace(bot, attempted_at=service.clock()))
    number, name = next_name(session, contest, "qualification")
    answers = session.arena.human_answers(contest.no)
    body = {
        "at": scores["at"],
        "seq": scores["seq"],
        "rules": live_rules(contest).model_dump(mode="json"),
        "inputs": {
            "name": name,
            "at": scores["at"],
            "bot": bot_id,
            "owner_id": bot.owner_id,
            "judges": scores["judges"],
            "answers": [answer.id for answer in answers],
            **{name: scores[name] for name in ("networks", "newcomers") if scores[name]},
        },
    }
    return commit(service, session, contest, "qualification", number, body, by=by)
