"""Return how sure Bradley–Terry ratings are: by the sandwich formula, or by refitting resamples.

From the intervals follow those of the ranks, and groups of indistinguishable players.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.kernel.progress import count_steps
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry, groups_of, to_elo
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.pair_counts import PairCounts

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """A confidence interval per player, in log-strength against the mean of all players.

    ``refits`` and ``separated`` speak of the bootstrap: how many resamples were fitted, and in how
    many of them no finite optimum existed, so that ``separated_regularization`` had to help.
    """

    low: Vector
    high: Vector
    level: float
    method: str
    refits: int = 0
    separated: int = 0
    separated_regularization: float = 0.0

    def elo(self, *, scale: float, mean: float) -> tuple[Vector, Vector]:
        """Return ``(low, high)`` on the Elo scale."""
        return (
            to_elo(self.low, scale=scale, mean=mean),
            to_elo(self.high, scale=scale, mean=mean),
        )


def sandwich_intervals(counts: PairCounts, fit: BradleyTerry, *, level: float) -> Intervals:
    """Return θ ± z · sqrt(diag(A⁻¹ B A⁻¹)), robust to a misspecified model.

    A is the information n p (1 - p) of the pairs, B the sum of squared residuals (score - p)² of
    the matches, both as pair matrices; the result is that of θ minus the mean of all θ. Phantom
    matches of a regularized fit count in B with their expected variance, so that a player without
    matches has the width of the prior, not none. The matrices are dense: 8 players² bytes each, a
    gigabyte apiece from some 11,000 players on; beyond, use :func:`bootstrap_intervals`.

    Raises:
        ValueError: when ``level`` is not between 0 and 1.

    Source: issue 2, Ratings (sandwich confidence intervals).

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> even = count_pairs([0] * 8, [1] * 8, [1, 0] * 4, players=2)
        >>> fit = bradley_terry(even, regularization=0)
        >>> sandwich_intervals(even, fit, level=0.95).high.round(4).tolist()
        [0.693, 0.693]

        There A = B = 8/4 for the difference, whose variance is 1/2; half the difference has
        variance 1/8, and 1.96 / sqrt(8) = 0.693.
    """
    _check_level(level)
    from scipy.special import ndtri

    theta = fit.log_strength
    bread, meat = pair_matrices(counts, theta, fit.regularization)
    if fit.regularization == 0.0 and counts.players:
        # Regularizes the constant direction, which the centering below removes again.
        bread += max(float(np.trace(bread)), 1.0) / counts.players**2
    inverse = np.linalg.inv(bread)
    centered = inverse - inverse.mean(axis=0, keepdims=True) if counts.players else inverse
    width = float(ndtri((1.0 + level) / 2.0)) * np.sqrt(
        np.sum((centered @ meat) * centered, axis=1)
    )
    return Intervals(theta - width, theta + width, level, "sandwich")


def bootstrap_intervals(
    counts: PairCounts,
    fit: BradleyTerry,
    *,
    refits: int,
    seed: int,
    level: float,
    separated_regularization: float = 0.1,
) -> Intervals:
    """Refit resampled matches and take the middle share ``level`` of each player's log-strengths.

    A resample draws as many matches with replacement, by one multinomial over the outcomes of the
    pairs; each refit starts from ``fit`` and keeps its regularization. Where an unregularized
    resample has no finite optimum (a player drew only wins, or no match) it is fitted with
    ``separated_regularization`` instead, and the result includes how often.

    Args:
        counts: outcomes per pair.
        fit: the ratings of these counts.
        refits: number of resamples, at least 1.
        seed: seed of the draws; the same seed gives the same intervals.
        level: confidence, between 0 and 1.
        separated_regularization: λ > 0 of resamples without a finite optimum.

    Raises:
        ValueError: when a number is out of its bounds.

    Source: issue 2, Ratings (bootstrap confidence intervals).
    """
    _check_level(level)
    if refits < 1:
        raise ValueError(f"refits is {refits}; at least one resample is needed")
    if not 0.0 < separated_regularization < np.inf:
        raise ValueError(
            f"separated_regularization is {separated_regularization}; it must be above 0"
        )
    dice = np.random.default_rng(seed)
    drawn = np.empty((refits, counts.players))
    separated = 0
    for refit in count_steps(range(refits), label="resampling", total=refits):
        resample = counts.resample(dice)
        regularization = fit.regularization
        if regularization == 0.0 and groups_of(resample)[0] > 1:
            regularization = separated_regularization
            separated += 1
        drawn[refit] = bradley_terry(
            resample, regularization=regularization, start=fit.log_strength
        ).log_strength
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return Intervals(
        low, high, level, "bootstrap", refits, separated,
        separated_regularization if separated else 0.0,
    )  # fmt: skip


def pair_matrices(
    counts: PairCounts, theta: Vector, regularization: float
) -> tuple[Vector, Vector]:
    """Return the information and the sum of squared residuals as matrices over players.

    Args:
        counts: outcomes per pair.
        theta: the log-strengths; the phantom's is 0.
        regularization: tied matches of every player against the phantom.
    """
    wins = logistic(theta[counts.i] - theta[counts.j])
    residuals = (
        counts.won_i * (1.0 - wins) ** 2 + counts.tied * (0.5 - wins) ** 2 + counts.won_j * wins**2
    )
    phantom = regularization * logistic(theta) * logistic(-theta)
    information = pair_matrix(counts, counts.matches * wins * (1.0 - wins), phantom)
    return information, pair_matrix(counts, residuals, phantom)


def pair_matrix(counts: PairCounts, of_pairs: Vector, of_players: Vector) -> Vector:
    """Return Σ c_ij (e_i - e_j)(e_i - e_j)ᵀ + diag(d), players × players."""
    matrix = np.zeros((counts.players, counts.players))
    matrix[counts.i, counts.j] = matrix[counts.j, counts.i] = -of_pairs
    np.fill_diagonal(matrix, of_players - matrix.sum(axis=1))
    return matrix


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, such as 0.95; got {level}")


Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankGroups:
    """The best (``rank_low``) and worst (``rank_high``) rank of each player by its interval.

    ``meeting_points`` has one value per group, best first: a point in the intervals of
    exactly the group's members. Groups overlap; each is as large as can be.
    """

    low: Vector
    high: Vector
    rank_low: Numbers
    rank_high: Numbers
    meeting_points: Vector

    def members(self, group: int) -> Numbers:
        """Return the players of a group (0 is the best), in player order."""
        point = self.meeting_points[group]
        return np.flatnonzero((self.low <= point) & (point <= self.high))

    def groups(self) -> list[list[int]]:
        """Return the players of every group, best group first."""
        return [self.members(group).tolist() for group in range(len(self.meeting_points))]


def rank_groups(low: npt.ArrayLike, high: npt.ArrayLike) -> RankGroups:
    """Return ranks of intervals: x is surely ahead of y when x's low end is above y's high end.

    rank_low = 1 + players surely ahead; rank_high = players - those surely behind. Players whose
    intervals share a point are indistinguishable; touching ends share a point.

    Raises:
        ValueError: when an interval has its ends swapped or not a number.

    Source: issue 2, Ratings (rank groups); arena, Elo.

    Example:
        >>> ranks = rank_groups([90, 70, 60, 10], [99, 80, 75, 20])
        >>> ranks.rank_low.tolist(), ranks.rank_high.tolist()
        ([1, 2, 2, 4], [1, 3, 3, 4])
        >>> ranks.groups()
        [[0], [1, 2], [3]]
    """
    lows, highs = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if lows.shape != highs.shape or not (lows <= highs).all():
        raise ValueError("each interval needs a low end at or below its high end")
    by_low, by_high = np.sort(lows), np.sort(highs)
    ahead = len(lows) - np.searchsorted(by_low, highs, side="right")
    behind = np.searchsorted(by_high, lows, side="left")
    # The players who share a low end's point are a largest group when an interval ends before
    # the next higher low end: moving the point up would lose a member.
    above = np.append(by_low, np.inf)[np.searchsorted(by_low, by_low, side="right")]
    first_end = by_high[np.searchsorted(by_high, by_low, side="left")]
    meeting_points = np.unique(by_low[first_end < above])[::-1]
    return RankGroups(
        low=lows,
        high=highs,
        rank_low=(1 + ahead).astype(np.int64),
        rank_high=(len(lows) - behind).astype(np.int64),
        meeting_points=meeting_points,
    )
