"""Measure what challenge/hardened-1 costs honest people, and print the figures of the rulebook.

Run ``python benchmarks/challenge_hardening.py``. Simulations have no attackers; the reference
edition scores the same records.
"""

import numpy as np
import report  # type: ignore[import-not-found]  # of this folder
from scipy.stats import spearmanr

from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import score
from agon.disciplines.challenge.simulate import simulate
from agon.editions import edition
from agon.records import Records, read_rows

SIZES = ((2_000, 12), (5_000, 8), (20_000, 4))
"""Evaluations, and number of seeds."""

EDITIONS = ("challenge/term-1", "challenge/hardened-1")


def figures(records: Records, name: str) -> tuple[dict[str, float], float, int]:
    """Return weights by uid, the share of evaluations left out, and the number of validators."""
    scored = score(records, ChallengeRules().override(edition(name).rules.model_dump()))
    weights = {row["id"]: float(row["score"]) for row in scored.board("weights").rows()}
    validators = scored.board("validators").rows()
    flagged = sum(row["flagged"] for row in validators)
    return weights, flagged / sum(row["evaluations"] for row in validators), len(validators)


def main() -> None:
    """Print the table: rank correlation of miners, and evaluations left out as outliers."""
    report.header()
    print("| evaluations | validators | ranks: mean | least | left out: term-1 | hardened-1 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size, seeds in SIZES:
        ranks, shares, validators = [], [], 0
        for seed in range(seeds):
            with read_rows(SCHEMA, simulate(size=size, seed=seed).tables) as records:
                (literal, out, _), (hardened, more, validators) = (
                    figures(records, name) for name in EDITIONS
                )
            uids = sorted(literal)
            before, after = ([of[uid] for uid in uids] for of in (literal, hardened))
            ranks.append(float(spearmanr(before, after)[0]))
            shares.append((out, more))
        left_out = " | ".join(f"{share:.1%}" for share in np.mean(shares, axis=0))
        print(f"| {size:,} | {validators} | {np.mean(ranks):.3f} | {min(ranks):.3f} | {left_out} |")


if __name__ == "__main__":
    main()
