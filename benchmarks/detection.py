"""Measure how often the integrity checks find each simulated attack, and report honest records.

Run ``python benchmarks/detection.py [DISCIPLINE …] [--seeds N]``; it prints the tables of the
rulebook's pages (docs/rules). An attack counts as found when the check that is about it reports
more warnings than on the honest records of the same seed.
"""

import argparse
from collections import Counter
from collections.abc import Iterator

from agon.disciplines import discipline
from agon.kernel.findings import Severity
from agon.records import read_rows

SIZES = {"community": (400, 1_000), "challenge": (5_000,), "arena": (8_000,)}
"""Sizes of the simulations, as in the tests of each discipline."""


def codes(name: str, *, size: int, seed: int, attack: str | None) -> Counter[str]:
    """Return the number of warnings of each code on a simulation with one attack or none."""
    of = discipline(name)
    made = of.simulate(size=size, seed=seed, attacks=[attack] if attack else [])
    found = of.find(read_rows(of.schema, made.tables), of.rules())
    return Counter(one.code for one in found if one.severity is not Severity.INFO)


def rows(name: str, *, size: int, seeds: int) -> Iterator[str]:
    """Yield a line of the table for each attack, and one for honest records."""
    honest = {seed: codes(name, size=size, seed=seed, attack=None) for seed in range(1, seeds + 1)}
    for attack in discipline(name).attacks:
        new: Counter[str] = Counter()
        for seed, before in honest.items():
            after = codes(name, size=size, seed=seed, attack=attack)
            new.update({code for code in after if after[code] > before[code]})
        found = ", ".join(f"{code} {count}" for code, count in new.most_common()) or "none"
        yield f"| {attack} | {size:,} | {seeds} | {found} |"
    false = Counter(code for found in honest.values() for code in found)
    reported = ", ".join(f"{code} {count}" for code, count in false.most_common()) or "none"
    yield f"| none (honest) | {size:,} | {seeds} | {reported} |"


def main() -> None:
    """Print a table for each discipline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("disciplines", nargs="*", default=list(SIZES), metavar="DISCIPLINE")
    parser.add_argument("--seeds", type=int, default=40)
    given = parser.parse_args()
    for name in given.disciplines:
        unit = discipline(name).size_unit
        print(f"\n{name}\n\n| attack | {unit} | seeds | simulations with a finding |")
        print("| --- | --- | --- | --- |")
        for size in SIZES[name]:
            for row in rows(name, size=size, seeds=given.seeds):
                print(row, flush=True)


if __name__ == "__main__":
    main()
