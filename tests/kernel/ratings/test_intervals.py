"""Intervals: they cover what they promise, and are never narrower than the model's own."""

from dataclasses import replace

import numpy as np
import pytest

from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.intervals import Resampling, bootstrap_intervals, sandwich_intervals
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs


def even(players: int) -> np.ndarray:
    """Weigh all players alike, as the mean does."""
    return np.full(players, 1 / players)


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
        intervals = sandwich_intervals(
            counts, bradley_terry(counts, regularization=0.0), level=0.9, center=even(6)
        )
        covered.append((intervals.low <= truth) & (truth <= intervals.high))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


def test_bootstrap_and_sandwich_agree_on_plentiful_matches() -> None:
    """Two unrelated ways to the same width; 400 refits leave about 4 % of noise."""
    counts = drawn(np.linspace(-1, 1, 6), 3000, np.random.default_rng(3))
    fit = bradley_terry(counts, regularization=0.0)
    sandwich = sandwich_intervals(counts, fit, level=0.95, center=even(counts.players))
    bootstrap = bootstrap_intervals(
        counts,
        fit,
        center=even(counts.players),
        resampling=Resampling(refits=400, seed=1, level=0.95),
    )
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
    robust, model = np.diag(inverse @ meat @ inverse), np.diag(inverse)
    width = 1.6448536269514722 * np.sqrt(np.maximum(robust, model))
    intervals = sandwich_intervals(counts, fit, level=0.9, center=even(counts.players))
    assert intervals.high - fit.log_strength == pytest.approx(width, rel=1e-9)
    assert fit.log_strength - intervals.low == pytest.approx(width, rel=1e-9)
    alone = replace(intervals.covariance, estimates=intervals.covariance.estimates[:1])
    assert alone.of_ratings() == pytest.approx(robust, rel=1e-9)


def test_a_player_without_matches_is_as_uncertain_as_the_prior() -> None:
    """A width of zero would call the unknown player certain."""
    counts = count_pairs([0, 0, 1], [1, 1, 0], [1, 0.5, 1], players=50)
    fit = bradley_terry(counts, regularization=1.0)
    intervals = sandwich_intervals(counts, fit, level=0.95, center=even(counts.players))
    # Prior variance 4/λ, of which the mean of 50 takes a fiftieth.
    assert intervals.high[7] - fit.log_strength[7] == pytest.approx(1.96 * 2 * 0.99, rel=0.01)


def test_resamples_without_an_optimum_are_counted_and_declared() -> None:
    """Among few matches a player often has only wins; the interval must say so."""
    counts = count_pairs([0, 0, 1, 1, 2], [1, 1, 2, 2, 0], [1, 0, 1, 0, 0.5], players=3)
    fit = bradley_terry(counts, regularization=0.0)
    intervals = bootstrap_intervals(
        counts,
        fit,
        center=even(counts.players),
        resampling=Resampling(refits=50, seed=4, level=0.9, separated_regularization=0.25),
    )
    assert 0 < intervals.separated < 50
    assert intervals.separated_regularization == 0.25
    assert np.isfinite([intervals.low, intervals.high]).all()


def test_the_same_seed_gives_the_same_intervals() -> None:
    """Every reader can check a published interval."""
    counts = drawn(np.linspace(-1, 1, 4), 300, np.random.default_rng(3))
    fit = bradley_terry(counts, regularization=0.0)
    one, same, other = (
        bootstrap_intervals(
            counts,
            fit,
            center=even(counts.players),
            resampling=Resampling(refits=20, seed=seed, level=0.9),
        )
        for seed in (1, 1, 2)
    )
    assert one.low.tobytes() == same.low.tobytes()
    assert one.low.tobytes() != other.low.tobytes()


def test_a_regularized_fit_keeps_its_prior_in_every_refit() -> None:
    """Its resamples always have an optimum, so none is separated."""
    counts = count_pairs([0, 0], [1, 1], [1, 1], players=3)
    fit = bradley_terry(counts, regularization=1.0)
    intervals = bootstrap_intervals(
        counts, fit, resampling=Resampling(refits=10, seed=1, level=0.9), center=even(3)
    )
    assert intervals.separated == 0
    assert intervals.low == pytest.approx(fit.log_strength, abs=1e-7)


@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_no_interval_is_narrower_than_the_model(interval: str) -> None:
    """One tie has no residual, and its resamples repeat it; the next match may still end anyhow."""
    counts = count_pairs([0], [1], [0.5], players=2)
    fit = bradley_terry(counts, regularization=0.0)
    if interval == "sandwich":
        made = sandwich_intervals(counts, fit, level=0.95, center=even(2))
    else:
        floor = sandwich_intervals(counts, fit, level=0.95, center=even(2)).covariance
        made = bootstrap_intervals(
            counts,
            fit,
            resampling=Resampling(refits=20, seed=1, level=0.95),
            center=even(2),
            floor=floor,
        )
    assert made.high == pytest.approx([1.96, 1.96], abs=1e-3)  # half of a difference of se 2
    assert made.covariance.of_differences(0, 1) == pytest.approx(4.0)


def test_a_newcomer_changes_nothing_among_established_players() -> None:
    """Against a mean weighted by matches: against the plain mean all are as unsure as it is."""
    established = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    a, b = np.repeat(established, 80, axis=0).T
    score = np.tile([1, 0], 240)
    widths, errors = [], []
    for more in (0, 2):  # matches of the newcomer against player 0, one won and one lost
        counts = count_pairs(
            np.concatenate([a, np.full(more, 4)]),
            np.concatenate([b, np.zeros(more, dtype=int)]),
            np.append(score, [1, 0][:more]),
            players=4 + (more > 0),
        )
        fit = bradley_terry(counts, regularization=0.0)
        weights = counts.of_players() / counts.of_players().sum()
        made = sandwich_intervals(counts, fit, level=0.95, center=weights)
        widths.append((made.high - made.low)[:4] / 2 * 400 / np.log(10))
        errors.append(made.covariance.of_differences([0, 1], [1, 2]))
    assert errors[1] == pytest.approx(errors[0])
    assert widths[0] == pytest.approx([32.97] * 4, abs=0.01)
    assert widths[1] == pytest.approx(widths[0], abs=0.3)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
def test_a_level_out_of_bounds_is_rejected(level: float) -> None:
    """95 in place of 0.95 is the usual slip."""
    counts = count_pairs([0], [1], [0.5], players=2)
    fit = bradley_terry(counts, regularization=0.0)
    with pytest.raises(ValueError, match="such as"):
        sandwich_intervals(counts, fit, level=level, center=even(2))
    with pytest.raises(ValueError, match="such as"):
        bootstrap_intervals(
            counts,
            fit,
            center=even(counts.players),
            resampling=Resampling(refits=2, seed=1, level=level),
        )


def test_no_refits_and_no_help_for_separated_ones_are_rejected() -> None:
    """Both would leave an interval without meaning."""
    with pytest.raises(ValueError, match="at least one"):
        Resampling(refits=0, seed=1, level=0.9)
    with pytest.raises(ValueError, match="above 0"):
        Resampling(refits=2, seed=1, level=0.9, separated_regularization=0.0)
