"""Draw which known weak bot is asked besides for the robotic side of a honeypot.

Its answer is shown in that honeypot only, and was never published before; so no judge can look it
up among the answers of settled matches.
"""

from collections.abc import Mapping
from typing import Any

from agon.disciplines.arena.rounds.draws import lots, uniform
from agon.disciplines.arena.rounds.round import RoundInputs
from agon.disciplines.arena.rules import ArenaRules


def draw_weak_bot(
    inputs: RoundInputs, drawn: Mapping[str, Any], *, seed: str, rules: ArenaRules
) -> str | None:
    """Draw the weak bot that answers the prompt of a honeypot besides; None: none is asked.

    It is rated ``honeypot_weak_distance`` below the real side, was not asked the prompt lately,
    and belongs to none of the owners concerned.

    Args:
        inputs: what the draw of the round depends on.
        drawn: the match as it was drawn.
        seed: the seed of all draws.
        rules: how often, and who is weak.

    Source: spec arena live, A round, step 5.
    """
    match, real = drawn["match"], drawn["honeypot_real"]
    if real is None or uniform(seed, match, "honeypot-source") >= rules.honeypot_weak_share:
        return None
    entrants = {entrant.id: entrant for entrant in inputs.entrants}
    both, panel = {drawn["bot_a"], drawn["bot_b"]}, set(drawn["judges"])
    owners = {
        *(entrants[bot].owner_id for bot in both),
        *(judge.owner_id for judge in inputs.judges if judge.id in panel),
    } - {None}
    highest = entrants[drawn[f"bot_{real}"]].rating - rules.honeypot_weak_distance
    weak = [
        entrant.id
        for entrant in inputs.entrants
        if entrant.rating <= highest
        and entrant.id not in both | panel
        and entrant.owner_id not in owners
        and drawn["prompt"] not in inputs.recent_prompts.get(entrant.id, ())
    ]
    return min(lots(seed, match, "honeypot-weak-bot", weak), default=(0, None))[1]


def weak_name(match: str) -> str:
    """Return the name under which judges remember the answer of a weak bot, as of a template.

    Example:
        >>> weak_name("r3-1")
        'r3-1/weak'
    """
    return f"{match}/weak"
