"""Measure what the arena's hardened edition changes for attackers and for honest judges.

Run ``python benchmarks/arena_hardening.py [--worlds N]``. It scores the same worlds under
the literal edition, the hardened one, and the hardened one without each of its changes.
"""

import argparse
from dataclasses import replace
from statistics import fmean, median

import numpy as np

from agon.attacks.ablation import guards_of
from agon.attacks.catalog import lab_of
from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.formulas import NONE, SIDE_A, SIDE_B
from agon.disciplines.arena.history import credibilities_of, ratings_of, results_of
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulation.behaviors import SUBJECT, Behavior, draw_votes
from agon.editions import edition
from agon.kernel.statistics import spearman

LITERAL, HARDENED = "arena/sentience-1", "arena/hardened-1"

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
    lost &= np.random.default_rng(seed).random(len(matches)) < 0.5
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


def variants() -> dict[str, ArenaRules]:
    """Return the two editions, and the hardened one without each of its changes."""
    literal, hardened = (edition(name).rules for name in (LITERAL, HARDENED))
    assert isinstance(literal, ArenaRules)
    assert isinstance(hardened, ArenaRules)
    off = {
        f"hardened without {' and '.join(guard)}": hardened.override(
            {name: value for name, (value, _) in guard.items()}
        )
        for guard in guards_of(lab_of("arena"), edition(HARDENED))
        if "detector_false_alarms" not in guard  # its findings change no score
    }
    return {LITERAL: literal, HARDENED: hardened, **off}


def main() -> None:
    """Print the table."""
    import report  # type: ignore[import-not-found]  # of this folder

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    options = parser.parse_args()
    report.header()
    print(
        "| rules | coins below 50 after 500 votes | honest below 50 after 500, 1,000 | "
        "wrong votes after 1,000 honest | points by not answering half of the losses |"
    )
    print("| --- | --- | --- | --- | --- |")
    worlds = options.worlds
    for name, rules in variants().items():
        coins = share_below("coin flip", votes=500, rules=rules, worlds=worlds)
        honest = [
            share_below("honest", votes=votes, rules=rules, worlds=5 * worlds)
            for votes in (500, 1000)
        ]
        bought = wrong_votes_bought(saved=1000, rules=rules, worlds=max(1, worlds // 5))
        gain = dodging_gain(rules=rules, worlds=max(1, worlds // 5))
        print(
            f"| {name} | {coins:.3f} | {honest[0]:.4f}, {honest[1]:.4f} | {bought:.0f} | "
            f"{gain:+.0f} |",
            flush=True,
        )
    editions = variants()
    for board in ("bots", "judges"):
        correlation = rank_correlation(board, editions[LITERAL], editions[HARDENED], worlds=10)
        print(f"rank correlation of {board}, literal and hardened, no attackers: {correlation:.4f}")


if __name__ == "__main__":
    main()
