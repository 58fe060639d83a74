"""Let models judge the matches that no panel judges, and audit those that were drawn."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from agon.app.arena.judging.port import JudgeModel, ModelVote
from agon.app.arena.live.matches import Drawn, copy_of, matches_of
from agon.app.arena.live.network.ports import ArenaPorts
from agon.disciplines.arena.rounds.faults import Fault
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.kernel.times import written_time
from agon.store.session import Session

NO_MODEL: Final = "too few judges could judge it, and no model is configured to"
"""Why a match that neither its panel nor a model can judge is played again later."""

_UNDECIDED: Final = (
    "the model {} chose differently in the two orders of the answers, so that it prefers neither "
    "(rule model_conflict)"
)
"""Why a match that a model judged is void."""

_KINDS: Final = ("votes", "audits", "missed", "unjudged")
"""What models may say of a match."""


def is_audited(drawn: Mapping[str, Any], match: Mapping[str, Any]) -> bool:
    """Return whether a match is to be audited: it is drawn, and rated by votes."""
    return bool(drawn["audited"]) and match["outcome"] is None


def needs_models(arena_round: ArenaRound) -> bool:
    """Return whether a match of a round is judged or audited by a model."""
    return any(
        match["outcome"] is None and (match["api"] or is_audited(drawn, match))
        for drawn, match in matches_of(arena_round)
    )


def ask_models(ports: ArenaPorts, arena_round: ArenaRound, *, at: Any) -> dict[str, Any]:
    """Return the votes and audits of models on a round, as the outcome of a job.

    ``waits_for`` says why a match cannot be judged now; then nothing of the round is settled.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    outcome: dict[str, Any] = {**{kind: {} for kind in _KINDS}, "waits_for": None}
    waiting = [pair for pair in matches_of(arena_round) if _needs_model(*pair)]

    def judge(pair: tuple[Drawn, dict[str, Any]]) -> dict[str, Any]:
        return _judge(ports, rules, *pair, at=at)

    if ports.model_threads == 1:
        results = [judge(pair) for pair in waiting]
    else:
        with ThreadPoolExecutor(ports.model_threads, "models") as pool:
            results = list(pool.map(judge, waiting))
    for (drawn, _), result in zip(waiting, results, strict=True):
        for kind in _KINDS:
            if kind in result:
                outcome[kind][drawn["match"]] = result[kind]
        outcome["waits_for"] = outcome["waits_for"] or result.get("waits_for")
    return outcome


def _needs_model(drawn: Drawn, match: Mapping[str, Any]) -> bool:
    """Return whether a match has no vote of the API judge yet, or no audit."""
    if match["outcome"] is not None:
        return False
    unaudited = "audit" not in match and "audit_missed" not in match
    return bool(match["api"] and not match["votes"]) or (is_audited(drawn, match) and unaudited)


def _judge(
    ports: ArenaPorts, rules: ArenaRules, drawn: Drawn, match: Mapping[str, Any], *, at: Any
) -> dict[str, Any]:
    """Return what models say of one match.

    ``waits_for``: why it cannot be judged now; ``unjudged``: why it cannot be judged at all.
    """
    result: dict[str, Any] = {}
    if match["api"] and not match["votes"]:
        if ports.judge is None:
            return {"unjudged": NO_MODEL}
        vote = _vote(ports.judge, ports.audit, rules, match)
        if isinstance(vote, str):
            return {"waits_for": vote}
        result["votes"] = {**vote, "voted_at": written_time(at)}
        if vote["vote"] is None:
            return result
    if is_audited(drawn, match):
        audit = None if ports.audit is None else _compare(ports.audit, rules, match)
        if isinstance(audit, ModelVote):
            result["audits"] = {"verdict": audit.winner, **_exchanges(audit)}
        else:
            result["missed"] = "no model is configured to audit" if audit is None else audit.code
    return result


def store_models(
    session: Session, contest: Contest, arena_round: ArenaRound, outcome: Mapping[str, Any]
) -> ArenaRound:
    """Return a round with the votes and audits of models; exact exchanges become attachments."""
    body = copy_of(arena_round)
    body["waits_for"] = outcome["waits_for"]
    changed = replace(arena_round, body=body)
    for drawn, match in matches_of(changed):
        name = drawn["match"]
        if name in outcome["votes"]:
            vote = dict(outcome["votes"][name])
            match["exchanges"] = _attach(session, contest, vote.pop("exchanges"))
            if vote["vote"] is None:
                match |= {"outcome": "void", "undecided": _UNDECIDED.format(vote["judge_id"])}
            else:
                match["votes"] = [vote]
        if name in outcome["unjudged"]:
            match |= {"outcome": "again", "unjudged": outcome["unjudged"][name]}
        if name in outcome["audits"]:
            audit = outcome["audits"][name]
            match["audit"] = audit["verdict"]
            match["audit_exchanges"] = _attach(session, contest, audit["exchanges"])
        if name in outcome["missed"]:
            match["audit_missed"] = outcome["missed"][name]
    return changed


def _vote(
    judge: JudgeModel, other: JudgeModel | None, rules: ArenaRules, match: Mapping[str, Any]
) -> dict[str, Any] | str:
    """Return the API judge's vote, or why it could not be asked.

    The vote's ``vote`` is None if no model prefers one answer in both orders, under rule
    ``model_conflict = next``: then the match is void, because a tie would move ratings that differ.
    """
    vote = _compare(judge, rules, match)
    if (
        isinstance(vote, ModelVote)
        and vote.is_conflict
        and rules.model_conflict == "next"
        and other is not None
    ):
        second = _compare(other, rules, match)
        if isinstance(second, ModelVote):
            vote, judge = second, other
    if isinstance(vote, Fault):
        detail = f": {vote.detail}" if vote.detail else ""
        return f"the model {judge.name} did not judge: {vote.code}{detail}"
    label: str | None = {"a": "A", "b": "B", "tie": "tie"}[vote.winner]
    if vote.is_conflict and rules.model_conflict != "tie":
        label = None
    return {"judge_id": judge.name, "shown_first": "a", "vote": label, **_exchanges(vote)}


def _compare(judge: JudgeModel, rules: ArenaRules, match: Mapping[str, Any]) -> ModelVote | Fault:
    texts = {side: match["answers"][side]["text"] for side in ("a", "b")}
    return judge.compare(prompt=match["text"], **texts, seconds=rules.vote_seconds)


def _exchanges(vote: ModelVote) -> dict[str, Any]:
    return {"exchanges": [[call.request, call.response] for call in vote.exchanges]}


def _attach(session: Session, contest: Contest, exchanges: Any) -> list[dict[str, str]]:
    """Store exact requests and responses; return their hashes."""
    return [
        {
            "request_sha256": session.attachments.add(contest.no, request),
            "response_sha256": session.attachments.add(contest.no, response),
        }
        for request, response in exchanges
    ]
