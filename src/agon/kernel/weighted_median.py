"""Compute medians, MAD and outliers in which each value counts by a weight.

Values stand in rows, one row per group: many values for the same columns, such as validators with
one stake each. A weight of 0 leaves a value out of the median, not out of the test.
"""

import numpy as np

from agon.kernel.arrays import BoolArray, FloatArray
from agon.kernel.robust import NORMAL_QUARTILE

_NOISE = 1e-9  # of z-scores, and of a MAD that is taken as 0
_EXACT = 1e-12  # a part of the total weight that differs from one half by less is one half


def weighted_medians(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return for each row the value that half of the weight is at most, and half at least.

    Where exactly half of the weight is at most a value, the mean of it and of the next one. With
    equal weights this is the median; where all weights of a row are 0, they are taken as equal.
    Rows of no columns have the median 0.

    Args:
        values: rows × columns.
        weights: rows × columns, 0 or more.

    Example:
        >>> weighted_medians(np.array([[0.8, 0.8, 0.2, 0.2, 0.2]]),
        ...                  np.array([[30.0, 30.0, 1.0, 1.0, 1.0]])).tolist()
        [0.8]
        >>> weighted_medians(np.array([[4.0, 1.0, 2.0, 3.0]]), np.ones((1, 4))).tolist()
        [2.5]
    """
    if not values.size:
        return np.zeros(len(values))
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    sizes = np.take_along_axis(weights, order, axis=1)
    sizes = np.where(sizes.sum(axis=1, keepdims=True) > 0, sizes, 1.0)
    below = np.cumsum(sizes, axis=1)
    half = below[:, -1:] / 2
    slack = _EXACT * below[:, -1:]
    low = np.argmax(below >= half - slack, axis=1)
    high = np.argmax(below > half + slack, axis=1)
    rows = np.arange(len(values))
    return np.asarray((ordered[rows, low] + ordered[rows, high]) / 2)


def weighted_modified_z(
    values: FloatArray, counted: BoolArray, weights: FloatArray, *, mad_when_zero: float
) -> FloatArray:
    """Return the modified z-score of each counted value, with median and MAD by weight.

    z = 0.6745 (x − median) / MAD; a MAD below a billionth is taken as ``mad_when_zero``. Rows ×
    columns, 0 where no value counts.

    Args:
        values: rows × columns.
        counted: which of them count.
        weights: one per column, 0 or more.
        mad_when_zero: above 0.

    Example:
        >>> values, counted = np.array([[0.8, 0.2, 0.2]]), np.ones((1, 3), dtype=bool)
        >>> weighted_modified_z(values, counted, np.array([5.0, 1.0, 1.0]), mad_when_zero=0.01)
        array([[  0.  , -40.47, -40.47]])
    """
    own = _own_weights(counted, weights)
    apart = np.where(counted, values - weighted_medians(values, own)[:, None], 0.0)
    spread = weighted_medians(np.abs(apart), own)
    divisor = np.where(spread < _NOISE, mad_when_zero, spread)
    return np.asarray(NORMAL_QUARTILE * apart / divisor[:, None])


def weighted_outliers(
    values: FloatArray,
    counted: BoolArray,
    weights: FloatArray,
    *,
    threshold: float,
    mad_when_zero: float,
) -> BoolArray:
    """Flag values whose :func:`weighted_modified_z`, without its sign, is above ``threshold``.

    Rows × columns. The number of values plays no part; the caller chooses the rows that are tested.
    """
    z = weighted_modified_z(values, counted, weights, mad_when_zero=mad_when_zero)
    return np.asarray(np.abs(z) > threshold + _NOISE)


def supported_levels(
    values: FloatArray, counted: BoolArray, weights: FloatArray, *, share: FloatArray
) -> FloatArray:
    """Return for each row the largest level that a share of the weight of its values reaches.

    Args:
        values: rows × columns.
        counted: which of them count; a row without any has level 0.
        weights: one per column, 0 or more.
        share: one per row, a part of 1; with 0 the level is the largest value.

    Example:
        >>> values, counted = np.array([[0.9, 0.8, 0.7]]), np.ones((1, 3), dtype=bool)
        >>> supported_levels(values, counted, np.array([31.0, 40.0, 29.0]), share=np.array([0.5]))
        array([0.8])
    """
    if not values.size:
        return np.zeros(len(values))
    own = np.where(counted, weights, 0.0)
    order = np.argsort(np.where(counted, -values, np.inf), axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(own, order, axis=1), axis=1)
    total = reached[:, -1:]
    first = np.argmax(reached >= share[:, None] * total - _EXACT * total, axis=1)
    levels = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), first]
    return np.asarray(np.where(counted.any(axis=1), levels, 0.0))


def _own_weights(counted: BoolArray, weights: FloatArray) -> FloatArray:
    """Return the weights of the counted values of each row; equal ones where all are 0."""
    own = np.where(counted, weights, 0.0)
    return np.asarray(np.where(own.sum(axis=1, keepdims=True) > 0, own, counted.astype(np.float64)))
