"""Ask a panel for its votes, replace judges that fail, and count."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from agon.app.arena.live.answers import new_work
from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.honeypots.memory import memory_of, templates_of
from agon.app.arena.live.matches import copy_of, match_in_work, matches_of
from agon.app.service import Service
from agon.disciplines.arena.rounds.honeypot_memory import HoneypotMemory
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, Work
from agon.entities.contests import Contest
from agon.kernel.times import written_time
from agon.store.session import Session


def advance_votes(
    service: Service, session: Session, contest: Contest, of: ArenaRound, items: Sequence[Work]
) -> tuple[ArenaRound, list[Work]]:
    """Return a round with the votes handed in, and the votes that were assigned now.

    Judges that failed are replaced.

    The next judge in the order of the draw is asked instead. If none is left, the API judge judges
    the whole match, and the votes on it do not count. Votes assigned together have one deadline.

    Args:
        service: the service.
        session: a writing session.
        contest: the contest.
        of: the round.
        items: its votes, waiting or with a result.
    """
    body = copy_of(of)
    changed = replace(of, body=body)
    rules = ArenaRules(**body["rules"])
    memory = memory_of(session, contest, changed)
    deadline = service.clock() + timedelta(seconds=rules.vote_seconds)
    bots = session.arena.bots_named(contest.no, _judges(of))
    new: list[Work] = []
    seed = seed_of(service, contest, of)
    assigned = {item.match: item for item in items}
    for drawn, match in matches_of(changed):
        if match["outcome"] is not None or match["api"]:
            continue
        name_for = partial(match_in_work, seed, drawn["match"])
        own = {
            judge: assigned[name]
            for judge in match["panel"]
            if (name := name_for(judge)) in assigned
        }
        for judge in list(match["panel"]):
            result = own[judge].result if judge in own else None
            if result is not None and "fault" in result:
                reserve = _replace(match, drawn, judge, result["fault"], memory)
                if reserve is not None:
                    body["asked"] = [*body.get("asked", ()), [drawn["match"], reserve]]
        if match["api"]:
            match["votes"] = []
            continue
        for judge in match["panel"]:
            if judge not in own:
                bot = bots.get(judge)  # none: a person
                question = _question(drawn, match, judge, max_chars=rules.max_answer_chars)
                new.append(
                    new_work(service, of, name_for(judge), "vote", judge, bot, question, deadline)
                )
        match["votes"] = [
            _vote(drawn, own[judge])
            for judge in match["panel"]
            if judge in own and own[judge].result is not None
        ]
    session.arena.add_work(new)
    return changed, new


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
    memory: HoneypotMemory,
) -> str | None:
    """Replace a judge; return the reserve that is asked instead, None: there was none left."""
    at = match["panel"].index(judge)
    match["replaced"].append({"judge": judge, **fault})
    known = {*match["panel"], *(each["judge"] for each in match["replaced"])}
    reserves = [reserve for reserve in drawn["reserves"] if reserve not in known]
    if not reserves:
        match["api"] = True
        return None
    templates = templates_of(drawn, match)
    reserve = memory.next_reserve(reserves, templates)
    match["panel"][at] = reserve
    memory.show([reserve], templates)
    return reserve


def _judges(of: ArenaRound) -> set[str]:
    """Return the judges that can be asked about any match of a round."""
    drawn = of.body["draw"]["matches"]
    return {judge for match in drawn for judge in (*match["judges"], *match["reserves"])}


def _question(
    drawn: Mapping[str, Any], match: Mapping[str, Any], judge: str, *, max_chars: int
) -> dict[str, Any]:
    """Return what a judge is asked; it sees the answers in its own order."""
    first = drawn["shown_first"][judge]
    second = "b" if first == "a" else "a"
    return {
        "prompt": match["text"],
        "max_chars": max_chars,
        "answers": {
            "A": match["answers"][first]["text"],
            "B": match["answers"][second]["text"],
        },
    }


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
