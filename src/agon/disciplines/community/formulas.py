"""Compute the source document's formulas: numbers or arrays in, numbers or arrays out."""

from typing import Any

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.id_index import expand
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.compiling import ARRAYS_COMPILED_FROM
from agon.kernel.marks import AnyInts, Groups, Lists, count_reached

SCORE_GRID = 10**9
"""Steps per unit on which model scores are summed, so that a mean is exact in any order."""

_INT32_END = 2**31


def bonus(count: npt.ArrayLike, *, least: int, points: float) -> FloatArray:
    """Return a one-time bonus: ``points`` when ``count`` ≥ ``least``, else 0.

    Source: document 000, One-Time Bonuses.

    Example:
        >>> bonus([2, 3, 40], least=3, points=75).tolist()
        [0.0, 75.0, 75.0]
    """
    return np.where(np.asarray(count) >= least, float(points), 0.0)


def linear(count: npt.ArrayLike, *, coefficient: float) -> FloatArray:
    """Return points per unit: count × coefficient.

    Source: document 000, Quality Prompts Score, Feedback Activity Score, Collaboration Score.

    Example:
        >>> linear([150, 0], coefficient=0.5).tolist()
        [75.0, 0.0]
    """
    return np.asarray(count, dtype=np.float64) * coefficient


def h_index(positives: npt.ArrayLike) -> int:
    """Return the largest h such that h prompts have at least h positive feedbacks each.

    Source: document 000, H-Index Score.

    Example:
        >>> h_index([15, 12, 8, 6, 5, 4, 3, 2, 1, 0])
        5
    """
    best_first = np.sort(np.asarray(positives, dtype=np.int64))[::-1]
    return int((best_first >= np.arange(1, len(best_first) + 1)).sum())


def h_indices(people: IntArray, positives: IntArray, *, size: int) -> IntArray:
    """Return each user's h-index.

    Args:
        people: owner of each prompt, 0 … size - 1.
        positives: positive feedbacks of each prompt.
        size: number of users.

    Source: document 000, H-Index Score.

    Example:
        >>> h_indices(np.array([0, 1, 0, 0]), np.array([2, 0, 3, 1]), size=2).tolist()
        [2, 0]
    """
    keen = positives > 0
    people, positives = people[keen], positives[keen]
    most = int(positives.max(initial=0))
    order = np.sort(people * (most + 1) + (most - positives))
    people, positives = order // (most + 1), most - order % (most + 1)
    counts = np.bincount(people, minlength=size)
    place = np.arange(len(people)) - (np.cumsum(counts) - counts)[people] + 1
    return np.bincount(people[positives >= place], minlength=size)


def h_index_score(h: npt.ArrayLike, *, coefficient: float) -> FloatArray:
    """Return h² × coefficient.

    Source: document 000, H-Index Score.

    Example:
        >>> h_index_score([5, 7], coefficient=2).tolist()
        [50.0, 98.0]
    """
    return np.asarray(h, dtype=np.float64) ** 2 * coefficient


def review_quality(r: npt.ArrayLike, *, least: float, coefficient: float) -> FloatArray:
    """Return r × coefficient when the correlation r ≥ ``least``, else 0.

    Source: document 000, Cross-Review Quality.

    Example:
        >>> review_quality([0.8, 0.69], least=0.7, coefficient=50).tolist()
        [40.0, 0.0]
    """
    r = np.asarray(r, dtype=np.float64)
    return np.where(r >= least, r * coefficient, 0.0)


def are_wrong(totals: IntArray, counts: IntArray, *, threshold: float) -> npt.NDArray[np.bool_]:
    """Return whose mean score is below the threshold, exactly, in integer steps of the score grid.

    Args:
        totals: sums of scores in steps of 1e-9.
        counts: number of scores of each sum; without scores none is wrong.
        threshold: 0 … 1.

    Source: document 000, Difficult Prompts Bonus (wrongAnswerThreshold).

    Example:
        >>> totals, counts = np.array([0, 10**9, 999_999_999]), np.array([1, 2, 2])
        >>> are_wrong(totals, counts, threshold=0.5).tolist()
        [True, False, True]
    """
    return totals < round(threshold * SCORE_GRID) * counts


def quality(positives: IntArray, reviews: IntArray, *, least: int) -> FloatArray:
    """Return a prompt's quality: the mean of its reviews as +1 and −1; 0 below ``least`` reviews.

    Source: scores0001, contributor; community page, contributor board.

    Example:
        >>> quality(np.array([2, 3, 2]), np.array([3, 3, 2]), least=3).tolist()
        [0.3333333333333333, 1.0, 0.0]
    """
    return np.where(reviews >= least, (2.0 * positives - reviews) / np.maximum(reviews, 1), 0.0)


