"""Encode pairs of small integers as one integer, and find the first row of each pair."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DENSE = 4  # cells of a table of all pairs, per row, up to which it is worth having


def number_pairs(left: Ints, right: Ints, *, rights: int) -> tuple[Ints, int]:
    """Number the pairs of two columns, and give a bound of the numbers.

    Args:
        left: numbers from 0, one per row.
        right: numbers from 0 to below ``rights``, one per row.
        rights: how many different ones the right side may have.

    Returns:
        A number per row, equal where the pairs are; all are below the bound.

    Example:
        >>> numbers, bound = number_pairs(np.array([0, 1, 0]), np.array([2, 0, 2]), rights=3)
        >>> numbers.tolist(), bound
        ([2, 3, 2], 4)
    """
    pairs = left * max(rights, 1) + right
    bound = int(pairs.max(initial=-1)) + 1
    if bound <= _DENSE * len(pairs) + 1_000_000:
        return pairs, bound
    distinct, numbers = np.unique(pairs, return_inverse=True)
    return numbers, len(distinct)


def first_of_each(numbers: Ints, *, bound: int) -> Bools:
    """Mark the first row of each number.

    Example:
        >>> first_of_each(np.array([2, 0, 2, 0]), bound=3).tolist()
        [True, True, False, False]
    """
    rows = np.arange(len(numbers))
    first = np.empty(bound, dtype=np.int64)
    # Of several assignments to one index the last is kept: the first row, in reverse order.
    first[numbers[::-1]] = rows[::-1]
    is_first: Bools = first[numbers] == rows
    return is_first
