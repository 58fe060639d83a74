"""Show rounds and matches: their state while they are played, everything once they are settled."""

from typing import Any

from agon.app.access.permissions import View
from agon.app.arena.live.answers import matches_of
from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.settlement import result_of
from agon.app.service import Service
from agon.disciplines.arena.commitment import commitment
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.errors import NotFound
from agon.store.session import Session


def rounds(
    service: Service, view: View, *, before: int | None = None, limit: int = 100
) -> list[dict[str, Any]]:
    """Return rounds, newest first, those with a lower number."""
    with service.store.read() as session:
        stored = session.arena.rounds(view.contest.no, before=before, limit=limit)
        return [_render(session, view, of) for of in stored]


def round_of(service: Service, view: View, number: int) -> dict[str, Any]:
    """Return a round.

    Raises:
        NotFound: there is no such round.
    """
    with service.store.read() as session:
        return _render(session, view, session.arena.round(view.contest.no, f"r{number}"))


def match_of(service: Service, view: View, match_id: str) -> dict[str, Any]:
    """Return a match: its state; prompt, answers, votes and the proof once it is settled.

    Raises:
        NotFound: there is no such match.
    """
    name = match_id.rpartition("-")[0]
    missing = NotFound(f"there is no match {match_id!r}; see the list of rounds")
    with service.store.read() as session:
        try:
            of = session.arena.round(view.contest.no, name)
        except NotFound:
            raise missing from None
    if "draw" not in of.body:
        raise missing
    for drawn, match in matches_of(of):
        if drawn["match"] != match_id:
            continue
        if not _is_visible(view, of):
            return {"id": match_id, "round": of.id, "state": "playing"}
        seed = seed_of(service, view.contest, of)
        return {
            "id": match_id,
            "round": of.id,
            "state": "settled",
            "outcome": match["outcome"] or result_of(drawn),
            "prompt": match["text"],
            "answers": match["answers"],
            "votes": match["votes"],
            "faults": match["faults"],
            "draw": drawn,
            "proof": {
                "seed": seed,
                "commitment": commitment(seed),
                "head": of.body["head"],
                "settled_seq": of.settled_seq,
            },
        }
    raise missing


def _render(session: Session, view: View, of: ArenaRound) -> dict[str, Any]:
    """Return a round; until it is settled, without what shows a judge whom it judges."""
    visible = _is_visible(view, of)
    drawn = of.body.get("draw", {"matches": [], "waiting": []})
    return {
        "id": of.id,
        "number": of.number,
        "state": of.phase if visible or of.phase != "settled" else "settling",
        "began_at": of.began_at,
        "matches": len(drawn["matches"]),
        "waiting": drawn["waiting"],
        "missing": _missing(session, view, of),
        "waits_for": of.body.get("waits_for"),
        "degraded": of.body.get("degraded") if visible else None,
        "pairs": [(match["bot_a"], match["bot_b"]) for match in drawn["matches"]]
        if visible
        else None,
        "settled_seq": of.settled_seq if visible else None,
    }


def _missing(session: Session, view: View, of: ArenaRound) -> dict[str, int]:
    """Return how many answers and votes are missing.

    Votes are counted as if each match had its whole panel, so that the count does not show which
    matches have none.
    """
    if of.phase == "answering":
        items = session.arena.work_of(view.contest.no, of.id)
        return {"answers": sum(item.result is None for item in items), "votes": 0}
    if of.phase == "voting":
        size = ArenaRules(**of.body["rules"]).judges_per_match
        count = sum(size - len(match["votes"]) for match in of.body["matches"])
        return {"answers": 0, "votes": count}
    return {"answers": 0, "votes": 0}


def _is_visible(view: View, of: ArenaRound) -> bool:
    """Return whether a round is settled at a position that the caller may see."""
    if of.settled_seq is None:
        return False
    return view.until is None or of.settled_seq <= view.until
