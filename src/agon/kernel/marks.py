"""Find distinct and repeated values of groups by a small hash table, without sorting the rows.

The values of each group are written side by side, first by buckets of groups and then within each
bucket, so that both steps write to few places. A value is new to a group when it is not in the
group's table yet. Halves of the groups run side by side.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agon.kernel.arrays import BoolArray, IntArray, ShortArray
from agon.kernel.compiling import ARRAYS_COMPILED_FROM, compile_loop

AnyInts = npt.NDArray[np.signedinteger[Any]]

S = TypeVar("S")
T = TypeVar("T")

_LANES = 2
"""Parts that run side by side; each has its own marks."""

_SHIFT = 12
"""Groups of an equal ``number >> _SHIFT`` are a bucket; its rows fit into the processor's cache."""

SCATTER = 0x9E3779B97F4A7C15
"""2⁶⁴ / golden ratio: scatters neighbors."""

_HASH = 0x9E3779B9
"""2³² / golden ratio."""


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

    @property
    def labels(self) -> ShortArray:
        """Return the item of each key, −1 where it has none, and −2 − key where it has several."""
        counts = np.diff(self.starts)
        several = np.where(counts == 0, -1, np.arange(-2, -2 - len(counts), -1, dtype=np.int32))
        firsts = np.append(self.items, np.int32(-1))[self.starts[:-1]]
        return np.where(counts == 1, firsts, several)

    @classmethod
    def of_labels(cls, labels: IntArray, *, size: int) -> "Lists":
        """Return lists of one item, the label of the key, or of none where it is negative."""
        known = labels >= 0
        return cls.of(np.append(0, np.cumsum(known)), labels[known], size=size)


@dataclass(frozen=True)
class GroupPart:
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

    parts: tuple[GroupPart, ...]

    @classmethod
    def of(cls, groups: AnyInts, values: AnyInts, *, size: int) -> "Groups":
        """Group the values of rows.

        Args:
            groups: 0 … size − 1, one per row; rows of negative ones are left out.
            values: below 2³¹.
            size: number of groups.
        """
        buckets = -(-size >> _SHIFT)
        lanes = _split(len(groups))

        def count(lane: slice) -> IntArray:
            counts = np.zeros(buckets, dtype=np.int64)
            compile_loop(_count)(groups[lane], _SHIFT, counts)
            return counts

        counts = np.stack(_side_by_side(count, lanes), axis=1)
        ends = np.cumsum(counts).reshape(counts.shape)
        # Group and value of each row, the rows of a bucket side by side.
        pairs = np.empty(int(counts.sum()), dtype=np.int64)

        def scatter(number: int) -> None:
            lane, places = lanes[number], (ends - counts)[:, number].copy()
            compile_loop(_scatter)(groups[lane], values[lane], _SHIFT, places, pairs)

        _side_by_side(scatter, range(_LANES))
        edges = np.append(0, ends[:, -1])

        def sort(lane: slice) -> GroupPart:
            first, bucket_ends = lane.start << _SHIFT, edges[lane.start : lane.stop + 1]
            group_ends = np.zeros(min(lane.stop << _SHIFT, size) - first, dtype=np.int64)
            gathered = np.empty(bucket_ends[-1] - bucket_ends[0], dtype=np.int32)
            compile_loop(_sort)(pairs, bucket_ends, first, _SHIFT, group_ends, gathered)
            return GroupPart(first, group_ends, gathered)

        return cls(tuple(_side_by_side(sort, _split(buckets))))


