"""Measure power and false alarms of the arena's detectors, and print the table of the rulebook.

Run ``python benchmarks/arena_detectors.py [--worlds N] [--false-alarms SHARE]``. A world is 30
judges of whom one has the stated behavior; false alarms are of the 29 honest ones.
"""

import argparse

import report  # type: ignore[import-not-found]  # stands beside this script

from agon.disciplines.arena.behaviors import SUBJECT, Behavior, draw_votes
from agon.disciplines.arena.detectors import favorite_bot, literal_power, low_agreement
from agon.disciplines.arena.rules import ArenaRules

CASES: tuple[tuple[Behavior, int, int], ...] = (
    ("coin flip", 100, 20),
    ("coin flip", 200, 20),
    ("always wrong", 25, 20),
    ("always wrong", 50, 20),
    ("always for one bot", 10, 20),
    ("always for one bot", 20, 5),
    ("always for one bot", 20, 10),
    ("always for one bot", 20, 50),
    ("specialist", 50, 10),
    ("specialist", 200, 10),
    ("specialist", 200, 50),
    ("honest", 200, 20),
)
"""Behavior, votes of the judge, bots."""

DETECTORS = {"low-agreement": low_agreement, "favorite-bot": favorite_bot}


def shares(
    code: str, behavior: Behavior, *, votes: int, bots: int, worlds: int, rules: ArenaRules
) -> tuple[float, float]:
    """Return the share of worlds that report the judge, and of honest judges reported."""
    hits = alarms = judges = 0
    for seed in range(worlds):
        facts = draw_votes(behavior, votes=votes, bots=bots, seed=seed)
        reported = {finding.subjects[0] for finding in DETECTORS[code](facts, rules)}
        subject = facts.judges.ids[SUBJECT].as_py()
        hits += subject in reported
        alarms += len(reported - {subject})
        judges += len(facts.judges) - 1
    return hits / worlds, alarms / judges


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--false-alarms", type=float, default=0.01)
    options = parser.parse_args()
    report.header()
    rules = ArenaRules(detector_false_alarms=options.false_alarms)
    print("| judge | votes | bots | low-agreement | favorite-bot | literal collusion |")
    print("| --- | --- | --- | --- | --- | --- |")
    worst = dict.fromkeys(DETECTORS, 0.0)
    for behavior, votes, bots in CASES:
        cells = []
        for code in DETECTORS:
            share, alarms = shares(
                code, behavior, votes=votes, bots=bots, worlds=options.worlds, rules=rules
            )
            worst[code] = max(worst[code], alarms)
            cells.append(f"{share:.3f}")
        power = literal_power(bots, votes=rules.recent_votes, above=rules.collusion_votes)
        literal = f"{power:.2g}" if behavior == "always for one bot" else ""
        print(f"| {behavior} | {votes} | {bots} | {' | '.join(cells)} | {literal} |", flush=True)
    alarms_shown = ", ".join(f"{code} {share:.4f}" for code, share in worst.items())
    print(f"\nmost false alarms of honest judges in any row: {alarms_shown}")


if __name__ == "__main__":
    main()
