"""Correlations, intervals and percentile ranks against published values and plain definitions."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agon.kernel.statistics import (
    kendall,
    mean_ranks,
    pearson,
    percentile_ranks,
    spearman,
    two_sided_quantile,
    wilson,
)
from sizes import size

law = settings(max_examples=size(60), deadline=None)
columns = st.integers(0, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n)] * 2)
)


def test_pearson_vector_of_the_community_page() -> None:
    """The reviewer board's worked example."""
    r = pearson([1, 1, -1, 1, -1], [0.6, 0.8, -0.4, 0.2, -0.6])
    assert round(r, 5) == 0.92796


@pytest.mark.parametrize("confidence", [1e-9, 0.5, 0.68, 0.95, 0.99, 1 - 1e-9])
def test_two_sided_quantiles_equal_those_of_scipy(confidence: float) -> None:
    """Intervals and comparisons of ratings rest on it, without importing scipy."""
    expected = float(stats.norm.ppf((1 + confidence) / 2))
    assert two_sided_quantile(confidence) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("column", [[], [0.1], [0.1] * 7, [0.1 + 0.2, 0.3, 0.3]])
def test_what_does_not_vary_correlates_with_nothing(column: list[float]) -> None:
    """Zero variance is 0, also where adding up in another order left a last bit of variance."""
    other = [float(row) for row in range(len(column))]
    assert pearson(column, other) == 0.0
    assert pearson(other, column) == 0.0
    assert kendall([1.0] * len(other), other) == 0.0


@law
@given(columns)
def test_pearson_equals_scipy_and_stays_in_bounds(pair: tuple[list[int], list[int]]) -> None:
    """A second implementation where it has an answer; where it has none we say 0."""
    x, y = pair
    r = pearson(x, y)
    assert -1 <= r <= 1
    assert r == pearson(y, x)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_pearson_does_not_overflow(size: float) -> None:
    """Squares of large or small numbers must not turn a perfect correlation into noise."""
    x = [size * value for value in (1.0, 2.0, 4.0)]
    assert pearson(x, [1, 2, 4]) == pytest.approx(1.0)


def test_pearson_does_not_depend_on_row_order() -> None:
    """Sums are exact: the same pairs, shuffled, give the same bits."""
    dice = np.random.default_rng(3)
    x, y = dice.normal(size=(2, 500))
    order = dice.permutation(500)
    assert pearson(x, y) == pearson(x[order], y[order])


@law
@given(columns)
def test_spearman_equals_scipy(pair: tuple[list[int], list[int]]) -> None:
    """Ties share their mean rank, as the field has it; the interval holds the value."""
    x, y = pair
    result = spearman(x, y, confidence=0.95)
    assert result.interval.low <= result.value <= result.interval.high
    assert result.pairs == len(x)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert result.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_spearman_interval_by_hand() -> None:
    """ρ = 0.8 of 28 pairs: atanh 0.8 = 1.098612, reach 1.959964 x √(1.32 / 25)."""
    x = np.arange(5.0)
    result = spearman(x, [1, 0, 3, 2, 4], confidence=0.95)
    reach = 1.959964 * math.sqrt(1.32 / 2)
    assert result.value == pytest.approx(0.8)
    assert result.interval.low == pytest.approx(math.tanh(1.0986123 - reach), abs=1e-6)
    assert result.interval.high == pytest.approx(math.tanh(1.0986123 + reach), abs=1e-6)


def test_spearman_interval_is_wide_for_few_pairs() -> None:
    """Three pairs bound nothing; a perfect order of many is a point."""
    few = spearman([1, 2, 3], [1, 2, 3], confidence=0.95)
    assert (few.value, few.interval.low, few.interval.high) == (1.0, -1.0, 1.0)
    perfect = spearman(range(10), range(10), confidence=0.95)
    assert (perfect.value, perfect.interval.low, perfect.interval.high) == (1.0, 1.0, 1.0)
    flat = spearman([1, 1, 1, 1], [1, 2, 3, 4], confidence=0.95)
    assert (flat.value, flat.interval.low, flat.interval.high) == (0.0, -1.0, 1.0)


@law
@given(columns)
def test_kendall_equals_counting_pairs(pair: tuple[list[int], list[int]]) -> None:
    """τ-b by its definition, one pair at a time."""
    x, y = pair
    signs = [
        ((a > b) - (a < b), (c > d) - (c < d))
        for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2)
    ]
    balance = sum(one * other for one, other in signs)
    untied_x = sum(one != 0 for one, _ in signs)
    untied_y = sum(other != 0 for _, other in signs)
    expected = balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else 0.0
    assert kendall(x, y) == pytest.approx(expected, abs=1e-12)


def test_kendall_of_a_long_board_needs_no_pair_by_pair_count() -> None:
    """A hundred thousand rows have five billion pairs; one swap undoes two of them per pair."""
    n = 100_000
    swapped = np.arange(n).reshape(-1, 2)[:, ::-1].ravel()
    assert kendall(np.arange(n), swapped) == pytest.approx(1 - 2 * (n / 2) / (n * (n - 1) / 2))


def test_columns_must_pair_up() -> None:
    """A missing value belongs to a row; leaving it out is the caller's decision."""
    with pytest.raises(ValueError, match="2 and 1"):
        pearson([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        kendall([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="confidence"):
        spearman([1, 2], [1, 2], confidence=1.0)


@law
@given(st.lists(st.integers(-5, 5), max_size=30))
def test_ranks_and_percentiles_equal_their_definitions(values: list[int]) -> None:
    """Rank = 1 + below + half of the equal others; percentile = the same share of the others."""
    others = len(values) - 1
    positions = [sum(v < value for v in values) + (values.count(value) - 1) / 2 for value in values]
    assert mean_ranks(values).tolist() == [1 + position for position in positions]
    expected = [50.0] if others == 0 else [100 * position / others for position in positions]
    assert percentile_ranks(values).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilson_published_values(successes: int, trials: int, low: float, high: float) -> None:
    """81 of 263 is Newcombe's (1998) example; the ends 0 and 1 are exact."""
    result = wilson(successes, trials=trials, confidence=0.95)
    assert (round(result.low, 4), round(result.high, 4)) == (low, high)


@law
@given(st.floats(0, 1), st.floats(0, 1e6), st.floats(0.5, 0.999))
def test_wilson_holds_the_share_and_stays_a_share(
    share: float, trials: float, confidence: float
) -> None:
    """Effective counts are fractions; the interval never leaves 0 … 1."""
    successes = min(trials, share * trials)
    result = wilson(successes, trials=trials, confidence=confidence)
    assert 0 <= result.low <= result.high <= 1
    if trials:
        assert result.low - 1e-9 <= successes / trials <= result.high + 1e-9


def test_wilson_of_no_trials_is_everything() -> None:
    """Nothing is known, and that is an interval too."""
    assert (
        wilson(0, trials=0, confidence=0.95).low,
        wilson(0, trials=0, confidence=0.95).high,
    ) == (0.0, 1.0)
    with pytest.raises(ValueError, match="successes"):
        wilson(3, trials=2, confidence=0.95)
