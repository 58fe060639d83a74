"""Summarize a board when it is published: distributions, ranges of columns, orders of rows."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from agon.app.contests.boards.distribution import SCORE, distributions
from agon.entities.contests import INDEX_BYTES, BoardSummary

_PARTS: Final = "components"
_PART: Final = f"{_PARTS}."
"""How the names of columns begin that are parts of scores."""

_ORDERED: Final = frozenset({"rank"})
"""Columns in whose order the rows are stored."""

_INDEX: Final = np.dtype(f"<u{INDEX_BYTES}")


class _Column(NamedTuple):
    """A column of a board, or a part of its scores, with one value or none for each row."""

    name: str
    values: Any


def summarize(table: pa.Table) -> BoardSummary:
    """Return what pages show of a complete board.

    Columns are summarized by the number of rows that have a value (``n``), and numbers by the
    ``low`` and ``high``est, where false is 0 and true is 1.

    Args:
        table: the rows of the board, best first.
    """
    columns = list(_columns(table))
    scores = {
        column.name.removeprefix(_PART): _floats(column.values)
        for column in columns
        if column.name == SCORE or column.name.startswith(_PART)
    }
    return BoardSummary(
        values={
            "parts": [asdict(part) for part in distributions(scores)],
            "columns": {column.name: _range(column.values) for column in columns},
        },
        orders={
            column.name: _order(column.values) for column in columns if column.name not in _ORDERED
        },
    )


def _columns(table: pa.Table) -> Iterator[_Column]:
    """Yield the columns of numbers, flags and text, and the parts of scores."""
    for name in table.column_names:
        column = table[name].combine_chunks()
        if name == _PARTS and kinds.is_struct(column.type):
            for member, values in zip(column.type, column.flatten(), strict=True):
                if _is_number(values.type):
                    yield _Column(f"{_PART}{member.name}", values)
        elif kinds.is_boolean(column.type):
            yield _Column(name, column.cast(pa.uint8()))
        elif _is_number(column.type) or _is_text(column.type):
            yield _Column(name, column)


def _is_number(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _floats(values: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
    return np.asarray(values.drop_null().cast(pa.float64(), safe=False))


def _range(values: Any) -> dict[str, Any]:
    """Return how many rows have a value; of numbers also the range."""
    n = len(values) - values.null_count
    if _is_text(values.type) or not n:
        return {"n": n}
    ends = pc.min_max(values)
    return {"n": n, "low": ends["min"].as_py(), "high": ends["max"].as_py()}


def _order(values: Any) -> bytes:
    """Return the indexes of the rows with a value, the largest first, as they are stored."""
    order = pc.array_sort_indices(values, order="descending")  # stable, without values last
    indexes = order.slice(0, len(values) - values.null_count).to_numpy()
    return indexes.astype(_INDEX).tobytes()
