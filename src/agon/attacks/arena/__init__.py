"""The attack lab of the arena: strategies of bots and of judges."""

from collections.abc import Sequence
from dataclasses import dataclass

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
from agon.attacks.lab import Standing
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import ScoredRecords
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import Unreadable
from agon.records import Records


@dataclass(frozen=True)
class ArenaLab:
    """The attack lab of the arena."""

    strategies: tuple[Strategy[Season], ...]
    discipline: str = "arena"

    def simulate(self, *, size: int, seed: int) -> World:
        """Return a simulated arena of about ``size`` matches.

        Raises:
            Unreadable: the size is below 1.
        """
        try:
            return simulated_world(size=size, seed=seed)
        except ValueError as error:
            raise Unreadable(f"cannot simulate the arena: {error}") from None

    def observe(self, records: Records, *, seed: int) -> World:
        """Return a simulated arena with the ratings of real bots as their strengths.

        Raises:
            Unreadable: fewer than twelve bots are rated.
        """
        try:
            return observed_world(records, seed=seed)
        except ValueError as error:
            raise Unreadable(f"cannot attack these records: {error}") from None

    def play(
        self,
        world: World,
        rules: ArenaRules,
        strategy: Strategy[Season] | None,
        plan: Plan,
        *,
        wait: int,  # noqa: ARG002 - every season has the same days
    ) -> PlayedSeason:
        """Return the season with a strategy; None: the attacker takes part honestly."""
        season = Season(world, rules)
        while True:
            if strategy is not None:
                strategy.act(season, plan)
            last = season.is_last
            season.advance()
            if last:
                return PlayedSeason(world, season)

    def rules_at(self, rules: ArenaRules, epoch: int) -> ArenaRules:  # noqa: ARG002 - of all days
        """Return the rules."""
        return rules

    def standing(self, scored: ScoredRecords, played: PlayedSeason) -> Standing:
        """Return who stands where."""
        return played.standing(scored)


def _catalog() -> Sequence[Strategy[Season]]:
    modules = (
        target_rigging, omnipresent_rigging, label_bias, sandbagging, sybil_judges, best_of_clones,
        retraction, void_dodging, honeypot_learning, bank_of_trust, audit_fishing,
        style_recognition,
    )  # fmt: skip
    return [module.STRATEGY for module in modules]


LAB = ArenaLab(tuple(_catalog()))
"""The lab and its catalog."""
