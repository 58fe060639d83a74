"""Let models judge the matches that no panel judges, and audit those that were drawn."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from agon.app.arena.judging.model_judge import BY_QUESTION
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

MAX_DECLINED: Final = 5
"""Number of times that a model is asked about a match that it may not judge for its texts."""

_DECLINED: Final = "the model {} did not judge it, asked {} times ({})"
"""Why a match is void whose texts a model does not judge."""

_KINDS: Final = ("votes", "audits", "missed", "unjudged", "waiting", "declined")
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

    ``waiting`` says why a match cannot be judged now, and ``declined`` why it is void once the
    model was asked :data:`MAX_DECLINED` times.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    outcome: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
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

    ``waiting``: why it cannot be judged now; ``unjudged``: why it cannot be judged at all.
    """
    result: dict[str, Any] = {}
    if match["api"] and not match["votes"]:
        if ports.judge is None:
            return {"unjudged": NO_MODEL}
        vote = _vote(ports.judge, ports.audit, rules, match)
        if isinstance(vote, Fault):
            return _failure(ports.judge.name, vote)
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


def _failure(model: str, fault: Fault) -> dict[str, str]:
    """Return what a failed call says of a match; replies of a server are for operators alone."""
    detail = f": {fault.detail}" if fault.detail else ""
    said = {"waiting": f"the model {model} did not judge: {fault.code}{detail}"}
    if fault.code in BY_QUESTION:
        said["declined"] = _DECLINED.format(model, MAX_DECLINED, fault.code)
    return said


def store_models(
    session: Session, contest: Contest, arena_round: ArenaRound, outcome: Mapping[str, Any]
) -> ArenaRound:
    """Return a round with the votes and audits of models; exact exchanges become attachments."""
    body = copy_of(arena_round)
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
    _store_declined(changed, outcome["declined"])
    body["waits_for"] = next(
        (
            outcome["waiting"][drawn["match"]]
            for drawn, match in matches_of(changed)
            if drawn["match"] in outcome["waiting"] and match["outcome"] is None
        ),
        None,
    )
    return changed


def _store_declined(changed: ArenaRound, declined: Mapping[str, str]) -> None:
    """Count how often a model did not judge a match for its texts; the last time it is void.

    Else a text that a model refuses, or a filter in front of it, would stop the arena for good. A
    model that judges none of several matches is not set up for them: the round waits.
    """
    asked = [(drawn, match) for drawn, match in matches_of(changed) if match["api"]]
    works = len(asked) == 1 or any("exchanges" in match for _, match in asked)
    for drawn, match in asked:
        if drawn["match"] in declined:
            match["declined"] = match.get("declined", 0) + 1
            if works and match["declined"] >= MAX_DECLINED:
                match |= {"outcome": "void", "undecided": declined[drawn["match"]]}


def _vote(
    judge: JudgeModel, other: JudgeModel | None, rules: ArenaRules, match: Mapping[str, Any]
) -> dict[str, Any] | Fault:
    """Return the API judge's vote, or why there is none.

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
        return vote
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
