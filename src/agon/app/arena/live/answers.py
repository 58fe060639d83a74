"""Ask both bots of each match at the same time, and decide what their answers make of it."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.pinging import PROTOCOL
from agon.app.service import Service
from agon.disciplines.arena.commitment import drawing_seed
from agon.disciplines.arena.honeypots import MEMORY_VOTES, draw_robotic_answer
from agon.disciplines.arena.plagiarism import text_similarity
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot, Work
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.kernel.times import written_time
from agon.store.session import Session

SIDES: Final = ("a", "b")

Drawn = Mapping[str, Any]
"""A match as it was drawn."""


def assign_answers(
    service: Service, session: Session, contest: Contest, of: ArenaRound
) -> datetime:
    """Assign an answer to both bots of each match; return the deadline."""
    rules = ArenaRules(**of.body["rules"])
    deadline = service.clock() + timedelta(seconds=rules.answer_seconds)
    items = []
    for drawn, match in matches_of(of):
        for side in SIDES:
            if drawn[f"bot_{side}"] is None:
                continue
            bot = session.arena.bot(contest.no, drawn[f"bot_{side}"])
            body = {"prompt": match["text"], "max_chars": rules.max_answer_chars}
            items.append(
                new_work(service, of, drawn["match"], "answer", bot.id, bot, body, deadline)
            )
    session.arena.add_work(items)
    return deadline


def new_work(  # all of it is in the work
    service: Service,
    of: ArenaRound,
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
        contest_no=of.contest_no,
        round=of.id,
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


def matches_of(of: ArenaRound) -> Iterable[tuple[Drawn, dict[str, Any]]]:
    """Return each match as it was drawn, and what is stored of it."""
    return zip(of.body["draw"]["matches"], of.body["matches"], strict=True)


def judge_answers(
    service: Service, contest: Contest, of: ArenaRound, items: Sequence[Work], seen: Sequence[str]
) -> ArenaRound:
    """Return a round whose matches have their answers, or the outcome if there is no vote on them.

    Args:
        service: the service.
        contest: the contest.
        of: the round.
        items: its answers, all handed in or expired.
        seen: templates of honeypots that its judges saw lately.
    """
    body = deepcopy(dict(of.body))
    rules = ArenaRules(**body["rules"])
    results = {(item.match, item.assignee): item for item in items}
    changed = replace(of, body=body)
    for drawn, match in matches_of(changed):
        for side in SIDES:
            bot = drawn[f"bot_{side}"]
            if bot is None:
                continue
            result = results[drawn["match"], bot].result or {}
            if "fault" in result:
                match["faults"].append({"side": side, "bot": bot, **result["fault"]})
            else:
                match["answers"][side] = {"text": result["text"], "cut": result.get("cut", False)}
    faults = [fault for match in body["matches"] for fault in match["faults"]]
    answered = any(match["answers"] for match in body["matches"])
    body["degraded"] = (
        bool(faults) and not answered and all(fault["owner"] != "bot" for fault in faults)
    )
    lengths = [
        len(answer["text"]) for match in body["matches"] for answer in match["answers"].values()
    ]
    seed = drawing_seed(seed_of(service, contest, of), body["head"])
    for drawn, match in matches_of(changed):
        match["outcome"] = _outcome(match, rules, degraded=body["degraded"])
        real = drawn["honeypot_real"]
        if match["outcome"] is None and real is not None:
            _add_robotic_answer(match, drawn, seed=seed, seen=seen, lengths=lengths, rules=rules)
        elif match["outcome"] is None and drawn["bot_b"] is not None:
            texts = (match["answers"][side]["text"] for side in SIDES)
            if text_similarity(*texts, threshold=rules.plagiarism_jaccard).copied:
                match["outcome"] = "skipped"
    return changed


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


def _add_robotic_answer(
    match: dict[str, Any],
    drawn: Drawn,
    *,
    seed: str,
    seen: Sequence[str],
    lengths: Sequence[int],
    rules: ArenaRules,
) -> None:
    """Replace the answer on the robotic side of a honeypot."""
    options: dict[str, Any] = {
        "prompt": match["text"], "lengths": lengths, "max_chars": rules.max_answer_chars
    }  # fmt: skip
    name = drawn["match"]
    robotic = draw_robotic_answer(seed, name, seen=seen, **options)
    robotic = robotic or draw_robotic_answer(seed, name, seen=(), **options)
    if robotic is None:
        raise RuntimeError("there is no template of a robotic answer")
    side = "b" if drawn["honeypot_real"] == "a" else "a"
    match["answers"][side] = {"text": robotic.text, "templates": list(robotic.templates)}


def templates_seen(session: Session, contest: Contest, of: ArenaRound) -> list[str]:
    """Return the templates of honeypots that the judges of a round saw in their latest votes."""
    judges = {judge for drawn in of.body["draw"]["matches"] for judge in drawn["judges"]}
    seen: list[str] = []
    for judge in sorted(judges):
        try:
            seen += session.arena.bot(contest.no, judge).recent_templates
        except NotFound:
            continue  # a person
    return seen


def remember_votes(
    session: Session, contest: Contest, judge: str, templates: Sequence[str]
) -> None:
    """Record for a bot that it voted, with the templates of the honeypot or none.

    An ordinary vote counts as an empty name, so that the memory ends after some votes.
    """
    try:
        bot = session.arena.bot(contest.no, judge)
    except NotFound:
        return
    recent = (*bot.recent_templates, *(templates or [""]))[-MEMORY_VOTES:]
    session.arena.save_bot(replace(bot, recent_templates=recent))
