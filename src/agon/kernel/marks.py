"""Find distinct and repeated values of groups by a mark per value, without sorting the rows.

The rows of some groups are written side by side; a value is new to a group when the group did not
mark it yet. That is two passes over the rows and one over the values; halves of the groups run side
by side.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import COMPILED_FROM, compile_loop

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]

T = TypeVar("T")

_LANES = 2
"""Parts that run side by side; each reads all rows and has its own marks."""


@dataclass(frozen=True)
class Lists:
    """The items of each key: ``items[starts[key] : starts[key + 1]]``.

    Attributes:
        starts: one more than there are keys.
        items: numbers from 0.
        size: one more than the largest number an item may be.
    """

    starts: IntArray
    items: ShortArray
    size: int


def are_many(rows: IntArray, *, values: int) -> bool:
    """Return whether marks are faster than a sort: many rows, and not many more values."""
    return len(rows) >= COMPILED_FROM and values <= len(rows) * 8


def count_distinct(groups: IntArray, values: IntArray, *, sizes: tuple[int, int]) -> IntArray:
    """Count the distinct values of each group.

    Args:
        groups: 0 … sizes[0] − 1, one per row; rows of negative ones count for none.
        values: 0 … sizes[1] − 1; negative ones are left out.
        sizes: how many groups and how many values there are.

    Example:
        >>> count_distinct(np.array([1, 0, 1, 1]), np.array([4, -1, 4, 3]), sizes=(2, 5)).tolist()
        [0, 2]
    """
    counts = np.zeros(sizes[0], dtype=np.int64)

    def count(part: _Part) -> None:
        seen, again = np.full(sizes[1], -1, dtype=np.int32), _NO_FLAGS
        into = counts[part.first : part.first + len(part.ends)]
        compile_loop(_mark)(part.values, part.ends, seen, again, into)

    _each_part(groups, values, sizes[0], count)
    return counts


def count_reached(groups: IntArray, keys: IntArray, lists: Lists, *, size: int) -> IntArray:
    """Count, for each group, the distinct items of its rows' keys.

    Args:
        groups: 0 … size − 1, one per row; rows of negative ones count for none.
        keys: of each row, from 0.
        lists: the items of each key.
        size: number of groups.

    Example:
        >>> lists = Lists(np.array([0, 2, 3]), np.array([5, 6, 5], np.int32), 7)
        >>> count_reached(np.array([1, 0, 1]), np.array([0, 1, 1]), lists, size=2).tolist()
        [1, 2]
    """
    counts = np.zeros(size, dtype=np.int64)

    def count(part: _Part) -> None:
        seen = np.full(lists.size, -1, dtype=np.int32)
        into = counts[part.first : part.first + len(part.ends)]
        compile_loop(_reach)(part.values, part.ends, lists.starts, lists.items, seen, into)

    _each_part(groups, keys, size, count)
    return counts


def repeated_pairs(groups: IntArray, values: IntArray, *, sizes: tuple[int, int]) -> IntArray:
    """Return the pairs in several rows as ``group × sizes[1] + value``, distinct and in order.

    Args:
        groups: 0 … sizes[0] − 1, one per row; rows of negative ones are left out.
        values: 0 … sizes[1] − 1; rows of negative ones are left out.
        sizes: how many groups and how many values there are.

    Example:
        >>> repeated_pairs(np.array([1, 0, 1, 1]), np.array([4, 4, 4, 3]), sizes=(2, 5)).tolist()
        [9]
    """

    def find(part: _Part) -> IntArray:
        seen, again = np.full(sizes[1], -1, dtype=np.int32), np.zeros(len(part.values), dtype=bool)
        compile_loop(_mark)(part.values, part.ends, seen, again, _NONE)
        at = np.flatnonzero(again)
        group = part.first + np.searchsorted(part.ends, at, side="right")
        return group * np.int64(sizes[1]) + part.values[at]

    return np.unique(np.concatenate([_NONE, *_each_part(groups, values, sizes[0], find)]))


_NONE = np.zeros(0, dtype=np.int64)
_NO_FLAGS = np.zeros(0, dtype=bool)


@dataclass(frozen=True)
class _Part:
    """The rows of some groups: the first group, and all values with each group's end in them."""

    first: int
    ends: IntArray
    values: ShortArray


def _each_part(
    groups: IntArray, values: IntArray, size: int, use: Callable[[_Part], T]
) -> Iterator[T]:
    """Return what ``use`` returns for the rows of each part of the groups, in order."""
    edges = np.linspace(0, size, _LANES + 1).astype(np.int64)

    def gather(edge: tuple[int, int]) -> T:
        first, last = edge
        ends = np.zeros(last - first, dtype=np.int64)
        gathered = compile_loop(_gather)(groups, values, first, ends)
        return use(_Part(first, ends, gathered))

    with ThreadPoolExecutor(_LANES) as threads:  # compiled loops release the interpreter lock
        return iter(list(threads.map(gather, pairwise(edges.tolist()))))


def _gather(groups: IntArray, values: IntArray, first: int, ends: IntArray) -> ShortArray:
    """Return the values of the groups from ``first`` side by side; write each group's end."""
    for row in range(len(groups)):
        at = groups[row] - first
        if 0 <= at < len(ends):
            ends[at] += 1
    total = 0
    for at in range(len(ends)):
        count = ends[at]
        ends[at] = total
        total += count
    gathered = np.empty(total, dtype=np.int32)
    for row in range(len(groups)):
        at = groups[row] - first
        if 0 <= at < len(ends):
            gathered[ends[at]] = values[row]
            ends[at] += 1
    return gathered


def _reach(  # a compiled loop takes its columns one by one
    keys: Any, ends: Any, starts: Any, items: Any, seen: Any, counts: Any
) -> None:
    """Write into ``counts`` how many items each group marks first."""
    begin = 0
    for at in range(len(ends)):
        count = 0
        for place in range(begin, ends[at]):
            key = keys[place]
            for item in range(starts[key], starts[key + 1]):
                if seen[items[item]] != at:
                    seen[items[item]] = at
                    count += 1
        counts[at] = count
        begin = ends[at]


def _mark(values: Any, ends: Any, seen: Any, again: Any, counts: Any) -> None:
    """Mark values by their group; write which were marked, and how many were not, where asked.

    Negative values are left out; empty arrays ask for nothing.
    """
    begin = 0
    for at in range(len(ends)):
        count = 0
        for place in range(begin, ends[at]):
            value = values[place]
            if value >= 0:
                if len(again):
                    again[place] = seen[value] == at
                count += seen[value] != at
                seen[value] = at
        if len(counts):
            counts[at] = count
        begin = ends[at]
