"""First times at which the conditions of bonuses became true."""

import numpy as np

from agon.disciplines.community.counts.feedback import NO_TIME
from agon.disciplines.community.facts import Facts
from agon.kernel.arrays import IntArray
from agon.kernel.marks import AnyInts


def time_of_quality(facts: Facts) -> IntArray:
    """Return when each prompt got the last positive feedback it needed; ``NO_TIME`` if never."""
    feedback = facts.feedback
    liked = np.flatnonzero(facts.is_like)
    return nth_distinct(
        feedback.prompt[liked],
        liked,
        feedback.time[liked],
        facts.rules.min_positive_feedbacks,
        size=len(facts.prompts),
    )


def nth_distinct(
    groups: AnyInts, values: AnyInts, times: IntArray, nth: int, *, size: int
) -> IntArray:
    """Return when each group's nth distinct value first appeared; ``NO_TIME`` if it never did.

    Values whose first appearance has no time come first.

    Args:
        groups: 0 … size − 1.
        values: any numbers.
        times: microseconds since 1970, or ``NO_TIME``.
        nth: from 1.
        size: number of groups.

    Returns:
        One time per group.

    Example:
        >>> nth_distinct(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7]),
        ...              np.array([30, 10, 20, 5]), 2, size=2).tolist()[0]
        20
    """
    first = np.lexsort((times, values, groups))
    groups, values, times = groups[first], values[first], times[first]
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = (groups[1:] != groups[:-1]) | (values[1:] != values[:-1])
    groups, times = groups[is_first], times[is_first]
    order = np.lexsort((times, groups))
    groups, times = groups[order], times[order]
    starts = np.searchsorted(groups, np.arange(size))
    counts = np.bincount(groups, minlength=size)
    has = np.flatnonzero(counts >= nth)
    reached = np.full(size, NO_TIME)
    reached[has] = times[starts[has] + nth - 1]
    return reached
