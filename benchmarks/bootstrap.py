"""A hundred bootstrap refits of a million matches of 100 players: agon against evalica's refits."""

import argparse
import time

import evalica
import numpy as np
import report  # type: ignore[import-not-found]  # of this folder

from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.intervals import Intervals, Resampling, bootstrap_intervals
from agon.kernel.ratings.pair_counts import count_pairs


def main() -> None:
    """Refit with both, check that the intervals agree, and compare; counting pairs is included.

    evalica's refits are timed on ``--peer-refits`` resamples and scaled up to all of them: one
    takes as long as the next. Drawing the resample itself is not charged to evalica.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="matches")
    parser.add_argument("--players", type=int, default=100)
    parser.add_argument("--refits", type=int, default=100)
    parser.add_argument("--peer-refits", type=int, default=20)
    options = parser.parse_args()
    report.header("evalica")
    dice = np.random.default_rng(1)
    strength = dice.normal(0, 1, options.players)
    a = dice.integers(0, options.players, options.size)
    b = (a + dice.integers(1, options.players, options.size)) % options.players
    wins = dice.random(options.size) < 1 / (1 + np.exp(strength[b] - strength[a]))
    score_a = np.where(dice.random(options.size) < 0.1, 0.5, wins)
    kinds = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X], dtype=object)
    winners = kinds[(2 * score_a).astype(int)]

    def ours() -> Intervals:
        counts = count_pairs(a, b, score_a, players=options.players)
        fit = bradley_terry(counts, regularization=0.0)
        return bootstrap_intervals(
            counts,
            fit,
            resampling=Resampling(refits=options.refits, seed=1, level=0.95),
            center=np.full(counts.players, 1 / counts.players),
        )

    drawn, seconds = [], 0.0
    for _ in range(options.peer_refits):
        rows = dice.integers(0, options.size, options.size)
        left, right, outcome = a[rows].tolist(), b[rows].tolist(), winners[rows].tolist()
        begin = time.perf_counter()
        scores = evalica.bradley_terry(left, right, outcome).scores
        seconds += time.perf_counter() - begin
        theta = np.log(scores.sort_index().to_numpy())
        drawn.append(theta - theta.mean())
    intervals = ours()
    spread = np.std(drawn, axis=0, ddof=1).mean()
    expected = ((intervals.high - intervals.low) / (2 * 1.96)).mean()
    print(f"mean standard error: agon {expected:.5f}, evalica {spread:.5f} (log-strength)")
    assert abs(expected / spread - 1) < 0.25
    (ours_seconds,) = report.medians(ours, repeat=3)
    report.compare(
        f"{options.refits} bootstrap refits, {options.size:,} matches, {options.players} players",
        ours_seconds, "evalica", seconds / options.peer_refits * options.refits, floor=10, aim=18,
    )  # fmt: skip


if __name__ == "__main__":
    main()
