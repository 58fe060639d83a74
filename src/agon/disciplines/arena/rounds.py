"""Draw a round of the arena from one seed: pairings, honeypots, audits and panels of judges.

The draw states its seed and a hash of its inputs, so that anyone with the ledger can repeat it.
"""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agon.disciplines.arena.draws import honeypot_real, is_audited, is_honeypot
from agon.disciplines.arena.matchmaking import Entrant
from agon.disciplines.arena.pairing import pair_by_rules, recorded_histories
from agon.disciplines.arena.panel import candidates_of, draw_panel
from agon.kernel.fingerprints import sha256

if TYPE_CHECKING:
    from agon.disciplines.arena.scoring import ScoredArena

METHOD: Final = "arena-round-1"
"""The method of drawing rounds; a draw names its method, so a new method changes no old draw."""


def plan_round(scored: "ScoredArena", *, seed: str, name: str, at: datetime) -> dict[str, Any]:
    """Draw a round: pairings, honeypots, audits and the panels of judges.

    Args:
        scored: the arena so far.
        seed: seed of all draws.
        name: the round's name; its matches are ``name-1``, ``name-2``, ….
        at: the time at which judges must be eligible.

    Returns:
        The body of a ``draw-made`` entry.
    """
    rules = scored.rules
    bots, rating = scored.facts.bots, scored.ratings.rating
    entrants = [
        Entrant(str(bots.ids[at]), float(rating[at]), bots.owner[at].as_py())
        for at in range(len(bots))
        if bots.qualified[at]
    ]
    owners = {entry.id: entry.owner_id for entry in entrants}
    candidates = candidates_of(scored.facts, scored.ratings, scored.credibilities, rules)
    paired = pair_by_rules(entrants, histories=recorded_histories(scored.facts), rules=rules)
    matches = []
    for number, entry in enumerate(paired.pairings, start=1):
        match, both = f"{name}-{number}", (entry.chooser, entry.opponent)
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
                "bot_a": entry.chooser,
                "bot_b": entry.opponent,
                "distance": entry.distance,
                "in_range": entry.in_range,
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
        "entrants": [[entry.id, entry.rating, entry.owner_id] for entry in entrants],
        "candidates": [asdict(entry) for entry in candidates],
        "at": at.isoformat(),
        "rules": rules.stated_values(),
    }
    return {
        "purpose": f"round {name}",
        "seed": seed,
        "method": METHOD,
        "inputs_sha256": sha256(inputs),
        "result": {"matches": matches, "waiting": list(paired.waiting)},
    }
