"""Anchors of a Bradley–Terry fit: held exactly, all others where the likelihood is largest."""

import numpy as np
import pytest
from scipy.optimize import minimize

from agon.kernel.ratings.anchored_fit import hold_anchors
from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.intervals import Resampling, sandwich_intervals
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs


def matches(seed: int, players: int = 7) -> PairCounts:
    """Return outcomes of random matches, after one tie of each player with the next."""
    dice = np.random.default_rng(seed)
    ring = np.arange(players)
    a = np.append(ring, dice.integers(0, players, 60))
    b = (a + np.append(np.ones(players, int), dice.integers(1, players, 60))) % players
    points = np.append(np.full(players, 0.5), dice.choice([0, 0.5, 1], 60))
    return count_pairs(a, b, points, players=players)


def oracle(counts: PairCounts, held: dict[int, float], regularization: float) -> np.ndarray:
    """Minimize the negative log-likelihood, pair by pair, with the phantom as a player."""
    n = counts.players
    free = [player for player in range(n + 1) if player not in held]

    def strengths(values: np.ndarray) -> np.ndarray:
        theta = np.zeros(n + 1)
        theta[free] = values
        for player, value in held.items():
            theta[player] = value
        return theta

    def loss(values: np.ndarray) -> float:
        theta, total = strengths(values), 0.0
        for i, j, won, lost in zip(counts.i, counts.j, counts.wins_i, counts.wins_j, strict=True):
            total += won * np.log1p(np.exp(theta[j] - theta[i]))
            total += lost * np.log1p(np.exp(theta[i] - theta[j]))
        for i in range(n):
            apart = theta[i] - theta[n]
            total += regularization / 2 * (np.log1p(np.exp(apart)) + np.log1p(np.exp(-apart)))
        return float(total)

    best = minimize(loss, np.zeros(len(free)), method="BFGS", options={"gtol": 1e-7})
    return strengths(best.x)[:n]


@pytest.mark.parametrize("regularization", [0.0, 0.7])
@pytest.mark.parametrize("held", [{0: 1.0}, {2: -1.5, 5: 2.0}, {0: 3.0, 1: 3.5, 6: 9.0}])
def test_the_likelihood_is_largest_where_anchors_have_their_values(
    held: dict[int, float], regularization: float
) -> None:
    """The anchors exactly; all others as a general minimizer with the phantom as a player."""
    counts = matches(1)
    start = bradley_terry(counts, regularization=regularization).log_strength
    fit = hold_anchors(counts, held, regularization=regularization, start=start)
    assert {player: fit.log_strength[player] for player in held} == pytest.approx(held, abs=1e-12)
    assert fit.log_strength == pytest.approx(oracle(counts, held, regularization), abs=2e-5)


def test_one_anchor_is_a_shift() -> None:
    """It states the origin alone: the fit of all players is as likely as the shifted one."""
    counts = matches(2)
    plain = bradley_terry(counts, regularization=0.3)
    fit = hold_anchors(counts, {3: 5.0}, regularization=0.3, start=plain.log_strength)
    shift = 5.0 - plain.log_strength[3]
    assert fit.log_strength == pytest.approx(plain.log_strength + shift, abs=1e-8)


def test_intervals_are_about_the_distance_to_the_anchors() -> None:
    """An anchor has no width; two players against each other have the textbook's width."""
    counts = matches(3)
    start = bradley_terry(counts, regularization=0).log_strength
    fit = hold_anchors(counts, {1: 0.0, 4: 0.4}, regularization=0, start=start)
    resampling = Resampling(refits=40, seed=1, level=0.9)
    for made in (fit.intervals(level=0.9), fit.bootstrap(resampling)):
        assert made.low[[1, 4]] == pytest.approx([0.0, 0.4], abs=1e-7)  # against the first anchor
        assert made.high[[1, 4]] == pytest.approx([0.0, 0.4], abs=1e-7)
        others = np.delete(made.high - made.low, [1, 4])
        assert (others > 0.2).all()
    pair = count_pairs([0] * 8, [1] * 8, [1, 0] * 4, players=2)
    alone = bradley_terry(pair, regularization=0)
    held = hold_anchors(pair, {0: 0.0}, regularization=0, start=alone.log_strength)
    one = held.intervals(level=0.95)
    both = sandwich_intervals(pair, alone, level=0.95, center=np.array([0.5, 0.5]))
    assert one.high[1] - one.low[1] == pytest.approx(2 * (both.high[1] - both.low[1]))
