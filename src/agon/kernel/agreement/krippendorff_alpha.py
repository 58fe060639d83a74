"""Measure how far any number of raters agree, with gaps: Krippendorff's α."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.arrays import IntArray

_DENSE = 4
"""Possible integers for each entry up to which they are numbered by a table."""


@dataclass(frozen=True)
class KrippendorffAlpha:
    """α with the two disagreements it is made of and how many values could be paired.

    ``values`` counts the ratings in units that have at least two, ``units`` those units.
    """

    value: float
    observed: float
    expected: float
    values: int
    units: int


def krippendorff_alpha(
    units: npt.ArrayLike,
    raters: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    metric: Literal["nominal", "interval"] = "nominal",
) -> KrippendorffAlpha:
    """Compare all ratings of all units: α = 1 - D_o / D_e, from one (unit, rater, value) per row.

    With m_u ratings of unit u, n = Σ m_u over units with m_u ≥ 2, and δ² the squared difference
    of two values (``interval``) or 1 where they differ (``nominal``):

    D_o = 1/n Σ_u 1/(m_u - 1) Σ_{i≠j in u} δ²(v_i, v_j),  D_e = 1/(n(n - 1)) Σ_{i≠j} δ²(v_i, v_j).

    Raters may leave units out; a unit rated once is ignored. α is 1 in full agreement, 0 where
    units explain nothing, below 0 when raters of a unit differ systematically. The inner sums
    are taken from counts and squares, so the cost is that of sorting the rows.

    Args:
        units: what was rated; numbers or text.
        raters: who rated; one rating per unit and rater.
        values: the ratings; numbers for ``interval``, numbers or text for ``nominal``.
        metric: how differences weigh.

    Raises:
        NotScorable: when no unit has two ratings, or all paired ratings are equal (then D_e = 0:
            α is undefined).
        ValueError: when columns differ in length, a rater rated a unit twice, or a value is not
            finite.

    Source: arena, integrity findings (agreement statistics); Krippendorff 2011.

    Example:
        >>> alpha = krippendorff_alpha([1, 1, 2, 2, 3], list("xyxyx"), ["a", "a", "b", "a", "b"])
        >>> alpha.observed, alpha.expected, alpha.value  # 2/4, 6/12 (unit 3 has one rating)
        (0.5, 0.5, 0.0)
    """
    columns = [np.asarray(units), np.asarray(raters), np.asarray(values)]
    if any(column.shape != (columns[0].size,) for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ValueError(f"columns of shapes {shapes}: one unit, rater and value per rating")
    unit, rater = _number(columns[0]), _number(columns[1])
    # Unit and rater in one number: equal neighbors after the sort are a rating made twice.
    keys = np.sort(unit * (rater.max(initial=0) + 1) + rater)
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("a rater rated a unit twice; keep the rating that counts")
    # A unit rated once has no pair, and would divide by m - 1 = 0 below.
    pairable = np.bincount(unit)[unit] > 1 if len(unit) else np.zeros(0, dtype=np.bool_)
    if not pairable.any():
        raise NotScorable("no unit has two ratings")
    unit, rating = _number(unit[pairable]), columns[2][pairable]
    observed, expected = _nominal(unit, rating) if metric == "nominal" else _interval(unit, rating)
    if expected == 0:
        raise NotScorable("all ratings are equal, so agreement cannot be told from habit")
    return KrippendorffAlpha(
        1 - observed / expected, observed, expected, len(rating), int(unit.max()) + 1
    )


def _nominal(unit: IntArray, rating: npt.NDArray[Any]) -> tuple[float, float]:
    """Count ordered pairs of different values, in integers: m² - Σ_c (count of c)²."""
    value = _number(rating)
    n, kinds = len(value), int(value.max()) + 1
    # Unit and value in one number: one sort counts every value within every unit.
    cells, counts = np.unique(unit * kinds + value, return_counts=True)
    ratings = np.bincount(unit)
    equal = np.zeros(len(ratings), dtype=np.int64)
    np.add.at(equal, cells // kinds, counts * counts)
    observed = float(((ratings**2 - equal) / (ratings - 1)).sum()) / n
    totals = np.bincount(value)
    return observed, (n * n - int((totals**2).sum())) / (n * (n - 1))


def _interval(unit: IntArray, rating: npt.NDArray[Any]) -> tuple[float, float]:
    """Sum squared differences through deviations: Σ_{i≠j} (v_i - v_j)² = 2 m Σ (v_i - mean)²."""
    value = rating.astype(np.float64)
    if not np.isfinite(value).all():
        raise ValueError("a value is not a finite number; leave the rating out")
    order = np.lexsort((value, unit))  # sums must not depend on the order of the rows
    unit, value = unit[order], value[order]
    n, ratings = len(value), np.bincount(unit)
    if value.min() == value.max():
        return 0.0, 0.0
    # Deviations are unchanged by a shift; near 0, squares of large values lose no digits.
    value = value - value.mean()
    inside = value - (np.bincount(unit, weights=value) / ratings)[unit]
    squares = np.bincount(unit, weights=inside * inside)
    observed = float((2 * ratings / (ratings - 1) * squares).sum()) / n
    return observed, 2 * float((value * value).sum()) / (n - 1)


def _number(column: npt.NDArray[Any]) -> IntArray:
    """Number distinct entries 0, 1, 2 … in ascending order; without sorting where it can."""
    if np.issubdtype(column.dtype, np.integer) and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low <= _DENSE * len(column):
            from_low = column.astype(np.int64) - low
            occurs = np.zeros(high - low + 1, dtype=np.int64)
            occurs[from_low] = 1
            return (np.cumsum(occurs) - 1)[from_low]
    return np.unique(column, return_inverse=True)[1].astype(np.int64)
