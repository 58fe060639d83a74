"""The attack lab of the challenge: strategies of miners and validators on a network."""

from agon.attacks.challenge import (
    decay_reset,
    duplicate_agents,
    dust_denial,
    dust_validators,
    last_minute,
    outlier_push,
    stake_cartel,
    sybil_miners,
    weight_copying,
)
from agon.attacks.challenge.played import PlayedSeason
from agon.attacks.challenge.season import Season
from agon.attacks.challenge.world import World, observed_world, simulated_world
from agon.attacks.lab import Lab
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.challenge.rules import ChallengeRules


def _play(
    world: World, rules: ChallengeRules, strategy: Strategy[Season] | None, plan: Plan, wait: int
) -> PlayedSeason:
    """Return the season with a strategy; None: the attacker takes part honestly."""
    season = Season(world, rules, wait=wait)
    while strategy is not None:
        strategy.act(season, plan)
        if season.is_last:
            break
        season.advance()
    return PlayedSeason(world, season)


def _rules_at(rules: ChallengeRules, epoch: int) -> ChallengeRules:
    return rules.override({"epoch": epoch})


LAB = Lab(
    discipline="challenge",
    strategies=(
        stake_cartel.STRATEGY,
        dust_validators.STRATEGY,
        dust_denial.STRATEGY,
        outlier_push.STRATEGY,
        decay_reset.STRATEGY,
        weight_copying.STRATEGY,
        sybil_miners.STRATEGY,
        duplicate_agents.STRATEGY,
        last_minute.STRATEGY,
    ),
    simulated_world=simulated_world,
    observed_world=observed_world,
    actors={"submissions": "miner_uid", "validators": "id", "evaluations": "validator_id"},
    undone_boards=("weights",),
    play=_play,
    rules_at=_rules_at,
)
