"""The attack lab of the community: strategies of users against the user score."""

from dataclasses import dataclass

from agon.attacks.community import (
    affiliation_mill,
    bad_mouthing,
    collaboration_mill,
    easy_prompts,
    feedback_spam,
    reciprocal_ring,
    self_feedback,
    sock_puppets,
    threshold_hugging,
    whitewashing,
)
from agon.attacks.community.season import Season
from agon.attacks.community.world import DAYS, World, observed_world, simulated_world
from agon.attacks.lab import Standing
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import ScoredRecords
from agon.disciplines.community.rules import CommunityRules
from agon.errors import Unreadable
from agon.records import Records


@dataclass(frozen=True)
class CommunityLab:
    """The attack lab of the community."""

    strategies: tuple[Strategy[Season], ...]
    discipline: str = "community"

    def simulate(self, *, size: int, seed: int) -> World:
        """Return a simulated community of ``size`` honest users.

        Raises:
            Unreadable: the size is below 10.
        """
        try:
            return simulated_world(size=size, seed=seed)
        except ValueError as error:
            raise Unreadable(f"cannot simulate the community: {error}") from None

    def observe(self, records: Records, *, seed: int) -> World:
        """Return a community as real records describe it; nothing is drawn."""
        del seed
        return observed_world(records)

    def play(
        self,
        world: World,
        rules: CommunityRules,
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

    def rules_at(self, rules: CommunityRules, epoch: int) -> CommunityRules:
        """Return the rules, which are those of every day."""
        del epoch
        return rules

    def standing(self, scored: ScoredRecords, played: Season) -> Standing:
        """Return who stands where by user score."""
        return played.standing(scored)


LAB = CommunityLab(
    (
        sock_puppets.STRATEGY,
        reciprocal_ring.STRATEGY,
        threshold_hugging.STRATEGY,
        easy_prompts.STRATEGY,
        feedback_spam.STRATEGY,
        self_feedback.STRATEGY,
        affiliation_mill.STRATEGY,
        collaboration_mill.STRATEGY,
        bad_mouthing.STRATEGY,
        whitewashing.STRATEGY,
    )
)
"""The lab and its catalog."""
