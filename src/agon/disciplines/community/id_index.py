"""Map ids to consecutive integers, so that counting uses small integers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.kernel.arrays import IntArray, ShortArray
from agon.kernel.compiling import ARRAYS_COMPILED_FROM, compile_loop
from agon.kernel.marks import AnyInts

_SPARSEST = 8
"""Integer ids whose range exceeds this multiple of their count are looked up by hash."""

_PART = 1 << 18
"""Number of ids encoded per step."""


class IdIndex:
    """The index 0, 1, 2 … of each of some distinct ids.

    Example:
        >>> codes = IdIndex(pa.array(["ada", "bob"]))
        >>> codes.of(pa.array(["bob", None, "eve", "ada"])).tolist()
        [1, -1, -1, 0]
    """

    def __init__(self, ids: Any) -> None:
        self._ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        self._places = _places_of(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> Any:
        """Return the ids, in index order."""
        return self._ids

    def of(self, ids: Any) -> IntArray:
        """Return the index of each id, −1 where it is empty or unknown."""
        return self.short_of(ids).astype(np.int64)

    def short_of(self, ids: Any) -> ShortArray:
        """Return the index of each id in half the memory.

        A product of such an array must be computed in 64 bits (``np.int64(size) * codes``).
        """
        places = np.empty(len(ids), dtype=np.int32)
        done = 0
        for part in _parts(ids):
            # A different type means a column without values.
            present = part.cast(self._type) if pa.types.is_null(part.type) else part
            # Chunk by chunk: joined, 40 million ids of text would exceed Arrow's 32-bit offsets.
            places[done : done + len(part)] = self._places(present)
            done += len(part)
        return places

    @property
    def _type(self) -> Any:
        return self._ids.type

    @cached_property
    def text(self) -> pa.Array:
        """Return the ids as text, in index order."""
        return pc.cast(self.ids, pa.string())


Places = Callable[[pa.Array], npt.NDArray[Any]]
"""Returns the place of each of some ids, −1 where it is empty or unknown."""


@dataclass(frozen=True)
class _RangePlaces:
    """The places of consecutive integers in order."""

    low: int
    size: int

    def __call__(self, ids: pa.Array) -> IntArray:
        """Return the distance of each id from the first one."""
        places, outside = _distances(integers(ids, empty=0), self.low, self.size)
        if outside.any() or ids.null_count:
            places[outside | _is_empty(ids)] = -1
        return places


class _TablePlaces:
    """The places of integers within a small range: a table by the distance from the first."""

    def __init__(self, ids: pa.Array, low: int, high: int) -> None:
        self._low = low
        self._table = np.full(high - low + 1, -1, dtype=np.int32)
        self._table[ids.to_numpy() - low] = np.arange(len(ids))
        self._sought = 0

    def __call__(self, ids: pa.Array) -> npt.NDArray[Any]:
        numbers = integers(ids, empty=0)
        self._sought += len(numbers)
        if self._sought >= ARRAYS_COMPILED_FROM:
            places = np.empty(len(numbers), dtype=np.int32)
            compile_loop(_look_up)(numbers, self._low, self._table, places)
        else:
            distances, outside = _distances(numbers, self._low, len(self._table))
            distances[outside] = 0
            places = np.take(self._table, distances)
            places[outside] = -1
        if ids.null_count:
            places[_is_empty(ids)] = -1
        return places


def _distances(
    numbers: IntArray, low: int, size: int
) -> tuple[IntArray, npt.NDArray[np.bool_]]:  # fmt: skip
    """Return the distances of numbers from one, and which are not 0 … size − 1."""
    # Modulo 2⁶⁴, a distance of less than the size is that of a number in the range.
    distances = numbers - np.int64(low)
    return distances, distances.view(np.uint64) >= size


def _is_empty(ids: pa.Array) -> npt.NDArray[np.bool_]:
    return ids.is_null().to_numpy(zero_copy_only=False)


class _HashPlaces:
    """The places of any ids."""

    def __init__(self, ids: pa.Array) -> None:
        self._ids = ids

    def __call__(self, ids: pa.Array) -> npt.NDArray[Any]:
        """Return places by a hash table of those that are fewer: of all ids or of those sought."""
        if len(ids) >= len(self._ids):
            return _array(pc.fill_null(pc.index_in(ids, value_set=self._ids.cast(ids.type)), -1))
        sought = ids.dictionary_encode()
        which = pc.index_in(self._ids.cast(ids.type), value_set=sought.dictionary)
        index = np.flatnonzero(which.is_valid().to_numpy(zero_copy_only=False))
        place = np.full(len(sought.dictionary) + 1, -1, dtype=np.int32)
        place[_array(which.drop_null())] = index
        return place[_array(pc.fill_null(sought.indices, -1))]


def _places_of(ids: pa.Array) -> Places:
    if pa.types.is_integer(ids.type) and len(ids):
        numbers = ids.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if is_consecutive(numbers):
            return _RangePlaces(low, len(ids))
        if high - low + 1 <= _SPARSEST * len(ids) + 1024:
            return _TablePlaces(ids, low, high)
    return _HashPlaces(ids)


def is_consecutive(numbers: npt.NDArray[Any]) -> bool:
    """Return whether integers that differ follow each other in order.

    Example:
        >>> [is_consecutive(np.array(numbers)) for numbers in ([4, 5, 6], [4, 6, 5], [])]
        [True, False, False]
    """
    if not len(numbers) or int(numbers[-1]) - int(numbers[0]) != len(numbers) - 1:
        return False
    return bool((numbers[1:] > numbers[:-1]).all())


def integers(ids: Any, *, empty: int) -> IntArray:
    """Return integer ids as an array (not to be written to), with a number for empty ones."""
    filled = pc.fill_null(ids, empty) if ids.null_count else ids
    return _array(filled).astype(np.int64, copy=False)


def _look_up(ids: Any, low: int, table: Any, places: Any) -> None:
    """Write the index of each id, −1 of those outside of the table."""
    for row in range(len(ids)):
        offset = ids[row] - low
        places[row] = table[offset] if 0 <= offset < len(table) else -1


def sum_and_count(
    codes: IdIndex, batches: Iterable[pa.RecordBatch], id_column: str, value_column: str
) -> tuple[IntArray, IntArray]:
    """Return the sum of an integer column and the number of rows, by the index of another column.

    Rows with an unknown id are left out.

    Example:
        >>> rows = pa.table({"of": ["b", "b", "x"], "n": [2, 3, 9]})
        >>> users = IdIndex(pa.array(["a", "b"]))
        >>> batches = rows.to_batches()
        >>> [column.tolist() for column in sum_and_count(users, batches, "of", "n")]
        [[0, 5], [0, 2]]
    """
    totals = np.zeros(len(codes), dtype=np.int64)
    counts = np.zeros(len(codes), dtype=np.int64)
    done = 0
    for batch in batches:
        index, values = codes.short_of(batch[id_column]), as_int64(batch[value_column])
        done += len(index)
        if done >= ARRAYS_COMPILED_FROM:
            compile_loop(_add)(index, values, totals, counts)
            continue
        known = index >= 0
        np.add.at(totals, index[known], values[known])
        np.add.at(counts, index[known], 1)
    return totals, counts


def _add(at: Any, values: Any, totals: Any, counts: Any) -> None:
    """Add each value to the total at its place, unless that is negative, and count it."""
    for row in range(len(at)):
        if at[row] >= 0:
            totals[at[row]] += values[row]
            counts[at[row]] += 1


def expand(starts: AnyInts, counts: AnyInts) -> tuple[IntArray, IntArray]:
    """Expand runs: for run i give ``counts[i]`` entries, each with i and its flat index.

    Args:
        starts: index of each run's first entry in the flat list.
        counts: entries of each run.

    Example:
        >>> [column.tolist() for column in expand(np.array([4, 0]), np.array([2, 1]))]
        [[0, 0, 1], [4, 5, 0]]
    """
    run = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return run, np.arange(len(run)) - first[run] + starts[run]


def group_rows(groups: IntArray, *, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Sort rows by group: row numbers in group order, and each group's start and count there.

    Example:
        >>> [column.tolist() for column in group_rows(np.array([1, 0, 1]), size=2)]
        [[1, 0, 2], [0, 1], [1, 2]]
    """
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups, minlength=size)
    return order, np.cumsum(counts) - counts, counts


def as_int64(column: Any, *, empty: int = -1) -> IntArray:
    """Return an integer column as int64, with ``empty`` for empty values.

    Example:
        >>> as_int64(pa.array([3, None])).tolist()
        [3, -1]
    """
    numbers = column.cast(pa.int64())
    filled = pc.fill_null(numbers, empty) if numbers.null_count else numbers
    return _array(filled).astype(np.int64, copy=False)


def as_bools(column: Any) -> npt.NDArray[np.bool_]:
    """Return a column of booleans; empty values are false."""
    return _array(pc.fill_null(column, False)).astype(bool)  # arrow's own positional argument


def _parts(ids: Any) -> list[pa.Array]:
    """Split a column into parts that fit into the processor's cache."""
    chunks = ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]
    return [
        chunk[index : index + _PART] for chunk in chunks for index in range(0, len(chunk), _PART)
    ]


def _array(column: Any) -> npt.NDArray[Any]:
    """Return an Arrow column without empty values as an array (not to be written to)."""
    if isinstance(column, pa.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)
