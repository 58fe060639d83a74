"""Intervals and rank groups: they cover what they promise, and ranks follow from them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.intervals import bootstrap_intervals, rank_groups, sandwich_intervals
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs
from sizes import size

few = settings(max_examples=size(100), deadline=None)
ends = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 8)).map(lambda row: (row[0], row[0] + row[1])),
    max_size=12,
)


def drawn(strength: np.ndarray, matches: int, dice: np.random.Generator) -> PairCounts:
    """Play random matches between players of known strength."""
    n = len(strength)
    a = dice.integers(0, n, matches)
    b = (a + dice.integers(1, n, matches)) % n
    wins = dice.random(matches) < 1 / (1 + np.exp(strength[b] - strength[a]))
    return count_pairs(a, b, wins, players=n)


def test_sandwich_intervals_cover_the_truth_as_often_as_they_promise() -> None:
    """A 90 % interval that covers 70 % or 99 % is wrong; measured on 200 contests of 6 players."""
    dice = np.random.default_rng(11)
    truth = np.linspace(-1, 1, 6)
    covered = []
    for _ in range(200):
        counts = drawn(truth, 600, dice)
        intervals = sandwich_intervals(counts, bradley_terry(counts, regularization=0.0), level=0.9)
        covered.append((intervals.low <= truth) & (truth <= intervals.high))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


def test_bootstrap_and_sandwich_agree_on_plentiful_matches() -> None:
    """Two unrelated ways to the same width; 400 refits leave about 4 % of noise."""
    counts = drawn(np.linspace(-1, 1, 6), 3000, np.random.default_rng(3))
    fit = bradley_terry(counts, regularization=0.0)
    sandwich = sandwich_intervals(counts, fit, level=0.95)
    bootstrap = bootstrap_intervals(counts, fit, refits=400, seed=1, level=0.95)
    widths = (bootstrap.high - bootstrap.low) / (sandwich.high - sandwich.low)
    assert widths == pytest.approx(1.0, abs=0.2)
    assert bootstrap.separated == 0
    assert bootstrap.separated_regularization == 0.0


def test_the_sandwich_is_the_formula_of_its_docstring() -> None:
    """The naive version uses a pseudo-inverse and loops over matches."""
    dice = np.random.default_rng(8)
    a = dice.integers(0, 5, 200)
    b = (a + dice.integers(1, 5, 200)) % 5
    scores = dice.integers(0, 3, 200) / 2
    counts = count_pairs(a, b, scores, players=5)
    fit = bradley_terry(counts, regularization=0.0)
    bread, meat = np.zeros((2, 5, 5))
    for one, other, score in zip(a, b, scores, strict=True):
        p = 1 / (1 + np.exp(fit.log_strength[other] - fit.log_strength[one]))
        contrast = np.eye(5)[one] - np.eye(5)[other]
        bread += p * (1 - p) * np.outer(contrast, contrast)
        meat += (score - p) ** 2 * np.outer(contrast, contrast)
    inverse = np.linalg.pinv(bread)
    width = 1.6448536269514722 * np.sqrt(np.diag(inverse @ meat @ inverse))
    intervals = sandwich_intervals(counts, fit, level=0.9)
    assert intervals.high - fit.log_strength == pytest.approx(width, rel=1e-9)
    assert fit.log_strength - intervals.low == pytest.approx(width, rel=1e-9)


def test_a_player_without_matches_is_as_uncertain_as_the_prior() -> None:
    """A width of zero would call the unknown player certain."""
    counts = count_pairs([0, 0, 1], [1, 1, 0], [1, 0.5, 1], players=50)
    fit = bradley_terry(counts, regularization=1.0)
    intervals = sandwich_intervals(counts, fit, level=0.95)
    # Prior variance 4/λ, of which the mean of 50 takes a fiftieth.
    assert intervals.high[7] - fit.log_strength[7] == pytest.approx(1.96 * 2 * 0.99, rel=0.01)


def test_resamples_without_an_optimum_are_counted_and_declared() -> None:
    """Among few matches a player often has only wins; the interval must say so."""
    counts = count_pairs([0, 0, 1, 1, 2], [1, 1, 2, 2, 0], [1, 0, 1, 0, 0.5], players=3)
    fit = bradley_terry(counts, regularization=0.0)
    intervals = bootstrap_intervals(
        counts, fit, refits=50, seed=4, level=0.9, separated_regularization=0.25
    )
    assert 0 < intervals.separated < 50
    assert intervals.separated_regularization == 0.25
    assert np.isfinite([intervals.low, intervals.high]).all()


def test_the_same_seed_gives_the_same_intervals() -> None:
    """Every reader can check a published interval."""
    counts = drawn(np.linspace(-1, 1, 4), 300, np.random.default_rng(3))
    fit = bradley_terry(counts, regularization=0.0)
    one, same, other = (
        bootstrap_intervals(counts, fit, refits=20, seed=seed, level=0.9) for seed in (1, 1, 2)
    )
    assert one.low.tobytes() == same.low.tobytes()
    assert one.low.tobytes() != other.low.tobytes()


def test_a_regularized_fit_keeps_its_prior_in_every_refit() -> None:
    """Its resamples always have an optimum, so none is separated."""
    counts = count_pairs([0, 0], [1, 1], [1, 1], players=3)
    fit = bradley_terry(counts, regularization=1.0)
    intervals = bootstrap_intervals(counts, fit, refits=10, seed=1, level=0.9)
    assert intervals.separated == 0
    assert intervals.low == pytest.approx(fit.log_strength, abs=1e-7)


def test_intervals_move_to_the_elo_scale_with_their_ratings() -> None:
    """Low and high have the scale of the rating."""
    counts = drawn(np.linspace(-1, 1, 4), 300, np.random.default_rng(3))
    fit = bradley_terry(counts, regularization=0.0)
    low, high = sandwich_intervals(counts, fit, level=0.9).elo(scale=400.0, mean=1000.0)
    assert (low < fit.elo(scale=400.0, mean=1000.0)).all()
    assert (fit.elo(scale=400.0, mean=1000.0) < high).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
def test_a_level_out_of_bounds_is_rejected(level: float) -> None:
    """95 in place of 0.95 is the usual slip."""
    counts = count_pairs([0], [1], [0.5], players=2)
    fit = bradley_terry(counts, regularization=0.0)
    with pytest.raises(ValueError, match="such as"):
        sandwich_intervals(counts, fit, level=level)
    with pytest.raises(ValueError, match="such as"):
        bootstrap_intervals(counts, fit, refits=2, seed=1, level=level)


def test_no_refits_and_no_help_for_separated_ones_are_rejected() -> None:
    """Both would leave an interval without meaning."""
    counts = count_pairs([0], [1], [0.5], players=2)
    fit = bradley_terry(counts, regularization=0.0)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_intervals(counts, fit, refits=0, seed=1, level=0.9)
    with pytest.raises(ValueError, match="above 0"):
        bootstrap_intervals(counts, fit, refits=2, seed=1, level=0.9, separated_regularization=0.0)


@few
@given(ends)
def test_ranks_and_groups_agree_with_all_comparisons(rows: list[tuple[int, int]]) -> None:
    """Sorting is quick; comparing every pair and every set of players is plainly right."""
    ranks = rank_groups([low for low, _ in rows], [high for _, high in rows])
    for x, (low, high) in enumerate(rows):
        assert ranks.rank_low[x] == 1 + sum(other > high for other, _ in rows)
        assert ranks.rank_high[x] == len(rows) - sum(other < low for _, other in rows)
    meeting = {
        frozenset(x for x, (low, high) in enumerate(rows) if low <= point <= high)
        for point in range(30)
    } - {frozenset()}
    largest = {group for group in meeting if not any(group < other for other in meeting)}
    groups = [frozenset(group) for group in ranks.groups()]
    assert set(groups) == largest
    assert len(groups) == len(largest)


@pytest.mark.parametrize(("low", "high"), [([1], [0]), ([float("nan")], [1]), ([1, 2], [3])])
def test_ends_that_make_no_interval_are_rejected(low: list[float], high: list[float]) -> None:
    """A rank from a swapped interval would be nonsense."""
    with pytest.raises(ValueError, match="low end"):
        rank_groups(low, high)
