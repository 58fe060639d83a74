"""Convert JSON rows to columns that the engine reads exactly like a file of these rows.

A column whose values all have its own type becomes an Arrow array of that type, which is fast. Any
other becomes JSON text, so that reading a value does not depend on other rows.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from agon.records.raw import RawTable, quote
from agon.records.schemas import Column, Kind, Table

_NOTHING = type(None)
_FAST: dict[Kind, tuple[tuple[set[type], pa.DataType], ...]] = {
    Kind.ID: (({int, _NOTHING}, pa.int64()), ({str, _NOTHING}, pa.string())),
    Kind.TEXT: (({str, _NOTHING}, pa.string()),),
    Kind.INTEGER: (({int, _NOTHING}, pa.int64()),),
    Kind.NUMBER: (({int, float, _NOTHING}, pa.float64()),),
    Kind.BOOLEAN: (({bool, _NOTHING}, pa.bool_()),),
    Kind.TIMESTAMP: (({str, _NOTHING}, pa.string()),),
}
_ENGINE_TYPES = {
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.string(): "VARCHAR",
}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_LOW, _HIGH = -(2**63), 2**63 - 1


def raw_rows(
    connection: Any, table: Table, rows: Sequence[Mapping[str, Any]], **spans: Any
) -> RawTable:
    """Register rows in the engine as a raw table, with an integer column per span.

    Columns without a value in any row are left out; keys the schema does not have are ignored.
    """
    arrays: dict[str, pa.Array] = {}
    types: dict[str, str] = {}
    for column in table.columns:
        name = column.name
        values = _values(rows, name)
        if values.count(None) < len(values):
            arrays[name], types[name] = _array(column, values)
    names = list(types)
    for name, numbers in spans.items():
        arrays[name] = pa.array(numbers, pa.int64())
    view = f"raw_rows:{table.name}"
    connection.register(view, pa.table(arrays))
    written = [name for name in names if types[name] == "JSON"]
    relation = quote(view)
    if written:
        read = ", ".join(f"{quote(name)}::JSON AS {quote(name)}" for name in written)
        relation = f"(SELECT * REPLACE ({read}) FROM {relation})"
    return RawTable(table.name, table.name, relation, types)


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return one column of rows; usually all rows have it, or none."""
    if rows and name in rows[0]:
        try:
            return list(map(itemgetter(name), rows))
        except KeyError:
            pass  # some rows do not have it
    return [row.get(name) for row in rows]


def text_index(ids: Iterable[Any]) -> int | None:
    """Return the index of the first id that is not a 64-bit integer in canonical notation, if any.

    A value that is not an id (a list, 1.5) is read as empty and ignored.

    Example:
        >>> text_index([5, "7", None, ""]), text_index([1, "007"]), text_index([2**63])
        (None, 1, 0)
    """
    return next((index for index, id_ in enumerate(ids) if not _is_whole(id_)), None)


def _is_whole(value: Any) -> bool:
    if isinstance(value, str):
        if not value:
            return True
        return _WHOLE.fullmatch(value) is not None and _LOW <= int(value) <= _HIGH
    return not isinstance(value, int) or _LOW <= value <= _HIGH


def _array(column: Column, values: list[Any]) -> tuple[pa.Array, str]:
    kinds = set(map(type, values))
    for types, arrow_type in _FAST[column.kind]:
        if kinds <= types:
            try:
                return pa.array(values, arrow_type), _ENGINE_TYPES[arrow_type]
            except (pa.ArrowInvalid, OverflowError):
                break  # an integer too large for the type
    texts = [None if value is None else json.dumps(value) for value in values]
    return pa.array(texts, pa.string()), "JSON"
