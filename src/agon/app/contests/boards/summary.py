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

MAX_VALUES: Final = 12
"""Maximum number of different values of a column that are listed, to filter by."""

_INDEX: Final = np.dtype(f"<u{INDEX_BYTES}")


class _Column(NamedTuple):
    """A column of a board, or a part of its scores, with one value or none for each row."""

    name: str
    values: Any
    is_flag: bool = False


def summarize(table: pa.Table) -> BoardSummary:
    """Return the figures of a complete board that its pages show.

    Columns are summarized as :class:`agon.app.contests.boards.columns.Column` says.

    Args:
        table: the rows of the board, best first.
    """
    columns = list(_columns(table))
    scores = {
        column.name.removeprefix(_PART): _floats(column.values)
        for column in columns
        if column.name == SCORE or column.name.startswith(_PART)
    }
    orders = {
        column.name: _order(column.values) for column in columns if column.name not in _ORDERED
    }
    return BoardSummary(
        values={
            "parts": [asdict(part) for part in distributions(scores)],
            "columns": {
                column.name: _range(column, table["id"], orders.get(column.name))
                for column in columns
            },
        },
        orders=orders,
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
            yield _Column(name, column.cast(pa.uint8()), is_flag=True)
        elif _is_number(column.type) or _is_text(column.type):
            yield _Column(name, column)


def _is_number(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _floats(values: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
    return np.asarray(values.drop_null().cast(pa.float64(), safe=False))


def _range(column: _Column, ids: Any, order: bytes | None) -> dict[str, Any]:
    """Return how many rows have a value, and what their range is."""
    values = column.values
    counted: dict[str, Any] = {"n": len(values) - values.null_count}
    if not counted["n"] or column.name == "id":
        return counted
    if _is_text(values.type):
        distinct = pc.count_distinct(values).as_py()
        return {**counted, "distinct": distinct, **_few_values(values, distinct)}
    ends = pc.min_max(values)
    counted |= {"low": ends["min"].as_py(), "high": ends["max"].as_py()}
    if column.is_flag:
        counted["yes"] = pc.sum(values).as_py()
    elif kinds.is_integer(values.type) and column.name != "rank":
        counted |= _few_values(values, pc.count_distinct(values).as_py())
    if order is not None:
        first = int.from_bytes(order[:INDEX_BYTES], "little")
        counted["top"] = ids[first].as_py()
    return counted


def _few_values(values: Any, distinct: int) -> dict[str, Any]:
    """Return the different values of a column as texts, if they are few and some repeat."""
    if distinct > MAX_VALUES or distinct == len(values) - values.null_count:
        return {}
    return {"values": [str(value) for value in sorted(values.unique().drop_null().to_pylist())]}


def _order(values: Any) -> bytes:
    """Return the indexes of the rows with a value, the largest first, as they are stored."""
    order = pc.array_sort_indices(values, order="descending")  # stable, without values last
    indexes = order.slice(0, len(values) - values.null_count).to_numpy()
    return indexes.astype(_INDEX).tobytes()
