"""Map ids to consecutive integers, so that counting uses small integers."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.kernel.compiling import COMPILED_FROM, compile_loop
from agon.kernel.marks import AnyInts

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]

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
        self.ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        self._table: ShortArray | None = None
        self._low = 0
        if pa.types.is_integer(self.ids.type) and len(self.ids):
            ends = pc.min_max(self.ids).as_py()
            span = ends["max"] - ends["min"] + 1
            if span <= _SPARSEST * len(self.ids) + 1024:
                # Index 0 of the table is for unknown ids.
                self._low = ends["min"] - 1
                self._table = np.full(span + 1, -1, dtype=np.int32)
                self._table[self.ids.to_numpy() - self._low] = np.arange(len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)

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
            places[done : done + len(part)] = self._of(part)
            done += len(part)
        return places

    def _of(self, ids: pa.Array) -> npt.NDArray[Any]:
        if self._table is None:
            return _array(pc.fill_null(pc.index_in(ids, value_set=self.ids.cast(ids.type)), -1))
        # A different type means a column without values.
        present = ids.cast(pa.int64()) if pa.types.is_null(ids.type) else ids
        if present.null_count:
            present = pc.fill_null(present, self._low)
        if len(present) >= COMPILED_FROM:
            places = np.empty(len(present), dtype=np.int32)
            compile_loop(_look_up)(_array(present), self._low, self._table, places)
            return places
        offsets = _array(present) - self._low
        if len(offsets) and (offsets.min() < 0 or offsets.max() >= len(self._table)):
            offsets[(offsets < 0) | (offsets >= len(self._table))] = 0
        return np.take(self._table, offsets)

    @cached_property
    def text(self) -> pa.Array:
        """Return the ids as text, in index order."""
        return pc.cast(self.ids, pa.string())


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
    for batch in batches:
        at, values = codes.short_of(batch[id_column]), as_int64(batch[value_column])
        if len(at) >= COMPILED_FROM:
            compile_loop(_add)(at, values, totals, counts)
            continue
        known = at >= 0
        np.add.at(totals, at[known], values[known])
        np.add.at(counts, at[known], 1)
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
    return [chunk[at : at + _PART] for chunk in chunks for at in range(0, len(chunk), _PART)]


def _array(column: Any) -> npt.NDArray[Any]:
    """Return an Arrow column without empty values as an array (not to be written to)."""
    if isinstance(column, pa.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)
