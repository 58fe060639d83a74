"""The attack lab of the arena: strategies of bots and of judges."""

from agon.attacks.arena import (
    audit_fishing,
    bank_of_trust,
    best_of_clones,
    honeypot_learning,
    label_bias,
    omnipresent_rigging,
    retraction,
    sandbagging,
    style_recognition,
    sybil_judges,
    target_rigging,
    void_dodging,
)
from agon.attacks.arena.played import PlayedSeason
from agon.attacks.arena.season import Season
from agon.attacks.arena.world import World, observed_world, simulated_world
from agon.attacks.lab import Lab
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.arena.rules import ArenaRules


def _play(
    world: World, rules: ArenaRules, strategy: Strategy[Season] | None, plan: Plan, _: int
) -> PlayedSeason:
    """Return the season, which has the same days for all strategies."""
    season = Season(world, rules)
    while True:
        if strategy is not None:
            strategy.act(season, plan)
        last = season.is_last
        season.advance()
        if last:
            return PlayedSeason(world, season)


LAB = Lab(
    discipline="arena",
    strategies=(
        target_rigging.STRATEGY,
        omnipresent_rigging.STRATEGY,
        label_bias.STRATEGY,
        sandbagging.STRATEGY,
        sybil_judges.STRATEGY,
        best_of_clones.STRATEGY,
        retraction.STRATEGY,
        void_dodging.STRATEGY,
        honeypot_learning.STRATEGY,
        bank_of_trust.STRATEGY,
        audit_fishing.STRATEGY,
        style_recognition.STRATEGY,
    ),
    simulated_world=simulated_world,
    observed_world=observed_world,
    actors={"bots": "id", "owners": "id", "votes": "judge_id"},
    undone_boards=("bots", "bradley-terry"),
    play=_play,
    joint_rules=(("credibility_agree", "credibility_disagree"),),
)
"""The lab and its catalog."""
