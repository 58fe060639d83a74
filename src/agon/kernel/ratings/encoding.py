"""Encode ids as dense player numbers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.compiling import COMPILED_FROM, compile_loop
from agon.kernel.ratings.short_ids import number_short_ids


def encode(ids_a: Any, ids_b: Any) -> tuple[Any, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the players of two id columns: ``(names, a, b)`` with ``names[a] == ids_a``.

    ``names`` is a pyarrow array of the distinct ids in ascending order (text by code point), so
    the numbers do not depend on the order of the matches. The columns may be pyarrow arrays,
    chunked, dictionary-encoded or not, or numpy arrays and lists of text or integers; both
    of one type.

    Raises:
        NotScorable: when an id is missing.

    Example:
        >>> names, a, b = encode(["eve", "ada"], ["bob", "eve"])
        >>> names.to_pylist(), a.tolist(), b.tolist()
        (['ada', 'bob', 'eve'], [2, 0], [1, 2])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [_column(ids) for ids in (ids_a, ids_b)]
    for side, column in zip("ab", columns, strict=True):
        if column.null_count:
            row = pc.index(column.is_null(), pa.scalar(True)).as_py()
            raise NotScorable(
                f"match {row} has no id on side {side}; every match needs two players"
            )
    if len(columns[0]) < COMPILED_FROM:
        return _encode(columns, map)
    # Compiled code and Arrow let go of the interpreter, so that both sides run at once.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(columns)) as pool:
        return _encode(columns, pool.map)


def _encode(
    columns: Sequence[Any], each: Callable[..., Iterable[Any]]
) -> tuple[Any, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the ids of plain pyarrow arrays; ``each`` is ``map`` or works as it does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sides = list(each(_number, columns))
    both = pa.concat_arrays([distinct for distinct, _ in sides]).dictionary_encode()
    order = pc.sort_indices(both.dictionary)
    places = np.empty(len(order), dtype=np.int32)
    places[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    numbers = places.take(both.indices.to_numpy())
    split = len(sides[0][0])
    a, b = each(_replace_numbers, [of_side for _, of_side in sides], np.split(numbers, [split]))
    return both.dictionary.take(order), a, b


def _number(column: Any) -> tuple[Any, npt.NDArray[np.int32]]:
    """Number the ids of one column by first appearance: ``(distinct ids, numbers)``."""
    if short := number_short_ids(column):
        return short
    encoded = column.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def _replace_numbers(
    old: npt.NDArray[np.int32], new_of_old: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Replace old numbers by new, in place where the array is not shared, to avoid allocation."""
    if len(old) < COMPILED_FROM or not old.flags.writeable:
        return new_of_old.take(old)
    compile_loop(_renumber)(old.view(np.uint32), new_of_old)
    return old


def _renumber(numbers: Any, new_of_old: Any) -> None:
    for row in range(len(numbers)):
        numbers[row] = new_of_old[numbers[row]]


def _column(ids: Any) -> Any:
    """Return an id column as a plain pyarrow array."""
    import pyarrow as pa

    column = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
