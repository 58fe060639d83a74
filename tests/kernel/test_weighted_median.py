"""Medians and outliers by weight: with equal weights the plain ones, and no identity counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agon.kernel.robust import median, modified_z, outliers
from agon.kernel.weighted_median import (
    supported_levels,
    weighted_medians,
    weighted_modified_z,
    weighted_outliers,
)
from sizes import size

law = settings(max_examples=size(200), deadline=None)
scores = st.integers(0, 10).map(lambda n: n / 10)
rows = st.lists(st.tuples(scores, st.integers(0, 5)), min_size=1, max_size=8)


def plain(pairs: list[tuple[float, int]]) -> float:
    """Return the median of a list in which each value stands as often as its weight says."""
    repeated = [Fraction(str(value)) for value, weight in pairs for _ in range(weight)]
    return median([float(value) for value in repeated or [Fraction(str(v)) for v, _ in pairs]])


@law
@given(rows)
@example([(0.0, 0), (0.5, 0), (1.0, 0)])
def test_a_weight_counts_like_as_many_equal_values(pairs: list[tuple[float, int]]) -> None:
    """The definition, for whole numbers; without any weight all values count the same."""
    values, weights = (np.array([column], dtype=float) for column in zip(*pairs, strict=True))
    assert weighted_medians(values, weights)[0] == pytest.approx(plain(pairs))


@law
@given(rows, st.integers(1, 4))
def test_splitting_an_identity_changes_nothing(pairs: list[tuple[float, int]], parts: int) -> None:
    """So many identities with little stake have what one with all of it has."""
    split = [(value, weight / parts) for value, weight in pairs for _ in range(parts)]
    whole, parted = (
        weighted_modified_z(
            np.array([[value for value, _ in each]]),
            np.ones((1, len(each)), dtype=bool),
            np.array([weight for _, weight in each], dtype=float),
            mad_when_zero=0.01,
        )[0]
        for each in (pairs, split)
    )
    assert parted[::parts].tolist() == pytest.approx(whole.tolist())


@law
@given(st.lists(scores, min_size=3, max_size=9), st.integers(0, 3))
def test_with_equal_weights_it_is_the_plain_test(values: list[float], absent: int) -> None:
    """Also with columns that do not count, whatever stands in them."""
    row = np.array([values + [0.123] * absent])
    counted = np.array([[True] * len(values) + [False] * absent])
    weights = np.full(len(values) + absent, 7.0)
    z = weighted_modified_z(row, counted, weights, mad_when_zero=0.01)[0]
    assert z[: len(values)].tolist() == pytest.approx(
        modified_z(values, mad_when_zero=0.01).tolist()
    )
    assert not z[len(values) :].any()
    flags = weighted_outliers(row, counted, weights, threshold=3.5, mad_when_zero=0.01)[0]
    usual = outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01)
    assert flags[: len(values)].tolist() == usual.tolist()


@law
@given(rows, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_a_supported_level_is_the_largest_that_enough_weight_reaches(
    pairs: list[tuple[float, int]], share: float
) -> None:
    """Enough weight gives it or more, and of no larger value is that true."""
    total = sum(weight for _, weight in pairs)
    level = supported_levels(
        np.array([[value for value, _ in pairs]]),
        np.ones((1, len(pairs)), dtype=bool),
        np.array([weight for _, weight in pairs], dtype=float),
        share=np.array([share]),
    )[0]
    reached = [
        value
        for value, _ in pairs
        if sum(weight for other, weight in pairs if other >= value) >= Fraction(str(share)) * total
    ]
    assert level == max(reached)


def test_a_row_without_values_has_level_zero() -> None:
    """A submission without evaluations improves on nothing."""
    values, counted = np.array([[0.9]]), np.zeros((1, 1), dtype=bool)
    assert supported_levels(values, counted, np.ones(1), share=np.array([0.5])).tolist() == [0.0]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 2)])
def test_rows_or_columns_may_be_missing(shape: tuple[int, int]) -> None:
    """A network whose validators were all removed has submissions and nothing about them."""
    values, counted, weights = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape[1])
    share = np.full(shape[0], 0.5)
    assert weighted_medians(values, values).tolist() == [0.0] * shape[0]
    flagged = weighted_outliers(values, counted, weights, threshold=3.5, mad_when_zero=0.01)
    assert flagged.shape == shape
    assert supported_levels(values, counted, weights, share=share).tolist() == [0.0] * shape[0]
