"""Correlations, percentiles and intervals of shares.

No function returns NaN: for undefined values the result is documented. Probabilities of counts by
chance are in ``tails.py``.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from agon.kernel.arrays import FloatArray, IntArray

_SAME = 1e-12  # relative spread below which a column does not vary: the noise of computing it
_MIN_FOR_INTERVAL = 4  # Fisher's z has variance 1 / (n - 3)


@dataclass(frozen=True)
class Interval:
    """The two ends of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Correlation:
    """A correlation, its confidence interval and its number of pairs."""

    value: float
    interval: Interval
    pairs: int


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Correlate two columns: r = Σ(x - x̄)(y - ȳ) / √(Σ(x - x̄)² Σ(y - ȳ)²), in -1 … 1.

    A column that does not vary (relative spread below 1e-12), or is shorter than two, gives 0.
    Sums are exact, so the order of the pairs does not matter.

    Raises:
        ValueError: when the columns differ in length or contain a value that is not finite.

    Source: document 000, reviewer score; community, contributor and reviewer boards.

    Example:
        >>> round(pearson([1, 1, -1, 1, -1], [.6, .8, -.4, .2, -.6]), 5)
        0.92796
        >>> pearson([1, 1, 1], [1, 2, 3])
        0.0
    """
    first, second = _pairs(x, y)
    if _constant(first) or _constant(second):
        return 0.0
    first = first / np.abs(first).max()  # so that no square overflows or vanishes
    second = second / np.abs(second).max()
    first = first - math.fsum(first) / len(first)
    second = second - math.fsum(second) / len(second)
    spread = math.sqrt(math.fsum(first * first)) * math.sqrt(math.fsum(second * second))
    return max(-1.0, min(1.0, math.fsum(first * second) / spread))


def spearman(x: npt.ArrayLike, y: npt.ArrayLike, *, confidence: float) -> Correlation:
    """Correlate the ranks of two columns (ties share their mean rank): Spearman's ρ.

    The interval is tanh(atanh ρ ± z √((1 + ρ²/2) / (n - 3))): Fisher's transformation with Bonett
    and Wright's variance. Below four pairs it is -1 … 1 (uninformative); at ρ = ±1 it is that
    point. Columns that do not vary give 0 as in :func:`pearson`, and -1 … 1.

    Raises:
        ValueError: as :func:`pearson`; or when ``confidence`` is not inside 0 … 1.

    Source: community, cross-validation against an external reputation.

    Example:
        >>> found = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], confidence=0.95)  # 1 - 6·4 / (5·24)
        >>> round(found.value, 6), round(found.interval.low, 3), round(found.interval.high, 3)
        (0.8, -0.457, 0.991)
    """
    first, second = _pairs(x, y)
    z = two_sided_quantile(confidence)
    rho = pearson(mean_ranks(first), mean_ranks(second))
    if len(first) < _MIN_FOR_INTERVAL or _constant(first) or _constant(second):
        return Correlation(rho, Interval(-1.0, 1.0), len(first))
    if abs(rho) >= 1.0 - _SAME:
        rho = math.copysign(1.0, rho)
        return Correlation(rho, Interval(rho, rho), len(first))
    reach = z * math.sqrt((1 + rho * rho / 2) / (len(first) - 3))
    middle = math.atanh(rho)
    return Correlation(
        rho, Interval(math.tanh(middle - reach), math.tanh(middle + reach)), len(first)
    )


def kendall(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Correlate two orders: Kendall's τ-b = (C - D) / √((P - Tx)(P - Ty)), in -1 … 1.

    Of all P = n(n - 1)/2 pairs of rows, C are in the same order in both columns, D in opposite
    orders, Tx tied in x, Ty tied in y. O(n log n). A column that does not vary gives 0.

    Raises:
        ValueError: as :func:`pearson`.

    Example:
        >>> kendall([1, 2, 3], [1, 3, 2])  # two pairs agree, one does not
        0.3333333333333333
    """
    first, second = (_dense(column) for column in _pairs(x, y))
    tied_one, tied_other = _tied_pairs(first), _tied_pairs(second)
    pairs = len(first) * (len(first) - 1) // 2
    if pairs in (tied_one, tied_other):
        return 0.0
    tied_both = _tied_pairs(_dense(first * (second.max() + 1) + second))
    discordant = _inversions(second[np.lexsort((second, first))])
    # Python integers from here on: products of pair counts exceed 64 bits.
    balance = pairs - tied_one - tied_other + tied_both - 2 * discordant
    tau = balance / math.sqrt((pairs - tied_one) * (pairs - tied_other))
    return max(-1.0, min(1.0, tau))