def decay(age_days: npt.ArrayLike, *, half_life_days: float) -> FloatArray:
    """Weigh something by its age: 2^(−age / half-life), on a grid of 1e-9 so that sums are exact.

    Source: document 000, Future Enhancements, Time Decay.

    Example:
        >>> decay([0, 30, 60], half_life_days=30).tolist()
        [1.0, 0.5, 0.25]
    """
    weight = np.exp2(-np.asarray(age_days, dtype=np.float64) / half_life_days)
    return np.round(weight * SCORE_GRID) / SCORE_GRID


def impact(users: npt.ArrayLike) -> FloatArray:
    """Weigh a benchmark's use: log2(1 + other users who ran responses on it), on a 1e-9 grid.

    Source: document 000, Future Enhancements, Impact Factor.

    Example:
        >>> impact([0, 1, 3]).tolist()
        [0.0, 1.0, 2.0]
    """
    weight = np.log2(1.0 + np.asarray(users, dtype=np.float64))
    return np.round(weight * SCORE_GRID) / SCORE_GRID


def band(r: float, *, excellent: float, good: float, fair: float) -> str:
    """Return a reviewer's band.

    Source: scores0001, reviewer; community page, reviewer board.

    Example:
        >>> [band(r, excellent=.7, good=.3, fair=0) for r in (.7, .3, 0, -.1)]
        ['excellent', 'good', 'fair', 'poor']
    """
    bands = (("excellent", excellent), ("good", good), ("fair", fair))
    return next((name for name, least in bands if r >= least), "poor")


def tier(score: float, *, bronze: float, silver: float, gold: float) -> str:
    """Return a score's tier.

    Source: document 000, Future Enhancements, Reputation Tiers.

    Example:
        >>> [tier(score, bronze=100, silver=500, gold=1000) for score in (99, 100, 668, 1595)]
        ['none', 'bronze', 'silver', 'gold']
    """
    tiers = (("gold", gold), ("silver", silver), ("bronze", bronze))
    return next((name for name, least in tiers if score >= least), "none")


def sum_by_group(groups: AnyInts, values: FloatArray, *, size: int) -> FloatArray:
    """Sum values by group, 0 … size − 1, in the order of the rows.

    Example:
        >>> sum_by_group(np.array([0, 2, 0]), np.array([0.5, 1.0, 2.0]), size=3).tolist()
        [2.5, 0.0, 1.0]
    """
    # Without rows numpy would return integers.
    return np.bincount(groups, values, minlength=size).astype(np.float64, copy=False)


def distinct_per_group(groups: AnyInts, values: AnyInts, *, sizes: tuple[int, int]) -> IntArray:
    """Return the number of distinct values per group, by sorting one integer per pair.

    Args:
        groups: 0 … sizes[0] − 1.
        values: 0 … sizes[1] − 1, same length.
        sizes: how many groups and how many values there are.

    Example:
        >>> groups, values = np.array([0, 0, 1, 0]), np.array([5, 5, 5, 2])
        >>> distinct_per_group(groups, values, sizes=(3, 6)).tolist()
        [2, 1, 0]
    """
    keys = groups * np.int64(max(sizes[1], 1))
    keys += values
    keys.sort()
    new = np.ones(len(keys) + 1, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:-1])
    # Distinct keys up to each, one past the end included.
    seen = np.cumsum(new, dtype=np.int32 if len(new) < _INT32_END else np.int64)
    ends = np.searchsorted(keys, np.arange(sizes[0] + 1) * max(sizes[1], 1))
    return np.diff(seen[ends]).astype(np.int64)


def distinct_items(groups: AnyInts, keys: AnyInts, lists: Lists, *, size: int) -> IntArray:
    """Count, for each group, the distinct items in the lists of its rows' keys.

    Args:
        groups: 0 … size − 1, one per row.
        keys: of each row.
        lists: the items of each key.
        size: number of groups.

    Example:
        >>> lists = Lists.of([0, 2, 3], [5, 6, 5], size=7)
        >>> distinct_items(np.array([1, 0, 1]), np.array([0, 1, 1]), lists, size=2).tolist()
        [1, 2]
    """
    if len(keys) < ARRAYS_COMPILED_FROM:
        counts = np.diff(lists.starts)[keys].astype(np.int64)
        if counts.sum() < ARRAYS_COMPILED_FROM:
            run, place = expand(lists.starts[keys], counts)
            return distinct_per_group(groups[run], lists.items[place], sizes=(size, lists.size))
    return count_reached(Groups.of(groups, keys, size=size), lists)


def distinct_pairs(groups: AnyInts, values: AnyInts, *, size: int) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of two columns of integers ≥ 0, in order.

    Args:
        groups: any numbers.
        values: 0 … size − 1.
        size: how many values there are.

    Example:
        >>> [column.tolist() for column in
        ...  distinct_pairs(np.array([1, 0, 1]), np.array([2, 4, 2]), size=5)]
        [[0, 1], [4, 2]]
    """
    size = max(size, 1)
    # Stable: quick for pairs that are partly in order, as records mostly are.
    keys = np.sort(groups * np.int64(size) + values, kind="stable")
    if len(keys):
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    columns: Any = np.divmod(keys, size)
    return columns[0], columns[1]
