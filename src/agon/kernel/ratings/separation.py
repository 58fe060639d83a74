"""Say which ratings are apart: ranks, tiers and neighbors by differences with their covariance.

Whether two marginal intervals overlap says nothing about a difference: the ratings of two players
who met often move together. So each comparison has its own standard error.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.covariance import Covariance
from agon.kernel.statistics import two_sided_quantile

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Simultaneous = Literal["none", "neighbours", "pairs"]

MANY: Final = 1_000_000_000
"""The number of matches beyond which it is only said that there are more."""

_MAX_PRODUCT: Final = 10_000_000_000  # multiplications to draw strengths
_MAX_COMPARED: Final = 1_000_000_000  # comparisons of all draws
_AT_A_TIME: Final = 1 << 22
_JITTER: Final = 1e-10  # of the mean variance: a covariance of differences is singular


_PAIR = 2  # players, of whom there is one comparison


@dataclass(frozen=True, kw_only=True)
class ComparisonRule:
    """How ratings are compared.

    Attributes:
        level: confidence, between 0 and 1.
        simultaneous: ``none``: each comparison by itself; ``neighbours``: *apart*, tiers and
            matches needed hold for all neighbors at once; ``pairs``: the ranks too, for all pairs.
        draws: how many strengths are drawn for a simultaneous critical value.
        seed: seed of the draws.
    """

    level: float
    simultaneous: Simultaneous
    draws: int
    seed: int


@dataclass(frozen=True, eq=False)
class Separation:
    """Which players' ratings are apart; arrays over players, or over neighbors by rating.

    Attributes:
        order: the players, best first.
        single: the critical value of one comparison.
        critical: the critical value of *apart*, tiers and matches needed; not below ``single``.
        rank_critical: the critical value of the ranks.
        rank_low, rank_high: the best and the worst rank that is not ruled out.
        tier: 1 for the best players; the next begins with a player who is apart from its head.
        gap: the difference of each player in ``order`` to the next, in log-strength.
        error: its standard error.
        needed: how many more matches of the same design part both; 0 where they are apart,
            infinite where no number does.
    """

    order: Numbers
    single: float
    critical: float
    rank_critical: float
    rank_low: Numbers
    rank_high: Numbers
    tier: Numbers
    gap: Vector
    error: Vector
    needed: Vector

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Whether each player in ``order`` is apart from the next."""
        return self.gap > self.critical * self.error

    @property
    def singly(self) -> npt.NDArray[np.bool_]:
        """Whether each player in ``order`` is apart from the next, by this comparison alone."""
        return self.gap > self.single * self.error


def separate(
    theta: Vector,
    covariance: Covariance,
    *,
    order: Numbers,
    comparison: ComparisonRule,
    matches: float,
    never_lost: npt.NDArray[np.bool_] | None = None,
    never_won: npt.NDArray[np.bool_] | None = None,
) -> Separation:
    """Compare players: i is above j when θ_i − θ_j > c · se, se² = V_ii + V_jj − 2 V_ij.

    For one comparison c is the quantile z of the normal distribution. For several at once it is
    the quantile of the largest |θ_i − θ_j| / se among the compared pairs under N(0, V), by seeded
    draws, and never below z; of more players than can be drawn it is the bound of Šidák (1967),
    which is never below that quantile. Where V rests on G clusters, a draw is divided by
    √(χ²/ν) with ν = G − 1, which makes it one of a multivariate t: the largest of many differences
    is where an uncertain V shows most.

    Args:
        theta: log-strengths.
        covariance: theirs.
        order: the players, best first, as the board ranks them.
        comparison: how they are compared.
        matches: number of matches that the ratings rest on.
        never_lost: players whose rating has no upper end: no player is above them.
        never_won: players whose rating has no lower end: they are above no player.

    Source: spec ranking, Intervals and ranks 1 to 4.

    Example:
        >>> even = Covariance((np.eye(3),), np.full(3, 1 / 3), np.zeros(3, dtype=np.int32))
        >>> alone = ComparisonRule(level=0.95, simultaneous="none", draws=100, seed=0)
        >>> made = separate(np.array([4.0, 1.0, 0.0]), even, order=np.arange(3),
        ...                 comparison=alone, matches=100)
        >>> made.rank_low.tolist(), made.rank_high.tolist(), made.tier.tolist()
        ([1, 2, 2], [1, 3, 3], [1, 2, 2])
        >>> made.needed.round().tolist()  # se √2: 1.96² · 2 / 1 = 7.7 times as many
        [0.0, 668.0]
    """
    players = len(theta)
    single = two_sided_quantile(comparison.level)
    critical = single
    pairs = comparison.simultaneous == "pairs"
    if comparison.simultaneous != "none" and players > _PAIR:
        critical = max(single, _critical_value(covariance, order, comparison, pairs=pairs))
    rank_critical = critical if pairs else single
    lost = np.zeros(players, dtype=bool) if never_lost is None else never_lost
    won = np.zeros(players, dtype=bool) if never_won is None else never_won
    rank_low, rank_high = _ranks(theta, covariance, rank_critical, never_lost=lost, never_won=won)
    upper, lower = order[:-1], order[1:]
    gap = np.maximum(theta[upper] - theta[lower], 0.0)
    error = np.sqrt(covariance.of_differences(upper, lower))
    # A rating without an end on the side of its neighbor parts the two by no number of matches.
    error[won[upper] | lost[lower]] = np.inf
    needed = _matches_needed(gap, critical * error, matches)
    tier = _tiers(theta, covariance, order, critical, never_lost=lost, never_won=won)
    return Separation(
        order, single, critical, rank_critical, rank_low, rank_high, tier, gap, error, needed
    )