def are_many(rows: AnyInts, *, values: int) -> bool:
    """Return whether marks are faster than a sort: many rows, and not many more values."""
    return len(rows) >= ARRAYS_COMPILED_FROM and values <= len(rows) * 8


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
    labels = lists.labels

    def count(part: GroupPart) -> IntArray:
        counts = np.zeros_like(part.ends)
        arrays = labels, lists.starts, lists.items
        compile_loop(_reach)(part.values, part.ends, *arrays, lists.size, counts)
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

    def find(part: GroupPart) -> IntArray:
        again = np.zeros(len(part.values), dtype=bool)
        compile_loop(_mark)(part.values, part.ends, again)
        index = np.flatnonzero(again)
        group = part.first + np.searchsorted(part.ends, index, side="right")
        return group * np.int64(values) + part.values[index]

    return np.unique(np.concatenate(_side_by_side(find, rows.parts)))


def rows_with(groups: AnyInts, values: AnyInts, pairs: IntArray, *, width: int) -> IntArray:
    """Return the rows whose pair ``group × width + value`` is one of some, in order.

    A bit filter excludes nearly all other rows without a search.

    Args:
        groups: of each row, from −1.
        values: of each row, from −1.
        pairs: distinct and in order.
        width: more than the largest value.

    Example:
        >>> rows_with(np.array([1, 0, 1]), np.array([4, 4, 3]), np.array([9]), width=5).tolist()
        [0]
    """
    shift = 64 - max(20, len(pairs).bit_length() + 5)
    bits = np.zeros(1 << (64 - shift), dtype=bool)
    bits[(pairs.view(np.uint64) * np.uint64(SCATTER)) >> np.uint64(shift)] = True

    def find(lane: slice) -> IntArray:
        may_be = np.zeros(lane.stop - lane.start, dtype=bool)
        compile_loop(_filter)(groups[lane], values[lane], width, SCATTER, shift, bits, may_be)
        rows = np.flatnonzero(may_be) + lane.start
        keys = groups[rows] * np.int64(width) + values[rows]
        nearest = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
        return rows[pairs[nearest] == keys]

    if not len(pairs):
        return pairs
    return np.concatenate(_side_by_side(find, _split(len(groups))))


def count_rows(groups: AnyInts, *, size: int, chosen: BoolArray | None = None) -> IntArray:
    """Count the rows of each group, of all rows or of those that are chosen.

    Args:
        groups: 0 … size − 1, one per row.
        size: number of groups.
        chosen: which rows count; None: all.

    Example:
        >>> count_rows(np.array([1, 0, 1]), size=3, chosen=np.array([True, False, True])).tolist()
        [0, 2, 0]
    """
    if not are_many(groups, values=size):
        return np.bincount(groups if chosen is None else groups[chosen], minlength=size)

    def count(lane: slice) -> IntArray:
        counts = np.zeros(size, dtype=np.int64)
        if chosen is None:
            compile_loop(_count)(groups[lane], 0, counts)
        else:
            compile_loop(_count_chosen)(groups[lane], chosen[lane], counts)
        return counts

    some, others = _side_by_side(count, _split(len(groups)))
    return some + others


def _split(length: int) -> list[slice]:
    """Split 0 … length − 1 into a range for each lane."""
    edges = np.linspace(0, length, _LANES + 1).astype(np.int64)
    return [slice(first, last) for first, last in pairwise(edges.tolist())]


def _side_by_side(use: Callable[[S], T], parts: Iterable[S]) -> list[T]:
    """Return what ``use`` returns for each part, in order."""
    with ThreadPoolExecutor(_LANES) as threads:  # compiled loops release the interpreter lock
        return list(threads.map(use, parts))


def _count(groups: Any, shift: int, counts: Any) -> None:
    """Count the rows of each bucket of groups."""
    for row in range(len(groups)):
        if groups[row] >= 0:
            counts[groups[row] >> shift] += 1


def _count_chosen(groups: Any, chosen: Any, counts: Any) -> None:
    """Count the chosen rows of each group."""
    for row in range(len(groups)):
        counts[groups[row]] += chosen[row]


def _filter(  # a compiled loop takes its columns one by one
    groups: Any, values: Any, width: int, scatter: int, shift: int, bits: Any, may_be: Any
) -> None:
    """Write for which rows the bit of their pair is set."""
    for row in range(len(groups)):
        key = np.int64(groups[row]) * width + values[row]
        may_be[row] = bits[(np.uint64(key) * np.uint64(scatter)) >> np.uint64(shift)]


