"""Measure what the arena's hardened edition changes for attackers and for honest judges.

Run ``python benchmarks/arena_hardening.py [--worlds N]``. It scores the same worlds under
the literal edition, the hardened one, and the hardened one without each of its changes.
"""

import argparse

import report  # type: ignore[import-not-found]  # of this folder

from agon.attacks.ablation import guards_of
from agon.attacks.catalog import lab_of
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulation.hardening import (
    dodging_gain,
    rank_correlation,
    share_below,
    wrong_votes_bought,
)
from agon.editions import edition

LITERAL, HARDENED = "arena/sentience-1", "arena/hardened-1"


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
