"""Compute pass rates, consensus scores, and what reaches a bound.

Strategies, decay and emission have their own modules (`strategies.py`, `decay.py`,
`emission.py`); outliers are the kernel's (`agon.kernel.robust`).
"""

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.arrays import BoolArray, FloatArray

NOISE = 1e-12
"""Error bound of a sum of a few hundred floats; finer than every grid of scores."""

PLACES = 12
"""Decimals on which shares and scores are published: weights and the burn then sum to 1 as
closely as floats can represent it, with tens of thousands of miners."""


def pass_rate(*, passed: npt.ArrayLike, total: npt.ArrayLike) -> FloatArray:
    """Score tasks: S = passed / total, from 0 to 1; numbers or arrays of them.

    Raises:
        NotScorable: when there is no task.
        ValueError: when ``passed`` is not 0 … ``total``.

    Source: document 001, Pass Rate.

    Example:
        >>> float(pass_rate(passed=8, total=10))
        0.8
    """
    hits, tasks = np.asarray(passed, dtype=np.float64), np.asarray(total, dtype=np.float64)
    if (tasks == 0).any():
        raise NotScorable("there is no task, so there is no pass rate; give at least one task")
    if not ((hits >= 0) & (hits <= tasks)).all():
        raise ValueError("the tasks passed are not between 0 and all of them")
    rate: FloatArray = hits / tasks
    return rate


def stake_weighted_mean(scores: npt.ArrayLike, stakes: npt.ArrayLike) -> FloatArray:
    """Combine validators' scores by their stake: s = Σ σ_v x_v / Σ σ_v.

    Args:
        scores: 0 … 1, the last axis runs over validators.
        stakes: ≥ 0, in any unit, of the same shape; 0 leaves a score out.

    Raises:
        NotScorable: when all stakes are 0.
        ValueError: when there is not one stake per score.

    Source: document 001, Stake-Weighted Averaging.

    Example:
        >>> float(stake_weighted_mean([0.90, 0.50], [9000, 1000]))
        0.86
    """
    values = np.asarray(scores, dtype=np.float64)
    weights = np.asarray(stakes, dtype=np.float64)
    if values.shape != weights.shape:
        raise ValueError(f"{values.size} scores but {weights.size} stakes")
    total = weights.sum(axis=-1)
    if (total == 0).any():
        raise NotScorable("no stake stands behind these scores, so there is no mean")
    mean: FloatArray = (weights * values).sum(axis=-1) / total
    return mean


def stake_fraction(*, remaining: npt.ArrayLike, total: float) -> FloatArray:
    """Return the share of all registered stake of the validators of a score, 0 … 1.

    Raises:
        NotScorable: when the registered stakes sum to 0.

    Source: document 001, Configuration Parameters (Min Stake %).

    Example:
        >>> float(stake_fraction(remaining=300, total=1000))
        0.3
    """
    if total == 0:
        raise NotScorable("the total stake is 0, so no validator has a say")
    return np.asarray(remaining, dtype=np.float64) / total


def reaches(value: npt.ArrayLike, bound: npt.ArrayLike) -> BoolArray:
    """Return whether ``value`` ≥ ``bound`` as decimals, regardless of rounding errors.

    In floats 0.80 × 1.02 is 0.8160000000000001, and 0.816 would not reach it.

    Example:
        >>> bool(reaches(0.816, 0.80 * 1.02)), bool(reaches(0.8159, 0.80 * 1.02))
        (True, False)
    """
    wanted = np.asarray(bound, dtype=np.float64)
    reached: BoolArray = np.asarray(value) >= wanted - NOISE * np.maximum(1.0, np.abs(wanted))
    return reached
