"""The attack lab of the challenge: strategies of miners and validators on a network."""

from dataclasses import dataclass

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
from agon.attacks.lab import Standing
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import ScoredRecords
from agon.disciplines.challenge.rules import ChallengeRules
from agon.errors import Unreadable
from agon.records import Records


@dataclass(frozen=True)
class ChallengeLab:
    """The attack lab of the challenge."""

    strategies: tuple[Strategy[Season], ...]
    discipline: str = "challenge"

    def simulate(self, *, size: int, seed: int) -> World:
        """Return a simulated network of about ``size`` evaluations.

        Raises:
            Unreadable: the size is below 1.
        """
        try:
            return simulated_world(size=size, seed=seed)
        except ValueError as error:
            raise Unreadable(f"cannot simulate the challenge: {error}") from None

    def observe(self, records: Records, *, seed: int) -> World:
        """Return a network that begins where real records end."""
        return observed_world(records, seed=seed)

    def play(
        self,
        world: World,
        rules: ChallengeRules,
        strategy: Strategy[Season] | None,
        plan: Plan,
        *,
        wait: int,
    ) -> PlayedSeason:
        """Return the season with a strategy; None: the attacker takes part honestly."""
        season = Season(world, rules, wait=wait)
        while strategy is not None:
            strategy.act(season, plan)
            if season.is_last:
                break
            season.advance()
        return PlayedSeason(world, season)

    def rules_at(self, rules: ChallengeRules, epoch: int) -> ChallengeRules:
        """Return the rules that score an epoch."""
        return rules.override({"epoch": epoch})

    def standing(self, scored: ScoredRecords, played: PlayedSeason) -> Standing:
        """Return who stands where."""
        return played.standing(scored)


LAB = ChallengeLab(
    (
        stake_cartel.STRATEGY,
        dust_validators.STRATEGY,
        dust_denial.STRATEGY,
        outlier_push.STRATEGY,
        decay_reset.STRATEGY,
        weight_copying.STRATEGY,
        sybil_miners.STRATEGY,
        duplicate_agents.STRATEGY,
        last_minute.STRATEGY,
    )
)
"""The lab and its catalog."""
