"""Bradley–Terry on a million matches: agon against evalica, both checked against the optimum."""

import argparse
import time

import evalica
import numpy as np
import numpy.typing as npt
import report  # type: ignore[import-not-found]  # of this folder

from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry, to_elo
from agon.kernel.ratings.encoding import encode
from agon.kernel.ratings.pair_counts import count_pairs

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer]


def optimum(a: Numbers, b: Numbers, score_a: Vector, players: int, near: Vector) -> Vector:
    """Climb match by match, without pair counts or curvature, until no slope is left.

    Newman's iteration over the raw matches: slow, and independent of what it checks.
    """
    strength = np.exp(near - near.mean())
    for _ in range(2000):
        sums = strength[a] + strength[b]
        gained = np.bincount(a, score_a * strength[b] / sums, players)
        gained += np.bincount(b, (1 - score_a) * strength[a] / sums, players)
        given = np.bincount(a, (1 - score_a) / sums, players)
        given += np.bincount(b, score_a / sums, players)
        climbed = gained / given
        climbed /= np.exp(np.log(climbed).mean())
        moved = np.abs(np.log(climbed / strength)).max()
        strength = climbed
        if moved < 1e-9:
            break
    theta: Vector = np.log(strength)
    return theta


def main() -> None:
    """Check and time each number of players, from player numbers and from string ids."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="matches")
    parser.add_argument("--players", type=int, nargs="*", default=[100, 1_000, 10_000])
    options = parser.parse_args()
    report.header("pyarrow", "evalica")
    for players in options.players:
        compare(options.size, players)


def compare(matches: int, players: int) -> None:
    """Compare on one contest."""
    dice = np.random.default_rng(players)
    strength = dice.normal(0, 1, players)
    # Player numbers of 32 bits, as `encode` gives them.
    a = dice.integers(0, players, matches, dtype=np.int32)
    b = (a + dice.integers(1, players, matches, dtype=np.int32)) % players
    wins = dice.random(matches) < 1 / (1 + np.exp(strength[b] - strength[a]))
    score_a = np.where(dice.random(matches) < 0.1, 0.5, wins)
    names = np.array([f"player-{number:05d}" for number in range(players)])
    left, right = names[a], names[b]
    # evalica takes lists fastest; agon takes Arrow columns, as a table has them.
    columns = {"numbers": (a.tolist(), b.tolist()), "string ids": (left.tolist(), right.tolist())}
    winners = [
        (evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X)[int(2 * s)] for s in score_a
    ]

    import pyarrow as pa

    arrow = pa.array(left), pa.array(right)

    def from_numbers() -> BradleyTerry:
        return bradley_terry(count_pairs(a, b, score_a, players=players), regularization=0.0)

    def from_ids() -> BradleyTerry:
        known, one, other = encode(*arrow)
        return bradley_terry(
            count_pairs(one, other, score_a, players=len(known)), regularization=0.0
        )

    fit = from_numbers()
    best = optimum(a, b, score_a, players, fit.log_strength)
    off = float(
        np.abs(fit.elo(scale=400.0, mean=1000.0) - to_elo(best, scale=400.0, mean=1000.0)).max()
    )
    print(f"{players:,} players: agon is {off:.1e} Elo from the optimum ({fit.steps} steps)")
    assert off <= 0.001
    for kind, ours in (("numbers", from_numbers), ("string ids", from_ids)):
        one, other = columns[kind]
        begin = time.perf_counter()
        peer = evalica.bradley_terry(one, other, winners)
        theirs_seconds = time.perf_counter() - begin
        if kind == "numbers":
            theta = np.log(peer.scores.sort_index().to_numpy())
            theirs_off = float(
                np.abs(
                    to_elo(theta - theta.mean(), scale=400.0, mean=1000.0)
                    - to_elo(best, scale=400.0, mean=1000.0)
                ).max()
            )
            print(f"evalica is {theirs_off:.1e} Elo from it ({peer.iterations} iterations)")
        if theirs_seconds < 2:  # cheap enough for a fair median; else that one run stands
            ours_seconds, theirs_seconds = report.medians(
                ours, lambda one=one, other=other: evalica.bradley_terry(one, other, winners)
            )
        else:
            (ours_seconds,) = report.medians(ours)
        report.compare(
            f"Bradley–Terry from {kind}, {matches:,} matches, {players:,} players",
            ours_seconds, "evalica", theirs_seconds, floor=20, aim=100,
        )  # fmt: skip


if __name__ == "__main__":
    main()
