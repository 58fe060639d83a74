"""Clusters: matches that depend on one another say less than their number."""

import numpy as np
import pytest

from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import sandwich_covariance
from agon.kernel.ratings.pair_counts import count_pairs

DICE = np.random.default_rng(5)
A = DICE.integers(0, 4, 120)
B = (A + DICE.integers(1, 4, 120)) % 4
SCORE = DICE.integers(0, 2, 120).astype(float)
EACH = np.arange(120)


def robust(times: int, of_match: np.ndarray | None, *more: np.ndarray) -> np.ndarray:
    """Return the robust variances of differences of matches that occur so many times."""
    a, b, score = (np.repeat(values, times) for values in (A, B, SCORE))
    counts = count_pairs(a, b, score, players=4)
    clusters = None if of_match is None else Clusters("prompt", 4, a, b, score, (of_match, *more))
    fit = bradley_terry(counts, regularization=0.0)
    made = sandwich_covariance(counts, fit, center=np.full(4, 0.25), clusters=clusters)
    matrix = made.estimates[0]
    variances: np.ndarray = matrix[0, 0] + np.diag(matrix)[1:] - 2 * matrix[0, 1:]
    return variances


def test_verdicts_that_repeat_one_another_are_one_verdict() -> None:
    """Three judges who always agree are one judge, but for the correction of few clusters."""
    once, three = robust(1, None), robust(3, np.repeat(EACH, 3))
    assert three == pytest.approx(once * 120 / 119)
    assert robust(3, None) == pytest.approx(once / 3)


def test_clusters_of_one_match_are_independent_matches() -> None:
    """But for the correction."""
    assert robust(1, EACH) == pytest.approx(robust(1, None) * 120 / 119)


def test_two_criteria_of_which_one_separates_all_are_the_other() -> None:
    """Prompts that are judged once each add nothing to judges."""
    judges = EACH % 30
    both = robust(1, judges, EACH)
    assert both == pytest.approx(robust(1, judges), rel=0.02)


def test_a_resample_draws_whole_clusters() -> None:
    """The matches of a cluster are drawn equally often."""
    a, b = np.zeros(6, dtype=int), np.ones(6, dtype=int)
    clusters = Clusters(
        "prompt", 2, a, b, np.array([1.0] * 3 + [0.0] * 3), (np.array([0, 0, 0, 1, 1, 1]),)
    )
    dice = np.random.default_rng(1)
    for _ in range(20):
        drawn = clusters.resample(dice)
        assert drawn.won_i.sum() % 3 == 0
        assert drawn.matches.sum() == 6
