"""Views of rounds and matches: their state while they are played, everything once settled.

Of a frozen contest the public sees what its ledger says up to the freeze: rounds committed before,
and of those what was settled before.
"""

from collections.abc import Mapping
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.arena.live.beginning import missing_for_round, seed_of
from agon.app.arena.live.copies import copied_answers
from agon.app.arena.live.matches import match_in_work, matches_of
from agon.app.arena.live.protections import match_protections_off
from agon.app.arena.live.schedule import due_round
from agon.app.arena.live.settlement import result_of
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.disciplines.arena.rounds.commitment import commitment
from agon.entities.arena import ArenaRound, RoundState
from agon.entities.arena_reports import CopiedAnswer
from agon.entities.jobs import Job
from agon.errors import NotFound
from agon.store.session import Session

MAX_ROUNDS: Final = 200
"""Number of rounds that are searched for the faults of a bot."""

_NONE_MISSING: Final[Mapping[str, int]] = {"answers": 0, "votes": 0}


def rounds(
    service: Service, view: View, *, before: int | None = None, limit: int = 100
) -> list[dict[str, Any]]:
    """Return rounds, newest first, those with a lower number."""
    visible: list[dict[str, Any]] = []
    with service.store.read() as session:
        while page := session.arena.round_states(view.contest.no, before=before, limit=limit):
            visible += [_render(session, view, state) for state in page if _is_known(view, state)]
            before = page[-1].number
            if len(visible) >= limit or len(page) < limit:
                break
    return visible[:limit]


def round_of(service: Service, view: View, number: int) -> dict[str, Any]:
    """Return a round.

    Raises:
        NotFound: there is no such round.
    """
    with service.store.read() as session:
        state = session.arena.round_state(view.contest.no, number)
        if not _is_known(view, state):
            raise NotFound(f"the contest has no round {state.id!r}; list its rounds")
        return _render(session, view, state)


def next_round(service: Service, view: View) -> dict[str, Any]:
    """Return when the next round begins automatically, why the last did not, and what is missing.

    The first two are None where no round is due, or a freeze hides later rounds.
    """
    if last_readable_seq(view) is not None:
        return {"at": None, "cause": None, "missing": ()}
    with service.store.read() as session:
        due = due_round(session, view.contest)
        ended = session.queue.page(contest_no=view.contest.no, kinds=("round",), states=("done",))
    last = next((job for job in ended if _begins_round(job)), None)
    result: Mapping[str, Any] = (last and last.result) or {}
    return {
        "at": None if due is None else due.not_before,
        "cause": result.get("cause"),
        "missing": missing_for_round(service, view),
    }


def _begins_round(job: Job) -> bool:
    return job.payload["round"] is None and "qualify" not in job.payload


def match_of(service: Service, view: View, match_id: str) -> dict[str, Any]:
    """Return a match: its state; prompt, answers, votes and the proof once it is settled.

    Args:
        service: the service.
        view: what the caller may see.
        match_id: the match's id, or one that work names; its round is null until it is settled.

    Raises:
        NotFound: there is no such match.
    """
    missing = NotFound(f"there is no match {match_id!r}; see the list of rounds")
    with service.store.read() as session:
        assigned = session.arena.assignment_of(view.contest.no, match_id)
        name = match_id.rpartition("-")[0] if assigned is None else assigned.round
        try:
            arena_round = session.arena.round(view.contest.no, name)
        except NotFound:
            raise missing from None
    if (
        "draw" not in arena_round.body
        or not _is_known(view, arena_round)
        or _is_hidden(view, arena_round)
    ):
        raise missing
    seed = seed_of(service, view.contest, arena_round)
    for drawn, match in matches_of(arena_round):
        names = {drawn["match"]}
        if assigned is not None:
            names.add(match_in_work(seed, drawn["match"], assigned.assignee))
        if match_id not in names:
            continue
        if _is_visible(view, arena_round):
            return _settled_match(service, arena_round, drawn, match, seed=seed)
        is_drawn_id = match_id == drawn["match"]
        return {
            "id": match_id,
            "round": arena_round.id if is_drawn_id else None,
            "state": "playing",
        }
    raise missing


