"""Return how sure Bradley–Terry ratings are: by the sandwich formula, or by refitting resamples."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.kernel.progress import count_steps
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry, groups_of
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import Covariance, resample_covariance, sandwich_covariance
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.statistics import two_sided_quantile

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """A confidence interval per player, in log-strength against a weighted mean of all players.

    ``refits`` and ``separated`` speak of the bootstrap: how many resamples were fitted, and in how
    many of them no finite optimum existed, so that ``separated_regularization`` had to help.
    """

    strength: Vector
    low: Vector
    high: Vector
    level: float
    method: str
    covariance: Covariance
    refits: int = 0
    separated: int = 0
    separated_regularization: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How matches are resampled for a bootstrap interval.

    Where an unregularized resample has no finite optimum (a player drew only wins, or no match) it
    is fitted with ``separated_regularization`` tied matches against the mean.

    Attributes:
        refits: number of resamples, at least 1.
        seed: seed of the draws; the same seed gives the same intervals.
        level: confidence, between 0 and 1.
        separated_regularization: λ > 0 of resamples without a finite optimum.

    Raises:
        ValueError: when a number is out of its bounds.
    """

    refits: int
    seed: int
    level: float
    separated_regularization: float = 0.1

    def __post_init__(self) -> None:
        _check_level(self.level)
        if self.refits < 1:
            raise ValueError(f"refits is {self.refits}; at least one resample is needed")
        if not 0.0 < self.separated_regularization < np.inf:
            raise ValueError(
                f"separated_regularization is {self.separated_regularization}; it must be above 0"
            )


def sandwich_intervals(
    counts: PairCounts,
    fit: BradleyTerry,
    *,
    level: float,
    center: Vector,
    clusters: Clusters | None = None,
) -> Intervals:
    """Return θ ± z · se by :func:`~agon.kernel.ratings.covariance.sandwich_covariance`.

    Args:
        counts: outcomes per pair.
        fit: the ratings of these counts.
        level: confidence, between 0 and 1.
        center: the weight of each player in the reference, of sum 1.
        clusters: which matches depend on one another; None: they do not.

    Raises:
        ValueError: when ``level`` is not between 0 and 1.

    Source: issue 2, Ratings (sandwich confidence intervals).

    Example:
        Two players with 8 matches each won half: half the difference has variance 1/8, and
        1.96 / sqrt(8) = 0.693.

        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> even = count_pairs([0] * 8, [1] * 8, [1, 0] * 4, players=2)
        >>> fit = bradley_terry(even, regularization=0)
        >>> made = sandwich_intervals(even, fit, level=0.95, center=np.array([0.5, 0.5]))
        >>> made.high.round(4).tolist()
        [0.693, 0.693]
    """
    covariance = sandwich_covariance(counts, fit, center=center, clusters=clusters)
    return covariance_intervals(fit.log_strength, covariance, level=level)


def covariance_intervals(theta: Vector, covariance: Covariance, *, level: float) -> Intervals:
    """Return the intervals of strengths whose covariance is known.

    Raises:
        ValueError: when ``level`` is not between 0 and 1.
    """
    _check_level(level)
    strength = theta - covariance.center @ theta
    width = two_sided_quantile(level) * np.sqrt(covariance.of_ratings())
    return Intervals(strength, strength - width, strength + width, level, "sandwich", covariance)


def bootstrap_intervals(
    counts: PairCounts,
    fit: BradleyTerry,
    *,
    resampling: Resampling,
    center: Vector,
    floor: Covariance | None = None,
    clusters: Clusters | None = None,
) -> Intervals:
    """Refit resampled matches and take the middle share of each player's log-strengths.

    Each refit starts from ``fit`` and keeps its regularization.

    Args:
        counts: outcomes per pair.
        fit: the ratings of these counts.
        resampling: how often, and the share.
        center: the weight of each player in the reference, of sum 1.
        floor: a covariance whose model variances are the least; None: resamples alone count.
        clusters: which matches are drawn together; None: each is drawn by itself.

    Source: issue 2, Ratings (bootstrap confidence intervals).
    """

    def refit(resample: PairCounts, regularization: float) -> Vector:
        again = bradley_terry(resample, regularization=regularization, start=fit.log_strength)
        return again.log_strength

    return resample_intervals(
        counts,
        fit.log_strength,
        refit=refit,
        regularization=fit.regularization,
        resampling=resampling,
        center=center,
        floor=floor,
        clusters=clusters,
    )


def resample_intervals(
    counts: PairCounts,
    theta: Vector,
    *,
    refit: Callable[[PairCounts, float], Vector],
    regularization: float,
    resampling: Resampling,
    center: Vector,
    floor: Covariance | None,
    clusters: Clusters | None = None,
) -> Intervals:
    """Return intervals by refits of resampled matches.

    A resample draws as many matches with replacement, by one multinomial over the outcomes of the
    pairs. No interval is narrower than the model's own (see
    :func:`~agon.kernel.ratings.covariance.sandwich_covariance`): resamples of one match repeat it.

    Args:
        counts: outcomes per pair.
        theta: their log-strengths.
        refit: returns the log-strengths of a resample under a regularization.
        regularization: λ ≥ 0 of the fit.
        resampling: how often, and the share.
        center: the weight of each player in the reference, of sum 1.
        floor: a covariance whose model variances are the least; None: there is none.
        clusters: which matches are drawn together; None: each is drawn by itself.
    """
    dice = np.random.default_rng(resampling.seed)
    refits = resampling.refits
    drawn = np.empty((refits, counts.players))
    separated = 0
    for number in count_steps(range(refits), label="resampling", total=refits):
        resample = (counts if clusters is None else clusters).resample(dice)
        used = regularization
        # A resample may lose the one match that connects two groups; alone it has no finite fit.
        if regularization == 0.0 and groups_of(resample)[0] > 1:
            used = resampling.separated_regularization
            separated += 1
        drawn[number] = refit(resample, used)
    covariance = resample_covariance(
        drawn, counts=counts, center=center, floor=floor, clusters=clusters
    )
    tail = (1.0 - resampling.level) / 2.0
    # Each refit is centered by itself: only differences are estimated.
    low, high = np.quantile(drawn - (drawn @ center)[:, None], [tail, 1.0 - tail], axis=0)
    strength = theta - center @ theta
    if floor is not None:
        least = two_sided_quantile(resampling.level) * np.sqrt(floor.model().of_ratings())
        low, high = np.minimum(low, strength - least), np.maximum(high, strength + least)
    return Intervals(
        strength,
        low,
        high,
        resampling.level,
        "bootstrap",
        covariance,
        refits,
        separated,
        resampling.separated_regularization if separated else 0.0,
    )


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, such as 0.95; got {level}")
