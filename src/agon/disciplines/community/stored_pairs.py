"""Continue from stored pairs of codes: what is counted of distinct pairs only grows.

A user's number of distinct creators is the stored number, and the added creators that are not
among the stored ones. The pairs stay on disk; only those next to added ones are read.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.id_index import expand
from agon.kernel.marks import SCATTER, AnyInts

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Arrays = Mapping[str, Any]

_BITS: Final = 32
"""Bits of a pair's second number in a key, ``first << 32 | second``: keys are in order of pairs."""

_END: Final = 1 << (_BITS - 1)

_PART: Final = 1 << 22
"""Number of pairs whose bits are set at a time."""


def ordered_pairs(first: AnyInts, second: AnyInts) -> tuple[AnyInts, AnyInts]:
    """Return the distinct pairs of two columns, in order; small numbers in 32 bits.

    Args:
        first: from 0, below 2³¹.
        second: any numbers.

    Example:
        >>> first, second = np.array([1, 0, 1]), np.array([2, 4, 2])
        >>> [column.tolist() for column in ordered_pairs(first, second)]
        [[0, 1], [4, 2]]
    """
    if second.min(initial=0) >= 0 and second.max(initial=0) < _END:
        keys = pair_keys(first, second)
        keys.sort()
        keys = keys[_differs(keys)]
        return (keys >> _BITS).astype(np.int32), keys.astype(np.int32)
    order = np.lexsort((second, first))
    first, second = first[order].astype(np.int64), second[order].astype(np.int64)
    new = _differs(first) | _differs(second)
    return first[new], second[new]


def distinct(values: AnyInts) -> IntArray:
    """Return the distinct numbers, in order.

    Example:
        >>> distinct(np.array([5, 2, 5])).tolist()
        [2, 5]
    """
    ordered = np.sort(values.astype(np.int64, copy=False))
    return ordered[_differs(ordered)]


def pair_keys(first: AnyInts, second: AnyInts) -> IntArray:
    """Return a key of each pair, by which pairs are in order; numbers are below 2³¹."""
    return first.astype(np.int64) << _BITS | second


def _differs(values: IntArray) -> BoolArray:
    """Return which values differ from the one before them."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def pair_arrays(
    name: str, first: AnyInts, second: AnyInts, *, size: int
) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of :class:`StoredPairs`.

    Args:
        name: of the pairs.
        first: in order, 0 … size − 1.
        second: in order for each of them.
        size: how many first numbers there are.
    """
    yield name, second
    yield f"{name}_starts", np.append(0, np.cumsum(np.bincount(first, minlength=size)))
    yield f"{name}_filter", _filter(first, second)


def _filter(first: AnyInts, second: AnyInts) -> npt.NDArray[np.uint8]:
    """Return bits of which one is set for each pair: a pair without its bit is not stored.

    There are four to eight times as many bits as pairs.
    """
    bits = np.zeros(1 << max(3, len(first).bit_length() + 2), dtype=bool)
    for at in range(0, len(first), _PART):
        bits[_bit_of(first[at : at + _PART], second[at : at + _PART], len(bits))] = True
    return np.packbits(bits, bitorder="little")


def _bit_of(first: AnyInts, second: AnyInts, bits: int) -> npt.NDArray[np.uint64]:
    """Return the number of each pair's bit."""
    hashes = pair_keys(first, second).view(np.uint64) * np.uint64(SCATTER)
    return hashes >> np.uint64(65 - bits.bit_length())


class StoredPairs:
    """Pairs on disk, as the ascending second numbers of each first one.

    Example:
        >>> arrays = dict(pair_arrays("p", np.array([0, 2, 2]), np.array([7, 5, 9]), size=3))
        >>> pairs = StoredPairs(arrays, "p")
        >>> pairs.find(np.array([2, 2, 3]), np.array([9, 7, 1])).tolist()
        [2, -1, -1]
        >>> [column.tolist() for column in pairs.of(np.array([2, 1, 0]))]
        [[0, 0, 2], [5, 9, 7]]
    """

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._seconds, self._starts = arrays[name], arrays[f"{name}_starts"]
        self._filter = arrays[f"{name}_filter"]

    def counts(self, *, size: int) -> IntArray:
        """Return the number of pairs of each first number, of which there may be added ones."""
        counts = np.zeros(size, dtype=np.int64)
        np.subtract(self._starts[1:], self._starts[:-1], out=counts[: len(self._starts) - 1])
        return counts

    def of(self, firsts: AnyInts) -> tuple[IntArray, IntArray]:
        """Return the pairs of some first numbers: the place of each in ``firsts``, and second."""
        run, place = self.places(firsts)
        return run, self._seconds[place].astype(np.int64)

    def places(self, firsts: AnyInts) -> tuple[IntArray, IntArray]:
        """Return the pairs of some first numbers: the place of each in ``firsts``, and its own."""
        low, high = self._ends(firsts)
        return expand(low, high - low)

    def find(self, first: AnyInts, second: AnyInts) -> IntArray:
        """Return the place of each pair, −1 of those that are not stored."""
        places = np.full(len(first), -1, dtype=np.int64)
        bit = _bit_of(first, second, 8 * len(self._filter))
        byte = self._filter[(bit >> np.uint64(3)).view(np.int64)]
        rows = np.flatnonzero(byte >> (bit & np.uint64(7)).astype(np.uint8) & np.uint8(1))
        places[rows] = self._search(first[rows], second[rows])
        return places

    def _search(self, first: AnyInts, second: AnyInts) -> IntArray:
        """Return the place of each pair, −1 of those that are not stored, by halves."""
        low, high = self._ends(first)
        end = high.copy()
        rows = np.flatnonzero(low < high)
        while len(rows):
            middle = (low[rows] + high[rows]) >> 1
            below = self._seconds[middle] < second[rows]
            low[rows] = np.where(below, middle + 1, low[rows])
            high[rows] = np.where(below, high[rows], middle)
            rows = rows[low[rows] < high[rows]]
        inside = np.flatnonzero(low < end)
        inside = inside[self._seconds[low[inside]] == second[inside]]
        places = np.full(len(low), -1, dtype=np.int64)
        places[inside] = low[inside]
        return places

    def _ends(self, firsts: AnyInts) -> tuple[IntArray, IntArray]:
        """Return the first place of each one's pairs, and the place after the last one."""
        last = np.int64(len(self._starts) - 1)
        low, high = np.minimum(firsts, last), np.minimum(firsts + np.int64(1), last)
        return self._starts[low].astype(np.int64), self._starts[high].astype(np.int64)


class GrownPairs:
    """Stored pairs and added ones.

    Attributes:
        new: the distinct added pairs that are not stored, in order.
    """

    def __init__(self, stored: StoredPairs, first: AnyInts, second: AnyInts) -> None:
        self._stored = stored
        first, second = ordered_pairs(first, second)
        fresh = stored.find(first, second) < 0
        self.new = first[fresh], second[fresh]

    def counts(self, *, size: int) -> IntArray:
        """Return the number of pairs of each first number."""
        return self._stored.counts(size=size) + np.bincount(self.new[0], minlength=size)

    def of(self, firsts: AnyInts) -> tuple[IntArray, IntArray]:
        """Return the pairs of some first numbers: the place of each in ``firsts``, and second."""
        run, second = self._stored.of(firsts)
        low = np.searchsorted(self.new[0], firsts)
        late, place = expand(low, np.searchsorted(self.new[0], firsts, side="right") - low)
        return np.concatenate([run, late]), np.concatenate([second, self.new[1][place]])