def mean_ranks(values: npt.ArrayLike) -> FloatArray:
    """Rank values from 1, smallest first; equal values share the mean of their ranks.

    Example:
        >>> mean_ranks([10, 30, 10, 20]).tolist()
        [1.5, 4.0, 1.5, 3.0]
    """
    _, place, counts = np.unique(_column(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place]


def percentile_ranks(values: npt.ArrayLike) -> FloatArray:
    """Return the percentage of the *other* values below each value, equal ones counting half.

    The best of many is at 100, the worst at 0; a single value is at 50.

    Source: community, combined view.

    Example:
        >>> percentile_ranks([10, 20, 20, 40, 30]).tolist()
        [0.0, 37.5, 37.5, 100.0, 75.0]
    """
    ranks = mean_ranks(values)
    if len(ranks) == 1:
        return np.array([50.0])
    return 100.0 * (ranks - 1) / max(1, len(ranks) - 1)


def wilson(successes: float, *, trials: float, confidence: float) -> Interval:
    """Bound a share by Wilson's score interval, which stays inside 0 … 1 for any counts.

    (s + z²/2 ± z √(s(1 - s/n) + z²/4)) / (n + z²) for s successes in n trials. Counts may be
    fractions (effective counts). Without trials it is 0 … 1.

    Raises:
        ValueError: when not 0 ≤ successes ≤ trials, or ``confidence`` is not inside 0 … 1.

    Example:
        >>> share = wilson(8, trials=10, confidence=0.95)
        >>> round(share.low, 4), round(share.high, 4)
        (0.4902, 0.9433)
    """
    if not 0 <= successes <= trials < math.inf:
        raise ValueError(f"{successes} successes in {trials} trials: give 0 ≤ successes ≤ trials")
    z = two_sided_quantile(confidence)
    if trials == 0:
        return Interval(0.0, 1.0)
    center = (successes + z * z / 2) / (trials + z * z)
    spread = successes * (1 - successes / trials) + z * z / 4
    reach = z * math.sqrt(spread) / (trials + z * z)
    # With no success or only successes, that end is exact.
    low = 0.0 if successes == 0 else max(0.0, center - reach)
    high = 1.0 if successes == trials else min(1.0, center + reach)
    return Interval(low, high)


def two_sided_quantile(confidence: float) -> float:
    """Return the z with P(|Z| ≤ z) = confidence for a standard normal Z.

    Raises:
        ValueError: when ``confidence`` is not inside 0 … 1.

    Example:
        >>> round(two_sided_quantile(0.95), 4)
        1.96
    """
    if not 0 < confidence < 1:
        raise ValueError(f"expected a confidence between 0 and 1, such as 0.95; got {confidence}")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = _column(x), _column(y)
    if len(first) != len(second):
        raise ValueError(f"columns of {len(first)} and {len(second)} values cannot be paired")
    return first, second


def _column(values: npt.ArrayLike) -> FloatArray:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise ValueError("expected a column of finite numbers; leave out rows without a number")
    return column


def _constant(column: FloatArray) -> bool:
    if not len(column):
        return True
    return bool(column.max() - column.min() <= _SAME * np.abs(column).max())


def _dense(column: npt.NDArray[np.number]) -> IntArray:
    """Number the distinct values 0, 1, 2 … in ascending order."""
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _tied_pairs(dense: IntArray) -> int:
    counts = np.bincount(dense)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(numbers: IntArray) -> int:
    """Return the number of pairs in descending order, by the highest bit in which they differ."""
    count = 0
    for bit in reversed(range(int(numbers.max(initial=0)).bit_length())):
        # Rows are sorted by the higher bits already; their order is kept within a group.
        group = numbers >> (bit + 1)
        ones = (numbers >> bit) & 1
        before = np.cumsum(ones) - ones
        opens = np.concatenate([[True], group[1:] != group[:-1]])
        at_open = before[np.maximum.accumulate(np.where(opens, np.arange(len(group)), 0))]
        count += int((before - at_open)[ones == 0].sum())
        numbers = numbers[np.argsort(numbers >> bit, kind="stable")]
    return count