def _matches_needed(gap: Vector, margin: Vector, matches: float) -> Vector:
    """Return how many more matches bring each margin below its gap.

    A standard error falls with the root of the number of matches, so n (margin / gap)² are needed
    in all.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # A gap of nearly 0 needs more matches than a number can hold: infinitely many.
        factor = np.where(gap > 0, (margin / gap) ** 2, np.inf)
        return np.where(gap > margin, 0.0, matches * np.maximum(factor - 1.0, 0.0))


def _ranks(
    theta: Vector,
    covariance: Covariance,
    critical: float,
    *,
    never_lost: npt.NDArray[np.bool_],
    never_won: npt.NDArray[np.bool_],
) -> tuple[Numbers, Numbers]:
    """Return the best and the worst rank of each player that comparisons with all others allow."""
    players = len(theta)
    rank_low, rank_high = np.ones((2, players), dtype=np.int64)
    for some, variance in covariance.rows():
        ahead = theta[some][:, None] - theta[None, :]
        margin = critical * np.sqrt(variance)
        # An end is open: who never won may be anywhere below, who never lost anywhere above.
        above = (ahead > margin) & ~never_won[some][:, None] & ~never_lost[None, :]
        below = (-ahead > margin) & ~never_lost[some][:, None] & ~never_won[None, :]
        # Below player i's interval of differences means: the other one is above i.
        rank_low[some] += below.sum(axis=1)
        rank_high[some] = players - above.sum(axis=1)
    return rank_low, rank_high


def _tiers(
    theta: Vector,
    covariance: Covariance,
    order: Numbers,
    critical: float,
    *,
    never_lost: npt.NDArray[np.bool_],
    never_won: npt.NDArray[np.bool_],
) -> Numbers:
    """Return each player's tier: walking down, one who is apart from the head begins the next."""
    tier = np.zeros(len(theta), dtype=np.int64)
    index, number = 0, 1
    while index < len(order):
        head, rest = order[index], order[index:]
        margin = critical * np.sqrt(covariance.of_differences(head, rest))
        apart = (theta[head] - theta[rest] > margin) & ~never_lost[rest] & ~never_won[head]
        first = int(apart.argmax()) if apart.any() else len(rest)
        tier[rest[:first]] = number
        index, number = index + first, number + 1
    return tier


def _critical_value(
    covariance: Covariance, order: Numbers, comparison: ComparisonRule, *, pairs: bool
) -> float:
    """Return the quantile of the largest standardized difference among the compared pairs."""
    players, level, draws = len(order), comparison.level, comparison.draws
    first, second = np.triu_indices(players, 1) if pairs else (order[:-1], order[1:])
    compared = len(first)
    if draws * players**2 > _MAX_PRODUCT or draws * compared > _MAX_COMPARED:
        # Too many to draw: Šidák's value, which holds for any dependence of normal differences.
        return _quantile((1.0 + level ** (1.0 / compared)) / 2.0, covariance.degrees)
    for matrix in covariance.estimates:
        alone = Covariance((matrix,), covariance.center, covariance.connected)
        error = np.sqrt(alone.of_differences(first, second))
        # Ratings that are equal by construction differ without error; such pairs are left out.
        known = np.isfinite(error) & (
            error > 1e-12 * (1.0 + error[np.isfinite(error)].max(initial=0))
        )
        if known.any():
            dice = np.random.default_rng(comparison.seed)
            largest = _largest(
                matrix, first[known], second[known], error[known], draws=draws, dice=dice
            )
            if np.isfinite(covariance.degrees):
                largest /= np.sqrt(dice.chisquare(covariance.degrees, draws) / covariance.degrees)
            return float(np.quantile(largest, level))
    return 0.0


def _quantile(share: float, degrees: float) -> float:
    """Return a quantile of the t distribution, which is the normal one for infinite degrees."""
    if np.isinf(degrees):
        return NormalDist().inv_cdf(share)
    from scipy.special import stdtrit  # takes 0.1 s; only needed here

    return float(stdtrit(degrees, share))


def _largest(
    matrix: Vector,
    first: Numbers,
    second: Numbers,
    error: Vector,
    *,
    draws: int,
    dice: np.random.Generator,
) -> Vector:
    """Draw strengths under N(0, V), and return the largest |θ_i − θ_j| / se of each draw."""
    players = len(matrix)
    # Centered: differences are the same, and what they do not depend on cannot drown them.
    centered = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    jitter = _JITTER * max(float(np.trace(centered)) / players, np.finfo(float).tiny)
    factor = np.linalg.cholesky(centered + jitter * np.eye(players))
    largest = np.empty(draws)
    step = max(1, _AT_A_TIME // max(1, len(first)))
    # Few differences are drawn at once; of many, strengths are drawn and then compared.
    contrast = (factor[first] - factor[second]) / error[:, None] if len(first) <= players else None
    for begin in range(0, draws, step):
        size = min(step, draws - begin)
        normals = dice.standard_normal((size, players))
        if contrast is not None:
            gap = normals @ contrast.T
        else:
            strengths = normals @ factor.T
            gap = (strengths[:, first] - strengths[:, second]) / error
        largest[begin : begin + size] = np.abs(gap, out=gap).max(axis=1)
    return largest
