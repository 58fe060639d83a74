"""Hand out the work of those who ask for it, and take in what they hand in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from agon.app.arena.live.entrants.bots import is_own, own_bot
from agon.app.arena.live.entrants.people import user_of
from agon.app.arena.live.network.results import (
    LABELS,
    answer_result,
    body_at,
    fault_result,
    save_result,
    stated_version,
)
from agon.app.contests.ingest.openness import require_not_withdrawn
from agon.app.service import Service
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.access import Caller
from agon.entities.arena import LiveBot, Presence, Work
from agon.entities.contests import Contest
from agon.errors import Conflict, Gone, NotFound, Unreadable
from agon.kernel.times import written_time
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

MAX_DETAIL: Final = 200
"""Maximum length of the error that a bot states, in characters."""


@dataclass(frozen=True, kw_only=True)
class HandIn:
    """What is handed in: exactly one of text, vote and error, and the bot's version."""

    text: str | None = None
    vote: str | None = None
    error: str | None = None
    version: str | None = None


class DeadlinePassed(Gone):
    """Work was handed in after its deadline."""

    code = "deadline-passed"


class LeftPool(Gone):
    """A vote was handed in by a judge who fell below the threshold meanwhile."""

    code = "left-pool"


def work_of_bot(
    service: Service, contest_id: str, bot_id: str, *, by: Caller
) -> list[Mapping[str, Any]]:
    """Return the open work of a bot, oldest first.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
        Conflict: the bot has an endpoint, to which its work is sent, or organizers withdrew the
            caller.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        bot = own_bot(session, contest, bot_id, by=by)
        require_not_withdrawn(session, contest, by)
        if bot.endpoint is not None:
            raise Conflict(f"the work of {bot_id} is sent to its endpoint; answer it there")
        return _bodies(service, session, contest, bot_id)


def work_of_judge(service: Service, contest_id: str, *, by: Caller) -> list[Mapping[str, Any]]:
    """Return the votes that a person or another judge has to cast now, oldest first.

    Who asks counts as present, and only those who are present are drawn. Asking adds nothing to the
    ledger: the round that can draw someone with the role judge records a new judge; others are
    judges if a record says so.

    Raises:
        Unreadable: the caller is not a user.
        Conflict: organizers withdrew the caller.
    """
    judge = user_of(by)
    asking = Presence(id=judge, network=by.network, as_judge=by.role == "judge")
    with service.store.write() as session:
        contest = session.contests.get(contest_id)
        require_not_withdrawn(session, contest, by)
        session.arena.record_presence(contest.no, asking, service.clock())
        return _bodies(service, session, contest, judge)


def hand_in(
    service: Service, contest: Contest, work_id: str, handed_in: HandIn, *, by: Caller
) -> Mapping[str, Any]:
    """Store an answer or a vote; return what was accepted.

    The same body again has the same effect as once.

    Raises:
        NotFound: there is no such work, or it is another's.
        Unreadable: it is not exactly one of text, vote and error, or not what the work asks for.
        DeadlinePassed: it is too late.
        Conflict: something else was handed in before.
    """
    _require_one(handed_in)
    body = orjson.dumps(vars(handed_in)).decode()
    with service.store.write() as session:
        item, bot = session.arena.lock_work(work_id)
        _require_own(contest, item, bot, by)
        now = service.clock()
        result = _result(item, handed_in)
        if item.handed_in is None:
            require_not_over(contest, remedy="no more rounds are played")
        if item.handed_in is None and now <= item.deadline:
            done = replace(item, result=result, result_at=now, handed_in=body)
            if save_result(service, session, contest, done):
                return _receipt(done)
            item = session.arena.work(work_id)
        if item.handed_in == body:
            return _receipt(item)
        if item.handed_in is not None:
            raise Conflict(
                f"something else was handed in for {work_id}; the first counts, ask for new work"
            )
        fault = (item.result or {}).get("fault", {})
        if fault.get("code") == "fell-below":
            raise LeftPool(f"your credibility {fault['detail']}; another judge votes instead")
        raise DeadlinePassed(
            f"the deadline of {work_id} was {written_time(item.deadline)}; ask for new work"
        )


def _receipt(item: Work) -> dict[str, Any]:
    result: Mapping[str, Any] = item.result or {}
    return {
        "id": item.id,
        "kind": item.kind,
        "match": item.match,
        "accepted": "fault" not in result,
        "cut": bool(result.get("cut", False)),
    }


def _bodies(
    service: Service, session: Session, contest: Contest, assignee: str
) -> list[Mapping[str, Any]]:
    """Return work as the assignee gets it, with the time that remains; none once it is over."""
    now = service.clock()
    waiting = [] if contest.is_over else session.arena.waiting_work(contest.no, assignee, now=now)
    return [body_at(item, now) for item in waiting]


def _require_own(contest: Contest, item: Work, bot: LiveBot | None, by: Caller) -> None:
    """Raise NotFound unless the work is of this contest and of the caller."""
    if item.contest_no == contest.no:
        if by.user is not None and by.user == item.assignee:
            return
        if bot is not None and is_own(bot, contest, by):
            return
    raise NotFound(f"you have no work {item.id!r}; ask for the work that waits")


def _require_one(handed_in: HandIn) -> None:
    stated = [name for name in ("text", "vote", "error") if getattr(handed_in, name) is not None]
    if len(stated) != 1:
        raise Unreadable(
            f"expected one of text, vote and error, got {', '.join(stated) or 'none'}; send one"
        )


def _result(item: Work, handed_in: HandIn) -> dict[str, Any]:
    if handed_in.error is not None:
        return fault_result(Fault("bot", "refused-work", handed_in.error[:MAX_DETAIL]))
    if item.kind == "answer":
        if handed_in.text is None:
            raise Unreadable(f'{item.id} asks for an answer; send {{"text": "…"}}')
        return answer_result(handed_in.text, item, version=handed_in.version)
    if handed_in.vote not in LABELS:
        raise Unreadable(f'{item.id} asks for a vote; send {{"vote": "A"}} or {{"vote": "B"}}')
    return {"vote": handed_in.vote, **stated_version(handed_in.version)}
