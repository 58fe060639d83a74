"""Measure what rules make of dishonest judges, of honest ones and of bots that do not answer.

All figures come from the code that scores records; ``benchmarks/arena_hardening.py`` prints them.
"""

from dataclasses import replace
from statistics import fmean, median

import numpy as np

from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.formulas import NONE, SIDE_A, SIDE_B
from agon.disciplines.arena.history import (
    credibilities_of,
    ratings_of,
    results_of,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulation.behaviors import SUBJECT, Behavior, draw_votes
from agon.kernel.statistics import spearman

_LAST = 2200
"""Wrong votes after the honest ones that are tried; a judge that survives them counts as this."""


def deactivated_after(facts: Facts, rules: ArenaRules) -> int | None:
    """Return after how many of its votes the judge under test falls below the active threshold.

    None where it stays.
    """
    credibilities = credibilities_of(facts, results_of(facts, rules), rules)
    fell = credibilities.deactivation_of(SUBJECT, level=rules.credibility_active)
    if fell is None:
        return None
    own = facts.votes.match[facts.votes.opens[SUBJECT] : facts.votes.opens[SUBJECT + 1]]
    return int(np.searchsorted(own, credibilities.match[fell], side="right"))


def share_below(behavior: Behavior, *, votes: int, rules: ArenaRules, worlds: int) -> float:
    """Return the share of such judges that fall below the threshold within so many votes."""
    fell = [
        deactivated_after(_draw(behavior, votes=votes, rules=rules, seed=seed), rules)
        for seed in range(worlds)
    ]
    return sum(votes_until is not None for votes_until in fell) / worlds


def wrong_votes_bought(*, saved: int, rules: ArenaRules, worlds: int) -> float:
    """Return the median number of wrong votes that a judge can cast after honest ones."""
    bought = []
    for seed in range(worlds):
        facts = _draw(
            "honest, then wrong", votes=saved + _LAST, rules=rules, seed=seed, saved=saved
        )
        fell = deactivated_after(facts, rules)
        bought.append(_LAST if fell is None else max(0, fell - saved))
    return float(median(bought))


def dodging_gain(*, rules: ArenaRules, worlds: int) -> float:
    """Return the mean rating that a bot of middle strength gains if half its losses get no answer.

    Such a match is void or a loss of that bot, by the rule ``forfeit``.
    """
    return fmean(_dodging_gain(rules, seed) for seed in range(worlds))


def _dodging_gain(rules: ArenaRules, seed: int) -> float:
    facts = _draw("honest", votes=500, rules=rules, seed=seed)
    results = results_of(facts, rules)
    before = ratings_of(facts, results, rules).rating
    bot = int(np.argsort(before)[len(before) // 2])
    matches = facts.matches
    lost = (matches.bot_a == bot) & (results.final == SIDE_B)
    lost |= (matches.bot_b == bot) & (results.final == SIDE_A)
    lost &= np.random.default_rng(seed).random(len(matches)) < 0.5  # noqa: PLR2004 - half of them
    if rules.forfeit == "void":
        changed = replace(results, final=np.where(lost, NONE, results.final))
    else:
        changed = results
    return float(ratings_of(facts, changed, rules).rating[bot] - before[bot])


def rank_correlation(board: str, first: ArenaRules, second: ArenaRules, *, worlds: int) -> float:
    """Return the mean Spearman correlation of a board under two rules, without attackers."""
    correlations = []
    for seed in range(worlds):
        facts = _draw("honest", votes=500, rules=first, seed=seed)
        scores = []
        for rules in (first, second):
            results = results_of(facts, rules)
            scores.append(
                ratings_of(facts, results, rules).rating
                if board == "bots"
                else credibilities_of(facts, results, rules).credibility
            )
        correlations.append(spearman(*scores, confidence=0.95).value)
    return fmean(correlations)


def _draw(behavior: Behavior, *, votes: int, rules: ArenaRules, seed: int, saved: int = 0) -> Facts:
    return draw_votes(
        behavior,
        votes=votes,
        saved=saved,
        honeypots=rules.honeypot_probability,
        audits=rules.audit_probability,
        seed=seed,
    )
