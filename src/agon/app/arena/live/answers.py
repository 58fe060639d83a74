"""Ask both bots of each match at the same time, and decide what their answers make of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.earlier_answers import author_of
from agon.app.arena.live.honeypots.texts import HoneypotTexts
from agon.app.arena.live.matches import SIDES, copy_of, match_in_work, matches_of
from agon.app.arena.live.network.pinging import PROTOCOL
from agon.app.service import Service
from agon.disciplines.arena.checks.plagiarism import EarlierAnswers, are_copies
from agon.disciplines.arena.rounds.commitment import drawing_seed
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot, Work
from agon.entities.contests import Contest
from agon.kernel.times import written_time
from agon.store.session import Session


def assign_answers(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> datetime:
    """Assign an answer to both bots of each match; return the deadline."""
    rules = ArenaRules(**arena_round.body["rules"])
    deadline = service.clock() + timedelta(seconds=rules.answer_seconds)
    work = [
        (drawn, match, bot)
        for drawn, match in matches_of(arena_round)
        for bot in _bots_to_ask(drawn, match)
    ]
    bots = session.arena.bots_named(contest.no, {bot for _, _, bot in work})
    seed = seed_of(service, contest, arena_round)
    session.arena.add_work(
        new_work(
            service, arena_round, match_in_work(seed, drawn["match"], bot), "answer", bot,
            bots[bot],
            {"prompt": match["text"], "max_chars": rules.max_answer_chars}, deadline,
        )
        for drawn, match, bot in work
    )  # fmt: skip
    return deadline


def _bots_to_ask(drawn: Mapping[str, Any], match: Mapping[str, Any]) -> Iterator[str]:
    """Yield each bot that answers the prompt of a match, the weak bot of a honeypot last."""
    for side in SIDES:
        if drawn[f"bot_{side}"] is not None:
            yield drawn[f"bot_{side}"]
    if "weak" in match:
        yield match["weak"]["bot"]


def new_work(  # all of it is in the work
    service: Service,
    arena_round: ArenaRound,
    match: str,
    kind: Any,
    assignee: str,
    bot: LiveBot | None,
    body: Mapping[str, Any],
    deadline: datetime,
) -> Work:
    """Return work for a bot or a judge, as the assignee gets it."""
    work_id, now = service.new_id(), service.clock()
    seconds = (deadline - now).total_seconds()
    latency = None if bot is None else bot.latency_ms
    return Work(
        id=work_id,
        contest_no=arena_round.contest_no,
        round=arena_round.id,
        match=match,
        kind=kind,
        assignee=assignee,
        pushed=bot is not None and bot.endpoint is not None,
        body={
            "id": work_id,
            "kind": kind,
            "match": match,
            **body,
            "deadline": written_time(deadline, to="milliseconds"),
            "deadline_ms": round(seconds * 1000),
            "attempt": 1,
            "last_latency_ms": latency,
            "protocol": PROTOCOL,
        },
        deadline=deadline,
        created_at=now,
    )


def judge_answers(
    service: Service,
    contest: Contest,
    arena_round: ArenaRound,
    items: Sequence[Work],
    honeypots: HoneypotTexts,
    *,
    earlier: EarlierAnswers | None = None,
) -> ArenaRound:
    """Return a round whose matches have their answers, or the outcome if there is no vote on them.

    Args:
        service: the service.
        contest: the contest.
        arena_round: the round.
        items: its answers, all handed in or expired.
        honeypots: writes the robotic sides of honeypots.
        earlier: the answers of the rounds before, under rule ``plagiarism_scope = contest``.
    """
    body = copy_of(arena_round)
    rules = ArenaRules(**body["rules"])
    secret = seed_of(service, contest, arena_round)
    results = {item.match: item for item in items}
    changed = replace(arena_round, body=body)
    _take_answers(changed, results, seed=secret)
    body["degraded"] = _is_degraded(body["matches"])
    lengths = [
        len(answer["text"]) for match in body["matches"] for answer in match["answers"].values()
    ]
    if any(drawn["honeypot_real"] is not None for drawn, _ in matches_of(changed)):
        body["honeypot_lengths"] = lengths
    seed = drawing_seed(secret, body["head"])
    for drawn, match in matches_of(changed):
        match["outcome"] = _outcome(match, rules, degraded=body["degraded"])
        if match["outcome"] is not None:
            continue
        if drawn["honeypot_real"] is not None:
            weak = match.get("weak", {}).get("bot", "")
            replied = results.get(match_in_work(secret, drawn["match"], weak))
            honeypots.add(
                match,
                drawn,
                weak_answer=((replied and replied.result) or {}).get("text"),
                others=_other_answers(changed, drawn),
                seed=seed,
                lengths=lengths,
                rules=rules,
            )
        elif drawn["bot_b"] is not None and _is_copied(
            drawn, match, changed, rules=rules, earlier=earlier
        ):
            match["outcome"] = "skipped"
    return changed


def _take_answers(arena_round: ArenaRound, results: Mapping[str, Work], *, seed: str) -> None:
    """Put the answers and the faults of the bots into the matches of a round."""
    for drawn, match in matches_of(arena_round):
        for side in SIDES:
            bot = drawn[f"bot_{side}"]
            if bot is None:
                continue
            result = results[match_in_work(seed, drawn["match"], bot)].result or {}
            if "fault" in result:
                match["faults"].append({"side": side, "bot": bot, **result["fault"]})
            else:
                match["answers"][side] = {"text": result["text"], "cut": result.get("cut", False)}


def _is_degraded(matches: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether no bot could be reached, and no bot is to blame."""
    faults = [fault for match in matches for fault in match["faults"]]
    answered = any(match["answers"] for match in matches)
    return bool(faults) and not answered and all(fault["owner"] != "bot" for fault in faults)


def _is_copied(
    drawn: Mapping[str, Any],
    match: dict[str, Any],
    arena_round: ArenaRound,
    *,
    rules: ArenaRules,
    earlier: EarlierAnswers | None,
) -> bool:
    """Return whether the answers of a match are copies; state those of earlier answers."""
    if earlier is not None and (copies := _copies(drawn, match, arena_round, earlier)):
        match["copies"] = copies
        return True
    texts = (match["answers"][side]["text"] for side in SIDES)
    return are_copies(*texts, threshold=rules.plagiarism_jaccard)


def _copies(
    drawn: Mapping[str, Any],
    match: Mapping[str, Any],
    arena_round: ArenaRound,
    earlier: EarlierAnswers,
) -> list[dict[str, str]]:
    """Return the sides of a match that copy an earlier answer of another owner, and from where."""
    sources = {
        side: earlier.source_of(
            match["answers"][side]["text"], author=author_of(arena_round, drawn[f"bot_{side}"])
        )
        for side in SIDES
    }
    return [{"side": side, "of": name} for side, name in sources.items() if name is not None]


def _other_answers(arena_round: ArenaRound, drawn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answers of other matches of a round to the same prompt."""
    for other, match in matches_of(arena_round):
        if other["prompt"] == drawn["prompt"] and other["match"] != drawn["match"]:
            yield from (answer["text"] for answer in match["answers"].values())


def _outcome(match: Mapping[str, Any], rules: ArenaRules, *, degraded: bool) -> str | None:
    """Return what faults make of a match; None if it is judged.

    ``again``: it is played in the next round; ``void``: nothing comes of it; ``loss``: the bot
    that did not answer loses.
    """
    faults = match["faults"]
    if not faults:
        return None
    if degraded or any(fault["owner"] == "ours" for fault in faults):
        return "again"
    return "loss" if rules.forfeit == "loss" and len(faults) == 1 else "void"