def _scatter(groups: Any, values: Any, shift: int, places: Any, pairs: Any) -> None:
    """Write group and value of each row, packed in 64 bits, at the next place of its bucket."""
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0:
            pairs[places[group >> shift]] = (group << 32) | np.uint32(values[row])
            places[group >> shift] += 1


def _sort(pairs: Any, bucket_ends: Any, first: int, shift: int, ends: Any, gathered: Any) -> None:
    """Write the values of each bucket in the order of their groups, and each group's end."""
    place = 0
    for number in range(len(bucket_ends) - 1):
        rows = pairs[bucket_ends[number] : bucket_ends[number + 1]]
        for pair in rows:
            # A counting sort in three passes: count, turn counts into places, write.
            ends[(pair >> 32) - first] += 1
        for group in range(number << shift, min((number + 1) << shift, len(ends))):
            count = ends[group]
            ends[group] = place
            place += count
        for pair in rows:
            group = (pair >> 32) - first
            # The lower half of a pair is the value; the upper half was its group.
            gathered[ends[group]] = np.int32(pair)
            ends[group] += 1


def _reach(  # a compiled loop takes its columns one by one
    keys: Any, ends: Any, labels: Any, starts: Any, items: Any, size: int, counts: Any
) -> None:
    """Write into ``counts`` how many distinct items each group reaches.

    The items of a group are in a hash table that fits into the processor's cache; marks of all
    items do not, and nearly every row would wait for memory.
    """
    begin, most = 0, 0
    for index in range(len(ends)):
        most = max(most, ends[index] - begin)
        begin = ends[index]
    reached, table = np.empty(most, np.int32), np.full(64, -1, np.int32)
    begin = 0
    for index in range(len(ends)):
        rows = total = ends[index] - begin
        # Loads that do not wait for each other: memory answers several at a time.
        for row in range(rows):
            label = labels[keys[begin + row]]
            reached[row] = label
            if label < -1:
                total += starts[-1 - label] - starts[-2 - label]
        slots, shift = 16, 28
        while slots < 2 * min(total, size):
            slots, shift = slots * 2, shift - 1
        if slots > len(table):
            table = np.full(slots, -1, np.int32)
        count = 0
        for row in range(rows):
            label = reached[row]
            first, last = (starts[-2 - label], starts[-1 - label]) if label < -1 else (0, 1)
            for place in range(first, last if label != -1 else first):
                item = items[place] if label < -1 else label
                slot = np.int64(np.uint32(item * _HASH) >> shift)
                while table[slot] != item and table[slot] >= 0:
                    slot = (slot + 1) & (slots - 1)
                count += table[slot] < 0
                table[slot] = item
        table[:slots] = -1
        counts[index] = count
        begin = ends[index]


def _mark(values: Any, ends: Any, again: Any) -> None:
    """Write which values are in their group already. Negative values are left out."""
    begin, table = 0, np.full(64, -1, np.int32)
    for index in range(len(ends)):
        slots, shift = 16, 28
        # At most half full, so a search for a free slot is short.
        while slots < 2 * (ends[index] - begin):
            slots, shift = slots * 2, shift - 1
        if slots > len(table):
            table = np.full(slots, -1, np.int32)
        for place in range(begin, ends[index]):
            value = values[place]
            if value >= 0:
                # Multiplicative hashing: the upper bits of the product are the slot.
                slot = np.int64(np.uint32(value * _HASH) >> shift)
                while table[slot] != value and table[slot] >= 0:
                    slot = (slot + 1) & (slots - 1)
                again[place] = table[slot] == value
                table[slot] = value
        # Only the slots that this group used; the table of the largest group stays.
        table[:slots] = -1
        begin = ends[index]
