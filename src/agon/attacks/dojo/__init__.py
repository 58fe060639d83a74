"""The attack lab of the dojo: strategies of users against the season's board."""

from dataclasses import dataclass

from agon.attacks.dojo import (
    hidden_tables,
    prefix_reading,
    renamed_copies,
    resubmission_races,
    source_sharing,
    tag_farming,
)
from agon.attacks.dojo.season import Season
from agon.attacks.dojo.world import DAYS, World, observed_world, simulated_world
from agon.attacks.lab import Standing
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import ScoredRecords
from agon.disciplines.dojo.rules import DojoRules
from agon.errors import Unreadable
from agon.records import Records


@dataclass(frozen=True)
class DojoLab:
    """The attack lab of the dojo."""

    strategies: tuple[Strategy[Season], ...]
    discipline: str = "dojo"

    def simulate(self, *, size: int, seed: int) -> World:
        """Return a simulated season of ``size`` honest users.

        Raises:
            Unreadable: the size is below 10.
        """
        try:
            return simulated_world(size=size, seed=seed)
        except ValueError as error:
            raise Unreadable(f"cannot simulate the dojo: {error}") from None

    def observe(self, records: Records, *, seed: int) -> World:
        """Return a season as real records describe it; nothing is drawn."""
        del seed
        return observed_world(records)

    def play(
        self,
        world: World,
        rules: DojoRules,
        strategy: Strategy[Season] | None,
        plan: Plan,
        *,
        wait: int,
    ) -> Season:
        """Return the season with a strategy; None: the attacker does nothing more."""
        del wait
        season = Season(world, rules)
        if strategy is not None:
            for season.day in range(1, DAYS + 1):
                strategy.act(season, plan)
        return season

    def rules_at(self, rules: DojoRules, epoch: int) -> DojoRules:
        """Return the rules, which are those of every day."""
        del epoch
        return rules

    def standing(self, scored: ScoredRecords, played: Season) -> Standing:
        """Return who stands where on the season's board."""
        return played.standing(scored)


LAB = DojoLab(
    (
        tag_farming.STRATEGY,
        source_sharing.STRATEGY,
        renamed_copies.STRATEGY,
        hidden_tables.STRATEGY,
        prefix_reading.STRATEGY,
        resubmission_races.STRATEGY,
    )
)
"""The lab and its catalog."""
