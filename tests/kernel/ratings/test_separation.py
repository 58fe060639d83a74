"""Ranks, tiers and neighbors: by differences with their covariance, alone and together."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import studentized_range

from agon.kernel.ratings.covariance import Covariance
from agon.kernel.ratings.separation import ComparisonRule, Separation, Simultaneous, separate
from sizes import size


def compare(
    theta: list[float],
    matrix: np.ndarray,
    *,
    simultaneous: Simultaneous = "none",
    connected: list[int] | None = None,
    never_lost: list[bool] | None = None,
    draws: int = 4000,
    degrees: float = np.inf,
) -> Separation:
    """Compare strengths of a known covariance."""
    players = len(theta)
    covariance = Covariance(
        (matrix,),
        np.full(players, 1 / players),
        np.array(connected or [0] * players, dtype=np.int32),
        degrees,
    )
    return separate(
        np.array(theta),
        covariance,
        order=np.argsort(-np.array(theta), kind="stable"),
        comparison=ComparisonRule(level=0.95, simultaneous=simultaneous, draws=draws, seed=1),
        matches=100,
        never_lost=None if never_lost is None else np.array(never_lost),
    )


def test_players_who_move_together_are_apart_though_their_intervals_overlap() -> None:
    """Two who met often have a sure difference, however unsure the distance to the others is."""
    together = np.full((2, 2), 4.0) + 0.01 * np.eye(2)
    made = compare([1.0, 0.5], together)
    assert made.rank_low.tolist() == [1, 2]
    assert made.rank_high.tolist() == [1, 2]
    assert made.apart.tolist() == [True]


@settings(max_examples=size(100), deadline=None)
@example([0.0, 2.3741878688959974e-154], 0)  # a gap that needs more matches than a float holds
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=8), st.integers(0, 1000))
def test_ranks_and_tiers_agree_with_all_comparisons(theta: list[float], seed: int) -> None:
    """Loops over all pairs are plainly right."""
    factor = np.random.default_rng(seed).normal(size=(len(theta), len(theta)))
    matrix = factor @ factor.T / 4
    made = compare(theta, matrix)

    def above(i: int, j: int) -> bool:
        error = np.sqrt(matrix[i, i] + matrix[j, j] - 2 * matrix[i, j])
        return bool(theta[i] - theta[j] > 1.959963984540054 * error)

    everyone = range(len(theta))
    assert made.rank_low.tolist() == [1 + sum(above(j, i) for j in everyone) for i in everyone]
    assert made.rank_high.tolist() == [
        len(theta) - sum(above(i, j) for j in everyone) for i in everyone
    ]
    head, tier = made.order[0], 1
    for player in made.order:
        if above(head, player):
            head, tier = player, tier + 1
        assert made.tier[player] == tier


@pytest.mark.sample(1)
@pytest.mark.parametrize("degrees", [9.0, 29.0, np.inf])
def test_all_pairs_of_independent_ratings_are_compared_as_by_tukey(degrees: float) -> None:
    """The critical value is that of the studentized range: of so many clusters less one."""
    made = compare(
        [0.0] * 6, np.eye(6), simultaneous="pairs", draws=200_000, degrees=degrees
    )  # fmt: skip
    expected = studentized_range.ppf(0.95, 6, degrees) / np.sqrt(2)
    assert made.critical == pytest.approx(expected, abs=0.02)
    alone = compare([0.0] * 6, np.eye(6), degrees=degrees)
    assert alone.critical == alone.single == pytest.approx(1.96, abs=1e-3)


def test_several_comparisons_need_a_larger_difference_than_one() -> None:
    """Of all neighbors, and more so of all pairs; the ranks follow with pairs only."""
    theta, matrix = [4.0, 3.0, 2.0, 1.0, 0.0], np.eye(5) * 0.1
    none, neighbours, pairs = (
        compare(theta, matrix, simultaneous=rule) for rule in ("none", "neighbours", "pairs")
    )
    assert none.critical == none.single == pytest.approx(1.96, abs=1e-3)
    assert none.critical < neighbours.critical < pairs.critical
    assert neighbours.rank_critical == neighbours.single
    assert pairs.rank_critical == pairs.critical
    assert pairs.critical == pytest.approx(2.73, abs=0.06)  # Tukey's q(5, ∞) / √2


def test_more_players_than_can_be_drawn_have_a_bound() -> None:
    """Šidák's is never below the quantile, and exact for independent comparisons."""
    players = 1200
    made = compare([0.0] * players, np.eye(players), simultaneous="neighbours", draws=10_000)
    assert made.critical == pytest.approx(4.1, abs=0.05)


def test_players_whom_nothing_compares_span_each_other() -> None:
    """Two groups that never met: no difference between them is known."""
    made = compare([9.0, 0.0, 8.0, 1.0], np.eye(4) * 0.01, connected=[0, 0, 1, 1])
    assert made.rank_low.tolist() == [1, 2, 1, 2]
    assert made.rank_high.tolist() == [3, 4, 3, 4]
    assert made.needed[0] == np.inf


def test_nobody_is_above_a_player_who_never_lost() -> None:
    """Its rating has no upper end."""
    made = compare([5.0, 1.0, 0.0], np.eye(3) * 0.01, never_lost=[False, False, True])
    assert made.rank_low.tolist() == [1, 2, 1]
    assert made.rank_high.tolist() == [2, 3, 3]


def test_matches_needed_part_two_players() -> None:
    """Four times the matches halve the error: with these, both are just apart."""
    gap, error = 1.0, 2.0
    made = compare([gap, 0.0], np.diag([error**2 / 2] * 2))
    more = (100 + made.needed[0]) / 100
    assert gap == pytest.approx(1.959964 * error / np.sqrt(more))
    assert compare([9.0, 0.0], np.eye(2)).needed.tolist() == [0.0]
