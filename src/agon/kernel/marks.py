"""Find distinct and repeated values of groups by a mark per value, without sorting the rows.

The values of each group are written side by side, first by buckets of groups and then within each
bucket, so that both steps write to few places. A value is new to a group when the group did not
mark it yet. Halves of the groups run side by side.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import COMPILED_FROM, compile_loop

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
AnyInts = npt.NDArray[np.signedinteger[Any]]

S = TypeVar("S")
T = TypeVar("T")

_LANES = 2
"""Parts that run side by side; each has its own marks."""

_BUCKET = 4096
"""Groups per bucket: the rows of as many fit into the processor's cache."""


@dataclass(frozen=True)
class Lists:
    """The items of each key: ``items[starts[key] : starts[key + 1]]``.

    Attributes:
        starts: one more than there are keys.
        items: numbers from 0.
        size: one more than the largest number an item may be.
    """

    starts: ShortArray
    items: ShortArray
    size: int

    @classmethod
    def of(cls, starts: npt.ArrayLike, items: npt.ArrayLike, *, size: int) -> "Lists":
        """Return lists of less than 2³¹ items."""
        return cls(np.asarray(starts, np.int32), np.asarray(items, np.int32), size)

    @classmethod
    def of_labels(cls, labels: IntArray, *, size: int) -> "Lists":
        """Return lists of one item, the label of the key, or of none where it is negative."""
        known = labels >= 0
        return cls.of(np.append(0, np.cumsum(known)), labels[known], size=size)


@dataclass(frozen=True)
class Part:
    """The rows of some groups: the first group, and all values with each group's end in them."""

    first: int
    ends: IntArray
    values: ShortArray