def _settled_match(
    service: Service,
    arena_round: ArenaRound,
    drawn: Mapping[str, Any],
    match: Mapping[str, Any],
    *,
    seed: str,
) -> dict[str, Any]:
    """Return all of a settled match, with the proof of its draw."""
    return {
        "id": drawn["match"],
        "round": arena_round.id,
        "state": "settled",
        "outcome": match["outcome"] or result_of(drawn),
        "prompt": match["text"],
        "answers": match["answers"],
        "votes": match["votes"],
        "faults": match["faults"],
        "degraded": arena_round.body.get("degraded", False),
        "audit_missed": match.get("audit_missed"),
        "unjudged": match.get("unjudged"),
        "undecided": match.get("undecided"),
        "protections_off": match_protections_off(arena_round, drawn, match),
        "copies": _copies(service, arena_round, drawn, match),
        "draw": drawn,
        "proof": {
            "seed": seed,
            "commitment": commitment(seed),
            "head": arena_round.body["head"],
            "settled_seq": arena_round.settled_seq,
        },
    }


def _copies(
    service: Service, arena_round: ArenaRound, drawn: Mapping[str, Any], match: Mapping[str, Any]
) -> tuple[CopiedAnswer, ...]:
    """Return the answers of a settled match that copy earlier ones."""
    if "copies" not in match:
        return ()
    with service.store.read() as session:
        return tuple(copied_answers(session, arena_round, drawn, match))


def faults_of_bot(service: Service, view: View, bot_id: str) -> list[dict[str, Any]]:
    """Return the faults of a bot in the settled ones of the latest rounds, newest first."""
    with service.store.read() as session:
        latest = session.arena.rounds(view.contest.no, limit=MAX_ROUNDS)
        return [
            {
                "match": drawn["match"],
                "outcome": match["outcome"] or result_of(drawn),
                **{name: fault[name] for name in ("owner", "code", "detail")},
            }
            for arena_round in latest
            if "draw" in arena_round.body
            and _is_known(view, arena_round)
            and _is_visible(view, arena_round)
            for drawn, match in matches_of(arena_round)
            for fault in match["faults"]
            if fault["bot"] == bot_id
        ]


def _render(session: Session, view: View, state: RoundState) -> dict[str, Any]:
    """Return a round; until it is settled, without what shows a judge whom it judges."""
    visible, hidden = _is_visible(view, state), _is_hidden(view, state)
    summary = state.summary
    return {
        "id": state.id,
        "number": state.number,
        "state": "committed" if hidden else _state(state),
        "began_at": state.began_at,
        "matches": 0 if hidden else len(summary["pairs"]),
        "void": summary.get("void") if visible else None,
        "waiting": summary["waiting"] if visible else None,
        "missing": _NONE_MISSING if hidden else _missing(session, view, state),
        "waits_for": None if hidden else summary["waits_for"],
        "degraded": summary["degraded"] if visible else None,
        "pairs": summary["pairs"] if visible else None,
        "settled_seq": state.settled_seq if visible else None,
    }


def _missing(session: Session, view: View, state: RoundState) -> dict[str, int]:
    """Return how many answers and votes are missing."""
    if state.phase == "answering":
        count = session.arena.waiting_count(
            view.contest.no, state.id, without=state.summary.get("besides", ())
        )
        return {"answers": count, "votes": 0}
    if state.phase == "voting":
        return {"answers": 0, "votes": state.summary["missing_votes"]}
    return dict(_NONE_MISSING)


def _state(state: RoundState) -> str:
    """Return the phase of a round; ``judging`` only while it waits for a model.

    Otherwise the phase would show that a match of a small round is audited.
    """
    waits = state.phase == "judging" and state.summary["waits_for"] is not None
    return "settling" if state.phase == "judging" and not waits else state.phase


def _is_known(view: View, arena_round: ArenaRound | RoundState) -> bool:
    """Return whether a round is committed at a position that the caller may see."""
    until = last_readable_seq(view)
    return until is None or int(arena_round.summary["committed_seq"]) <= until


def _is_visible(view: View, arena_round: ArenaRound | RoundState) -> bool:
    """Return whether a round is settled at a position that the caller may see."""
    until = last_readable_seq(view)
    return arena_round.settled_seq is not None and (
        until is None or arena_round.settled_seq <= until
    )


def _is_hidden(view: View, arena_round: ArenaRound | RoundState) -> bool:
    """Return whether all that followed on the commitment of a round is hidden by a freeze."""
    return last_readable_seq(view) is not None and not _is_visible(view, arena_round)
