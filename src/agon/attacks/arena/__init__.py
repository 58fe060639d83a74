"""The attack lab of the arena: strategies of bots and of judges."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from agon.attacks.arena import (
    audit_fishing,
    bank_of_trust,
    best_of_clones,
    honeypot_guessing,
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
from agon.attacks.lab import AttackStanding, Lab, Remaining
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.arena.boards import BOTS, BRADLEY_TERRY
from agon.disciplines.arena.formulas import Vector
from agon.disciplines.arena.integrity import Inspection, inspect
from agon.disciplines.arena.ratings.strengths import scores_of
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.kernel.boards import ranking
from agon.kernel.findings import Finding
from agon.kernel.rounding import publish
from agon.records import read_rows


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


@dataclass(frozen=True, kw_only=True)
class ArenaLab(Lab):
    """Scores and checks matches as the season holds them: as tables they would take far longer."""

    def standing(self, played: PlayedSeason, _rules: ArenaRules) -> AttackStanding:
        """Return who stands where: the season's own ratings are those of its records."""
        return played.standing

    def findings(self, played: PlayedSeason, rules: ArenaRules, epoch: int) -> list[Finding]:
        """Return the findings by the end of a day."""
        with read_rows(SCHEMA, {**played.registered, "matches": []}) as accounts:
            return inspect(Inspection(accounts, played.facts(epoch), rules))

    def remaining(self, played: PlayedSeason, rules: ArenaRules) -> Mapping[str, Remaining]:
        """Return the honest bots after a season without the attacker's bots and votes.

        Bradley–Terry ratings without their intervals, which many bots make too large.
        """
        scored = ScoredArena(played.facts(played.epochs[-1], undone=True), rules)
        ids = scored.bots.ids
        everyone = np.arange(len(ids))
        rated, strengths = scores_of(scored.bots, scored.standings, scored.pairs, rules)
        return {
            board: _ranks_and_scores(ids.take(pa.array(bots)), score)
            for board, bots, score in (
                (BOTS, everyone, publish(scored.rating)),
                (BRADLEY_TERRY, rated, strengths),
            )
        }


def _ranks_and_scores(names: pa.Array, score: Vector) -> Remaining:
    """Return rank and score by name; equal scores share a rank."""
    order, ranks = ranking(names, [-score], shared=True)
    ordered = names.take(pa.array(order)).to_pylist()
    return dict(zip(ordered, zip(ranks.tolist(), score[order].tolist(), strict=True), strict=True))


LAB = ArenaLab(
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
        honeypot_guessing.STRATEGY,
    ),
    simulated_world=simulated_world,
    observed_world=observed_world,
    actors={"bots": "id", "owners": "id", "votes": "judge_id"},
    undone_boards=(BOTS, BRADLEY_TERRY),
    play=_play,
    joint_rules=(("credibility_agree", "credibility_disagree"),),
)
