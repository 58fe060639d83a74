"""Ask a panel for its votes, replace judges that fail, and count."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from agon.app.arena.live.answers import new_work
from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.honeypots.memory import memory_of, templates_of
from agon.app.arena.live.matches import copy_of, match_in_work, matches_of, side_of
from agon.app.arena.live.network.results import fault_result
from agon.app.service import Service
from agon.disciplines.arena.rounds.falls import JudgedMatch, fallen_judges, worst_change
from agon.disciplines.arena.rounds.faults import Fault
from agon.disciplines.arena.rounds.honeypot_memory import HoneypotMemory
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, Work
from agon.entities.contests import Contest
from agon.kernel.times import written_time
from agon.store.session import Session


def advance_votes(
    service: Service,
    session: Session,
    contest: Contest,
    arena_round: ArenaRound,
    items: Sequence[Work],
) -> tuple[ArenaRound, list[Work]]:
    """Return a round with the votes handed in, and the votes that were assigned now.

    Judges that failed are replaced, and those who fell below the threshold by their other votes of
    the round before they voted here.

    The next judge in the order of the draw is asked instead. If none is left, the API judge judges
    the whole match, and the votes on it do not count. Votes assigned together have one deadline.

    Args:
        service: the service.
        session: a writing session.
        contest: the contest.
        arena_round: the round.
        items: its votes, waiting or with a result.
    """
    body = copy_of(arena_round)
    changed = replace(arena_round, body=body)
    rules = ArenaRules(**body["rules"])
    memory = memory_of(session, contest, changed)
    deadline = service.clock() + timedelta(seconds=rules.vote_seconds)
    bots = session.arena.bots_named(contest.no, _judges(arena_round))
    new: list[Work] = []
    seed = seed_of(service, contest, arena_round)
    assigned = {item.match: item for item in items}
    open_matches = [
        _OpenMatch(drawn, match, seed, assigned)
        for drawn, match in matches_of(changed)
        if match["outcome"] is None and not match["api"]
    ]
    asked = _replace_failed(open_matches, memory)
    asked += _replace_fallen(service, session, changed, open_matches, memory)
    for each in open_matches:
        each.count_votes()
        for judge in () if each.match["api"] else each.match["panel"]:
            if each.work_of(judge) is None:
                bot = bots.get(judge)  # none: a person
                question = _question(
                    each.drawn, each.match, judge, max_chars=rules.max_answer_chars
                )
                name = each.name_for(judge)
                new.append(
                    new_work(service, arena_round, name, "vote", judge, bot, question, deadline)
                )
    if asked:
        body["asked"] = [*body.get("asked", ()), *asked]
    body["can_fall"] = _can_fall(changed, rules)
    session.arena.add_work(new)
    return changed, new


def _replace_failed(matches: "Sequence[_OpenMatch]", memory: HoneypotMemory) -> list[list[str]]:
    """Replace the judges that failed, count the votes, and return who was asked instead."""
    asked: list[list[str]] = []
    for each in matches:
        for judge in list(each.match["panel"]):
            result = each.result_of(judge)
            if result is not None and "fault" in result:
                asked += _replace(each, judge, result["fault"], memory)
        each.count_votes()
    return asked


class _OpenMatch:
    """A match whose panel votes, with the work of its judges."""

    def __init__(
        self, drawn: Mapping[str, Any], match: dict[str, Any], seed: str, work: Mapping[str, Work]
    ) -> None:
        self.drawn = drawn
        self.match = match
        self.name_for = partial(match_in_work, seed, drawn["match"])
        self._work = work

    def work_of(self, judge: str) -> Work | None:
        """Return the vote that a judge was asked for."""
        return self._work.get(self.name_for(judge))

    def result_of(self, judge: str) -> Mapping[str, Any] | None:
        """Return what a judge handed in; None: nothing yet."""
        item = self.work_of(judge)
        return None if item is None else item.result

    def count_votes(self) -> None:
        """Note the votes of the panel; none where the API judge judges."""
        self.match["votes"] = [
            _vote(self.drawn, item)
            for judge in (() if self.match["api"] else self.match["panel"])
            if (item := self.work_of(judge)) is not None
            and item.result is not None
            and "fault" not in item.result
        ]


def is_judged(arena_round: ArenaRound) -> bool:
    """Return whether each match has all its votes, an outcome without any, or the API judge."""
    size = ArenaRules(**arena_round.body["rules"]).judges_per_match
    return all(
        match["outcome"] is not None or match["api"] or len(match["votes"]) == size
        for match in arena_round.body["matches"]
    )


def _replace(
    open_match: _OpenMatch, judge: str, fault: Mapping[str, Any], memory: HoneypotMemory
) -> list[list[str]]:
    """Replace a judge; return the match with the reserve that is asked instead, if one is left.

    Otherwise the API judge judges the match.
    """
    drawn, match = open_match.drawn, open_match.match
    index, reserves = match["panel"].index(judge), _reserves(open_match)
    match["replaced"].append({"judge": judge, **fault})
    if not reserves:
        match["api"] = True
        return []
    templates = templates_of(drawn, match)
    reserve = memory.next_reserve(reserves, templates)
    match["panel"][index] = reserve
    memory.show([reserve], templates)
    return [[drawn["match"], reserve]]


def _reserves(open_match: _OpenMatch) -> list[str]:
    """Return the reserves that were not asked yet."""
    known = {*open_match.match["panel"], *(each["judge"] for each in open_match.match["replaced"])}
    return [reserve for reserve in open_match.drawn["reserves"] if reserve not in known]


def _replace_fallen(
    service: Service,
    session: Session,
    arena_round: ArenaRound,
    matches: Sequence[_OpenMatch],
    memory: HoneypotMemory,
) -> list[list[str]]:
    """Replace judges who fell below the threshold in this round where they have not voted yet.

    A reserve who fell, too, is asked for no vote, but for the next reserve. Where none is left the
    judge keeps its seat, and the match states it.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    judged = [
        JudgedMatch(
            match=drawn["match"],
            real=drawn["honeypot_real"],
            sides={vote["judge_id"]: side_of(vote) for vote in match["votes"]},
        )
        for drawn, match in matches_of(arena_round)
        if len(match["votes"]) == rules.judges_per_match
    ]
    fell = fallen_judges(arena_round.body.get("credibility", {}), judged, rules=rules)
    asked, withdrawn = [], []
    for each in matches:
        for seat in list(each.match["panel"]) if fell and not each.match["api"] else ():
            judge = seat
            while judge in fell and each.result_of(judge) is None:
                if not set(_reserves(each)).difference(fell):
                    kept = each.match.setdefault("kept", [])
                    kept += [judge] if judge not in kept else []
                    break
                fault = fault_result(Fault("bot", "fell-below", _why(fell[judge], rules)))
                item = each.work_of(judge)
                if item is not None:
                    withdrawn.append(replace(item, result=fault, result_at=service.clock()))
                asked += _replace(each, judge, fault["fault"], memory)
                judge = asked[-1][1]
    session.arena.set_results(withdrawn)
    return asked


def _why(match: str, rules: ArenaRules) -> str:
    return f"fell below {rules.credibility_active} by match {match}"


def _can_fall(arena_round: ArenaRound, rules: ArenaRules) -> bool:
    """Return whether a judge can leave the pool by its votes before it has cast all of them."""
    loss: Counter[str] = Counter()
    for drawn, match in matches_of(arena_round):
        if match["outcome"] is None and not match["api"]:
            worst = worst_change(is_honeypot=drawn["honeypot_real"] is not None, rules=rules)
            loss.update(dict.fromkeys(match["panel"], worst))
    credibility = arena_round.body.get("credibility", {})
    return any(
        judge in credibility and credibility[judge] - lost < rules.credibility_active
        for judge, lost in loss.items()
    )


def _judges(arena_round: ArenaRound) -> set[str]:
    """Return the judges that can be asked about any match of a round."""
    drawn = arena_round.body["draw"]["matches"]
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
