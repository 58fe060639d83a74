"""Read tables in memory: data frames (the Arrow PyCapsule interface) and lists of dicts."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.errors import Unreadable, did_you_mean
from agon.records.issues import RowIssue
from agon.records.names.matching import fold_name, match_names
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.schemas import Schema, Table
from agon.records.sources.nested_names import nested_paths

_ROW = "row:"


def from_memory(
    connection: Any, schema: Schema, tables: Mapping[str, Any], *, ignore: Collection[str] = ()
) -> SourceTables:
    """Register tables in memory in the engine; unknown ones are issues, unless they are ignored."""
    ignored = set(map(fold_name, ignore))
    matched = match_names([table.stored_as or table.name for table in schema], map(str, tables))
    known = [table.stored_as or table.name for table in schema]
    issues = [
        RowIssue(
            "unknown-table",
            name,
            name,
            None,
            None,
            None,
            f"is not a table of {schema.discipline} records",
            did_you_mean(name, known),
        )
        for name in matched.unused
        if fold_name(name) not in ignored
    ]
    source = SourceTables("memory", issues=issues, spelled=matched.respelled)
    for table in schema:
        name = matched.names.get(table.stored_as or table.name)
        if name is not None:
            rows = arrow_table(name, tables[name])
            source.tables[table.name] = register(connection, table, name, rows)
    return source


def register(connection: Any, table: Table, location: str, rows: pa.Table) -> RawTable:
    """Register an Arrow table in the engine, with row numbers."""
    rows, whole = _with_nested(table, rows)
    matched = match_names([column.name for column in table.columns], rows.column_names)
    numbers = pa.arange(1, rows.num_rows + 1)
    # A table without any known column still has rows.
    known = rows.select(list(matched.names.values())).rename_columns(list(matched.names))
    numbered = known.append_column(_ROW, numbers)
    name = f"raw:{table.name}"
    connection.register(name, numbered)
    relation = connection.table(quote(name))  # not DESCRIBE, which takes twice as long
    types = {
        column: str(kind)
        for column, kind in zip(relation.columns, relation.types, strict=True)
        if column != _ROW
    }
    return RawTable(
        table.name,
        location,
        quote(name),
        types,
        quote(_ROW),
        others=tuple(name for name in matched.unused if name not in whole),
        spelled=matched.respelled,
    )


def _with_nested(table: Table, rows: pa.Table) -> tuple[pa.Table, set[str]]:
    """Return a table with a column for each one of the schema that is inside another one.

    Returns:
        The table, and the columns in which there are some.
    """
    whole = set()
    for column in table.columns:
        for first, *path in nested_paths(column.name, rows.column_names):
            values = rows[first].combine_chunks()
            for name in path:
                values = _value_inside(values, name)
                if values is None:
                    break
            if values is not None:
                rows = rows.append_column(column.name, values)
                whole.add(first)
                break
    return rows, whole


def _value_inside(values: pa.Array, name: str) -> pa.Array | None:
    """Return a field of structs, or an element of lists by its number from 0; None: neither.

    Example:
        >>> games = pa.array([[{"score": "A>B"}, {"score": "A=B"}], [{"score": "B>A"}], None])
        >>> _value_inside(_value_inside(games, "1"), "score").to_pylist()
        ['A=B', None, None]
    """
    kind = values.type
    if pa.types.is_struct(kind) and kind.get_field_index(name) >= 0:
        return pc.struct_field(values, name)
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and name.isdecimal():
        index = int(name)
        return pc.list_element(pc.list_slice(values, index, index + 1, 1, True), 0)
    return None


def is_table(value: Any) -> bool:
    """Return whether a value is one table: a data frame, or a list of dicts.

    Example:
        >>> is_table([{"id": 1}]), is_table({"bots": [{"id": 1}]}), is_table("folder/")
        (True, False, False)
    """
    if hasattr(value, "__arrow_c_stream__") or _is_lazy(value):
        return True
    if not isinstance(value, Sequence):
        return False
    return all(issubclass(kind, Mapping) for kind in set(map(type, value)))


def arrow_table(name: str, rows: Any) -> pa.Table:
    """Return a data frame, or the columns of a list of dicts, as an Arrow table.

    Args:
        name: the table, as messages name it.
        rows: a data frame (a lazy one is computed) or a list of dicts.

    Raises:
        Unreadable: it is neither, is a single column, or names a column twice.

    Example:
        >>> arrow_table("bots", [{"id": "ann"}, {"id": "bob", "name": "Bob"}]).to_pydict()
        {'id': ['ann', 'bob'], 'name': [None, 'Bob']}
    """
    if not is_table(rows):
        raise Unreadable(
            f"{name} is of type {type(rows).__name__}; give a data frame (pandas, polars, "
            "pyarrow, a DuckDB relation: anything with __arrow_c_stream__) or a list of dicts"
        )
    if isinstance(rows, Sequence):
        names = {str(key): key for key in dict.fromkeys(chain.from_iterable(rows))}
        return pa.table(
            {name: _array([row.get(key) for row in rows]) for name, key in names.items()}
        )
    try:
        table = pa.table(rows.collect() if _is_lazy(rows) else rows)
    except (ValueError, TypeError) as error:  # Arrow's own errors are of these types, too
        raise Unreadable(
            f"{name} cannot be read as a table ({error}); give a data frame of several columns, "
            "each with a name of its own"
        ) from None
    twice = sorted({key for key in table.column_names if table.column_names.count(key) > 1})
    if twice:
        raise Unreadable(f"{name} names columns twice: {', '.join(twice)}; name each column once")
    return table


def _is_lazy(value: Any) -> bool:
    """Return whether a value is a polars LazyFrame."""
    return type(value).__module__.startswith("polars") and hasattr(value, "collect")


def _array(values: Sequence[Any]) -> pa.Array:
    """Return values as an Arrow array; those of several types are texts.

    Among texts NaN, and whatever else pandas has for no value, is none, as in a frame of pandas.

    Example:
        >>> _array(["ann", float("nan"), 7]).to_pylist(), _array([1.5, float("nan")]).to_pylist()
        (['ann', None, '7'], [1.5, nan])
    """
    try:
        return pa.array(values)
    except (ValueError, TypeError, OverflowError):  # Arrow's own errors are of these types, too
        texts = [None if _is_missing(value) else str(value) for value in values]
        return pa.array(texts, pa.string())


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or another that pandas has for no value."""
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(pa.array([value], from_pandas=True).null_count)
    except (pa.ArrowException, OverflowError):
        return False