@dataclass(frozen=True)
class Groups:
    """The values of rows side by side by group, in the order of the rows.

    Attributes:
        parts: the groups in parts, which run side by side.
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, groups: AnyInts, values: AnyInts, *, size: int) -> "Groups":
        """Group the values of rows.

        Args:
            groups: 0 … size − 1, one per row; rows of negative ones are left out.
            values: below 2³¹.
            size: number of groups.
        """
        buckets = -(-size // _BUCKET)
        lanes = _split(len(groups))

        def count(lane: slice) -> IntArray:
            counts = np.zeros(buckets, dtype=np.int64)
            compile_loop(_count)(groups[lane], _BUCKET, counts)
            return counts

        counts = np.stack(_side_by_side(count, lanes), axis=1)
        ends = np.cumsum(counts).reshape(counts.shape)
        # Group and value of each row, the rows of a bucket side by side.
        pairs = np.empty(int(counts.sum()), dtype=np.int64)

        def scatter(number: int) -> None:
            lane, places = lanes[number], (ends - counts)[:, number].copy()
            compile_loop(_scatter)(groups[lane], values[lane], _BUCKET, places, pairs)

        _side_by_side(scatter, range(_LANES))
        edges = np.append(0, ends[:, -1])

        def sort(lane: slice) -> Part:
            first, bucket_ends = lane.start * _BUCKET, edges[lane.start : lane.stop + 1]
            group_ends = np.zeros(min(lane.stop * _BUCKET, size) - first, dtype=np.int64)
            gathered = np.empty(bucket_ends[-1] - bucket_ends[0], dtype=np.int32)
            compile_loop(_sort)(pairs, bucket_ends, first, _BUCKET, group_ends, gathered)
            return Part(first, group_ends, gathered)

        return cls(tuple(_side_by_side(sort, _split(buckets))))


def are_many(rows: AnyInts, *, values: int) -> bool:
    """Return whether marks are faster than a sort: many rows, and not many more values."""
    return len(rows) >= COMPILED_FROM and values <= len(rows) * 8


def count_reached(keys: Groups, lists: Lists) -> IntArray:
    """Count, for each group, the distinct items of its keys.

    Args:
        keys: numbers from 0.
        lists: the items of each key.

    Example:
        >>> keys = Groups.of(np.array([1, 0, 1]), np.array([0, 1, 1]), size=2)
        >>> lists = Lists.of([0, 2, 3], [5, 6, 5], size=7)
        >>> count_reached(keys, lists).tolist()
        [1, 2]
    """

    def count(part: Part) -> IntArray:
        seen, counts = np.full(lists.size, -1, dtype=np.int32), np.zeros_like(part.ends)
        compile_loop(_reach)(part.values, part.ends, lists.starts, lists.items, seen, counts)
        return counts

    return np.concatenate(_side_by_side(count, keys.parts))


def repeated_pairs(rows: Groups, *, values: int) -> IntArray:
    """Return the pairs in several rows as ``group × values + value``, distinct and in order.

    Args:
        rows: their values: 0 … values − 1; negative ones are left out.
        values: how many values there are.

    Example:
        >>> rows = Groups.of(np.array([1, 0, 1, 1]), np.array([4, 4, 4, 3]), size=2)
        >>> repeated_pairs(rows, values=5).tolist()
        [9]
    """

    def find(part: Part) -> IntArray:
        seen, again = np.full(values, -1, dtype=np.int32), np.zeros(len(part.values), dtype=bool)
        compile_loop(_mark)(part.values, part.ends, seen, again)
        at = np.flatnonzero(again)
        group = part.first + np.searchsorted(part.ends, at, side="right")
        return group * np.int64(values) + part.values[at]

    return np.unique(np.concatenate(_side_by_side(find, rows.parts)))


def _split(length: int) -> list[slice]:
    """Split 0 … length − 1 into a range for each lane."""
    edges = np.linspace(0, length, _LANES + 1).astype(np.int64)
    return [slice(first, last) for first, last in pairwise(edges.tolist())]


def _side_by_side(use: Callable[[S], T], parts: Iterable[S]) -> list[T]:
    """Return what ``use`` returns for each part, in order."""
    with ThreadPoolExecutor(_LANES) as threads:  # compiled loops release the interpreter lock
        return list(threads.map(use, parts))


def _count(groups: Any, bucket: int, counts: Any) -> None:
    """Count the rows of each bucket of groups."""
    for row in range(len(groups)):
        if groups[row] >= 0:
            counts[groups[row] // bucket] += 1


def _scatter(groups: Any, values: Any, bucket: int, places: Any, pairs: Any) -> None:
    """Write group and value of each row, packed in 64 bits, at the next place of its bucket."""
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0:
            pairs[places[group // bucket]] = (group << 32) | np.uint32(values[row])
            places[group // bucket] += 1


def _sort(pairs: Any, bucket_ends: Any, first: int, bucket: int, ends: Any, gathered: Any) -> None:
    """Write the values of each bucket in the order of their groups, and each group's end."""
    place = 0
    for number in range(len(bucket_ends) - 1):
        rows = pairs[bucket_ends[number] : bucket_ends[number + 1]]
        for pair in rows:
            ends[(pair >> 32) - first] += 1
        for group in range(number * bucket, min((number + 1) * bucket, len(ends))):
            count = ends[group]
            ends[group] = place
            place += count
        for pair in rows:
            group = (pair >> 32) - first
            gathered[ends[group]] = np.int32(pair)
            ends[group] += 1


def _reach(  # a compiled loop takes its columns one by one
    keys: Any, ends: Any, starts: Any, items: Any, seen: Any, counts: Any
) -> None:
    """Write into ``counts`` how many items each group marks first."""
    begin, most = 0, 0
    for at in range(len(ends)):
        most = max(most, ends[at] - begin)
        begin = ends[at]
    first, last = np.empty(most, np.int32), np.empty(most, np.int32)
    begin = 0
    for at in range(len(ends)):
        # Loads that do not wait for each other: memory answers several at a time.
        for place in range(begin, ends[at]):
            first[place - begin] = starts[keys[place]]
            last[place - begin] = starts[keys[place] + 1]
        count = 0
        for place in range(ends[at] - begin):
            for item in range(first[place], last[place]):
                count += seen[items[item]] != at
                seen[items[item]] = at
        counts[at] = count
        begin = ends[at]


def _mark(values: Any, ends: Any, seen: Any, again: Any) -> None:
    """Mark values by their group; write which were marked. Negative values are left out."""
    begin = 0
    for at in range(len(ends)):
        for place in range(begin, ends[at]):
            value = values[place]
            if value >= 0:
                again[place] = seen[value] == at
                seen[value] = at
        begin = ends[at]
