"""Draw a round of the arena: who plays whom, what is a honeypot, who judges; all from one seed.

The draw is recorded with its seed and a hash of what it was drawn from, so that anybody who has the
ledger can draw it again. Who answers and who votes is another day's work.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agon.app.contests.ledgers.append import append
from agon.app.queue.leases import Finish
from agon.app.queue.progress import Progress
from agon.app.queue.source import Assignment
from agon.disciplines.arena.draws import honeypot_real, is_audited, is_honeypot
from agon.disciplines.arena.matchmaking import Entrant, pair
from agon.disciplines.arena.panel import candidates_of, draw_panel
from agon.entities.jobs import Job
from agon.errors import Conflict
from agon.kernel.fingerprints import sha256
from agon.ledger.entry import Draft
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service
    from agon.disciplines.arena.rules import ArenaRules

METHOD: Final = "arena-round-1"
"""How rounds are drawn; a draw says by which method, so that a better one changes none."""


def draw_round(service: "Service") -> Callable[[Assignment, Progress], dict[str, Any]]:
    """Return what draws rounds from a contest's newest position."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        contest_id = assignment.payload["contest"]
        with service.store.read() as session:
            contest = session.contests.get(contest_id)
        if contest.discipline != "arena":
            raise Conflict(
                f"{contest_id} is a {contest.discipline} contest; rounds are the arena's"
            )
        with service.lives.at(service.store, contest) as live:
            scored: Any = live.result().scored
            drawn = drawn_round(
                scored, seed=service.random(16).hex(), name=assignment.id, at=service.clock()
            )
        progress.check()
        return {**drawn, "seq": contest.seq}

    return run


def drawn_round(scored: Any, *, seed: str, name: str, at: datetime) -> dict[str, Any]:
    """Draw a round.

    Args:
        scored: the arena, scored (``agon.disciplines.arena.scoring.ArenaScored``).
        seed: what all lots are drawn from.
        name: the round's; its matches are ``name-1``, ``name-2``, ….
        at: the time judges must be eligible at.

    Returns:
        The body of a ``draw-made`` entry.
    """
    rules: ArenaRules = scored.rules
    bots, rating = scored.facts.bots, scored.ratings.rating
    entrants = [
        Entrant(str(bots.ids[at]), float(rating[at]), bots.owner[at].as_py())
        for at in range(len(bots))
        if bots.qualified[at]
    ]
    owners = {one.id: one.owner_id for one in entrants}
    candidates = candidates_of(scored.facts, scored.ratings, scored.credibilities, rules)
    paired = pair(
        entrants,
        within=rules.matchmaking_range,
        descending=rules.matchmaking_order == "descending",
    )
    matches = []
    for number, one in enumerate(paired.pairings, start=1):
        match, both = f"{name}-{number}", (one.chooser, one.opponent)
        honeypot = is_honeypot(seed, match, probability=rules.honeypot_probability)
        panel = draw_panel(
            candidates,
            match=match,
            seed=seed,
            owners=tuple(owners[bot] for bot in both),
            bots=both,
            at=at,
            rules=rules,
        )
        matches.append(
            {
                "match": match,
                "bot_a": one.chooser,
                "bot_b": one.opponent,
                "distance": one.distance,
                "in_range": one.in_range,
                "honeypot_real": honeypot_real(seed, match) if honeypot else None,
                "audited": not honeypot
                and is_audited(seed, match, probability=rules.audit_probability),
                "judges": list(panel.judges),
                "shown_first": dict(panel.shown_first),
                "api": panel.api,
                "degraded": panel.degraded,
            }
        )
    inputs = {
        "entrants": [[one.id, one.rating, one.owner_id] for one in entrants],
        "candidates": [asdict(one) for one in candidates],
        "at": at.isoformat(),
        "rules": rules.model_dump(mode="json"),
    }
    return {
        "purpose": f"round {name}",
        "seed": seed,
        "method": METHOD,
        "inputs_sha256": sha256(inputs),
        "result": {"matches": matches, "waiting": list(paired.waiting)},
    }


def settle_round(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Finish:
    """Record the draw; a contest that went on meanwhile has it all the same."""
    body = {name: outcome[name] for name in ("purpose", "seed", "method", "inputs_sha256")}
    body["result"] = {**outcome["result"], "seq": outcome["seq"]}

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        if contest.state == "final":
            raise Conflict(f"contest {contest.id} is final; no more rounds are drawn")
        draft = Draft(kind="draw-made", body=body, at=service.clock(), by=job.by)
        drawn = append(service, session, contest, [draft])
        matches = len(outcome["result"]["matches"])
        return {"seq": drawn.seq, "round": body["purpose"], "matches": matches}

    return finish
