"""Make the result of work out of a reply, a text or a fault, and store it once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from agon.app.arena.live.network.transport import BotReply
from agon.app.queue.jobs import round_job
from agon.app.service import Service
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.arena import Work
from agon.entities.contests import Contest
from agon.kernel.times import written_time
from agon.store.session import Session

LABELS: Final = ("A", "B")
"""The labels that a judge chooses from."""

MAX_VERSION: Final = 100
"""Maximum length of a version, in characters."""


def seconds_left(item: Work, now: datetime) -> float:
    """Return the seconds until the deadline of work; of what a clock made that ran ahead, all."""
    return (min(item.deadline, now + (item.deadline - item.created_at)) - now).total_seconds()


def body_at(item: Work, now: datetime) -> dict[str, Any]:
    """Return work as its assignee gets it at a time, with the time that remains."""
    seconds = seconds_left(item, now)
    deadline = written_time(now + timedelta(seconds=seconds), to="milliseconds")
    return {**item.body, "deadline": deadline, "deadline_ms": round(seconds * 1000)}


def reply_result(reply: BotReply, item: Work) -> dict[str, Any]:
    """Return the result that a reply makes: the answer, cut to its length, the vote, or a fault."""
    if item.kind == "vote":
        if reply.vote not in LABELS:
            return fault_result(Fault("bot", "invalid", 'the vote is not "A" or "B"'))
        return {"vote": reply.vote, **stated_version(reply.version)}
    if reply.text is None:
        return fault_result(Fault("bot", "invalid", "the reply has no text"))
    return answer_result(reply.text, item, version=reply.version)


def answer_result(text: str, item: Work, *, version: str | None) -> dict[str, Any]:
    """Return the result that an answer makes; a longer one than allowed is cut, and marked so."""
    limit = item.body["max_chars"]
    if not text.strip():
        return fault_result(Fault("bot", "empty"))
    return {"text": text[:limit], "cut": len(text) > limit, **stated_version(version)}


def fault_result(fault: Fault) -> dict[str, Any]:
    """Return a fault as the result of the work, in place of an answer."""
    return {"fault": {"owner": fault.owner, "code": fault.code, "detail": fault.detail}}


def expire(item: Work, now: datetime) -> Work:
    """Return work that was not handed in before its deadline, with the fault as its result."""
    fault = (
        Fault("ours", "ours-worker", "no worker asked in time")
        if item.pushed
        else Fault("bot", "late", "nothing was handed in before the deadline")
    )
    return replace(item, result=fault_result(fault), result_at=now)


def stop(item: Work, now: datetime) -> Work:
    """Return work of someone whom organizers withdrew, with the fault as its result."""
    fault = Fault("bot", "refused-work", "organizers withdrew who was asked from the contest")
    return replace(item, result=fault_result(fault), result_at=now)


def save_result(service: Service, session: Session, contest: Contest, done: Work) -> bool:
    """Store the result of work whose round is locked, unless it has one.

    The last one of its round queues the next step, and so does a vote by which a judge can leave
    the pool before it has cast all its votes.

    Returns:
        Whether it had none.
    """
    stored = session.arena.set_result(done)
    goes_on = stored.is_last or (
        done.kind == "vote" and stored.is_stored and session.arena.can_fall(contest.no, done.round)
    )
    if goes_on:
        job = round_job(contest, id=service.new_id(), round_id=done.round)
        session.queue.add(job, now=service.clock())
    return stored.is_stored


def store_results(service: Service, contest: Contest, done: Sequence[Work]) -> None:
    """Store the results of work of one round in one session; a result that exists stays.

    The job that asked for them goes on with the round when it is completed.
    """
    with service.store.write() as session:
        session.arena.require_lock(contest.no, done[0].round)
        saved = session.arena.set_results(done)
        latencies = {
            each.assignee: each.latency_ms for each in saved if each.latency_ms is not None
        }
        session.arena.set_latencies(contest.no, latencies)


def stated_version(version: str | None) -> Mapping[str, str]:
    """Return the bot's version from its reply, as a part of the result; empty if it is not valid.

    Example:
        >>> stated_version("1.4"), stated_version(None), stated_version("x" * 101)
        ({'version': '1.4'}, {}, {})
    """
    usable = version and len(version) <= MAX_VERSION and version.isprintable()
    return {"version": version} if version and usable else {}
