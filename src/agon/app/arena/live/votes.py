"""Ask a panel for its votes, replace judges that fail, and count."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any

from agon.app.arena.live.answers import new_work
from agon.app.arena.live.matches import matches_of
from agon.app.arena.live.memory import Memory, templates_of
from agon.app.service import Service
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot, Work
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.kernel.times import written_time
from agon.store.session import Session


def advance_votes(
    service: Service, session: Session, contest: Contest, of: ArenaRound, items: Sequence[Work]
) -> ArenaRound:
    """Return a round with the votes handed in; judges that failed are replaced.

    The next judge in the order of the draw is asked instead. If none is left, the API judge judges
    the whole match, and the votes on it do not count.

    Args:
        service: the service.
        session: a writing session.
        contest: the contest.
        of: the round.
        items: its votes, waiting or with a result.
    """
    body = deepcopy(dict(of.body))
    changed = replace(of, body=body)
    rules = ArenaRules(**body["rules"])
    memory = Memory(session, contest, changed)
    by_match: dict[str, dict[str, Work]] = {}
    for item in items:
        by_match.setdefault(item.match, {})[item.assignee] = item
    for drawn, match in matches_of(changed):
        if match["outcome"] is not None or match["api"]:
            continue
        own = by_match.get(drawn["match"], {})
        for judge in list(match["panel"]):
            result = own[judge].result if judge in own else None
            if result is not None and "fault" in result:
                _replace(match, drawn, judge, result["fault"], memory)
        if match["api"]:
            match["votes"] = []
            continue
        for judge in match["panel"]:
            if judge not in own:
                _assign(service, session, contest, changed, drawn, match, judge, rules)
        match["votes"] = [
            _vote(drawn, own[judge])
            for judge in match["panel"]
            if judge in own and own[judge].result is not None
        ]
    return changed


def is_judged(of: ArenaRound) -> bool:
    """Return whether each match has all its votes, an outcome without any, or the API judge."""
    size = ArenaRules(**of.body["rules"]).judges_per_match
    return all(
        match["outcome"] is not None or match["api"] or len(match["votes"]) == size
        for match in of.body["matches"]
    )


def _replace(
    match: dict[str, Any],
    drawn: Mapping[str, Any],
    judge: str,
    fault: Mapping[str, Any],
    memory: Memory,
) -> None:
    """Replace a judge by the next in the draw who has not seen the templates of a honeypot."""
    at = match["panel"].index(judge)
    match["replaced"].append({"judge": judge, **fault})
    known = {*match["panel"], *(each["judge"] for each in match["replaced"])}
    reserves = [reserve for reserve in drawn["reserves"] if reserve not in known]
    templates = templates_of(drawn, match)
    new = [each for each in reserves if not set(templates) & set(memory.seen([each]))]
    if reserves:
        match["panel"][at] = (new or reserves)[0]
        memory.show(match["panel"][at : at + 1], templates)
    else:
        match["api"] = True


def _assign(
    service: Service,
    session: Session,
    contest: Contest,
    of: ArenaRound,
    drawn: Mapping[str, Any],
    match: Mapping[str, Any],
    judge: str,
    rules: ArenaRules,
) -> None:
    """Assign a vote; a judge sees the answers in its own order."""
    first = drawn["shown_first"][judge]
    second = "b" if first == "a" else "a"
    bot: LiveBot | None = None
    with suppress(NotFound):  # a person
        bot = session.arena.bot(contest.no, judge)
    deadline = service.clock() + timedelta(seconds=rules.vote_seconds)
    body = {
        "prompt": match["text"],
        "max_chars": rules.max_answer_chars,
        "answers": {
            "A": match["answers"][first]["text"],
            "B": match["answers"][second]["text"],
        },
    }
    item = new_work(service, of, drawn["match"], "vote", judge, bot, body, deadline)
    session.arena.add_work([item])


def _vote(drawn: Mapping[str, Any], item: Work) -> dict[str, Any]:
    result: Mapping[str, Any] = item.result or {}
    if item.result_at is None:
        raise RuntimeError(f"the work {item.id} has a result and no time")
    return {
        "judge_id": item.assignee,
        "shown_first": drawn["shown_first"][item.assignee],
        "vote": result["vote"],
        "voted_at": written_time(item.result_at),
    }
