"""Read the tables of an SQLite file through Python's own driver, read-only."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.errors import Unreadable
from agon.records.names.matching import match_names
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.schemas import Schema, Table
from agon.records.sources.issues import IssueTally, shown_bytes
from agon.records.sources.memory import register
from agon.records.sources.names import pick

_BATCH = 50_000
_EXACT = 2**53


def tables(connection: Any, schema: Schema, path: Path) -> SourceTables:
    """Copy the schema's tables from the file.

    In SQLite each value has its own type; a column is read as numbers when all its values are, and
    otherwise as text, like a CSV file's.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            return _copy_tables(connection, schema, path, database)
    except sqlite3.Error as error:
        raise Unreadable(f"{path} cannot be read as an SQLite file ({error})") from None


def _copy_tables(
    connection: Any, schema: Schema, path: Path, database: sqlite3.Connection
) -> SourceTables:
    picked, others = stored_names(schema, database)
    source = SourceTables(str(path), others=others)
    for name, full in picked.items():
        raw = _table(connection, schema.table(name), path, database, full, source)
        source.tables[name] = raw
    return source


def stored_names(
    schema: Schema, database: sqlite3.Connection
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the name in the database of each of the schema's tables, and all other names."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    names = [_text_of(name) for (name,) in rows]
    present = {("main", name) for name in names}
    # SQLite has no schemas; the table's name itself may be `auth.users`.
    present |= {(space, name) for full in names for space, _, name in [full.rpartition(".")]}
    picked = pick(schema, present, default_space="main")
    full_names = {
        name: stored if space in {"main", ""} else f"{space}.{stored}"
        for name, (space, stored) in picked.items()
    }
    return full_names, tuple(set(names) - {name for _, name in picked.values()})


def _text_of(name: str | bytes) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else name


def _table(
    connection: Any,
    table: Table,
    path: Path,
    database: sqlite3.Connection,
    name: str,
    source: SourceTables,
) -> RawTable:
    info = database.execute(f"PRAGMA table_info({quote(name)})").fetchall()
    names = [column.decode(errors="replace") for _, column, *_ in info]
    tally = IssueTally(table.name, f"{path.name}, table {name}")
    matched = match_names([column.name for column in table.columns], names)
    columns = list(matched.names)
    chunks: dict[str, list[pa.Array]] = {column: [] for column in columns}
    rows = 0
    # An empty text means "no column": SQLite reads an unknown name in quotes as text.
    cursor = _in_order(
        database, ", ".join(map(quote, matched.names.values())) or "NULL", quote(name)
    )
    for batch in iter(lambda: cursor.fetchmany(_BATCH), []):
        for column, values in zip(columns, zip(*batch, strict=True), strict=False):
            chunks[column].append(_array(tally, column, rows, values))
        rows += len(batch)
    arrays = [_concatenate(chunks[column]) for column in columns] or [pa.nulls(rows)]
    arrow = pa.Table.from_arrays(arrays, names=columns or ["no known column"])
    source.issues.extend(tally.issues())
    raw = register(connection, table, tally.location, arrow)
    return replace(raw, others=matched.unused, spelled=matched.respelled)


def _in_order(database: sqlite3.Connection, columns: str, name: str) -> sqlite3.Cursor:
    """Read rows in the order they were stored; a covering index may have another order."""
    sql = f"SELECT {columns} FROM {name}"
    try:
        return database.execute(f"{sql} ORDER BY rowid")
    except sqlite3.OperationalError:  # a view, or a table WITHOUT ROWID
        return database.execute(sql)


def _array(tally: IssueTally, column: str, before: int, values: Sequence[Any]) -> pa.Array:
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds == {float} or (kinds == {int, float} and _exact(values)):
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    texts = [_text(tally, column, row, value) for row, value in enumerate(values, start=before + 1)]
    return pa.array(texts, pa.string())


def _exact(values: Sequence[Any]) -> bool:
    """Return whether all integers are exact as floats."""
    return all(abs(value) < _EXACT for value in values if isinstance(value, int))


def _text(tally: IssueTally, column: str, row: int, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        tally.add("wrong-encoding", row, column, shown_bytes(value), "is not UTF-8")
        return value.decode(errors="replace")


def _concatenate(chunks: list[pa.Array]) -> pa.ChunkedArray:
    kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
    if not kinds:
        return pa.chunked_array(chunks, pa.null())
    kind = kinds.pop() if len(kinds) == 1 else pa.string()
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)
