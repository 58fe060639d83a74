"""Read a folder of partitions of which the first ones are known to be valid.

Only the added rows are checked: their values, their keys among all rows, and their references. All
tables are then readable, and the added rows are records of their own.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from agon.records.raw import Engine, RawTable, SourceTables, quote
from agon.records.schemas import ForeignKey, Schema, Table
from agon.records.sources import folder as folder_source
from agon.records.sources import parquet_folder
from agon.records.stored_counts import StoredCounts
from agon.records.tables import Records
from agon.records.typed import TYPED_SCHEMA, make_trusted, make_typed, relation
from agon.records.validation import issues_of

_ADDED: Final = "added"
_ROWS: Final = "added_rows"


class AddedRecords(Records):
    """The typed tables of a folder, of which the first partitions are counted.

    Attributes:
        stored: what was counted from them.
        added: the rows of the other partitions; of tables that are looked up, all rows.
    """

    stored: StoredCounts
    added: Records


def read_added(
    schema: Schema, source: str | Path, stored: StoredCounts, *, known: Mapping[str, int],
    looked_up: tuple[str, ...],
) -> AddedRecords | None:  # fmt: skip
    """Return a folder's records, without checking again what was checked.

    Args:
        schema: the discipline's tables.
        source: the folder.
        stored: what was counted from the first files of each table.
        known: how many files that are.
        looked_up: the tables of which the added records have all rows.

    Returns:
        None where the added rows are not valid, are many, or change how ids are read: all records
        are to be read.
    """
    engine = Engine()
    try:
        records = _read(engine, schema, Path(source), stored, known, looked_up)
    except BaseException:
        engine.close()
        raise
    if records is None:
        engine.close()
    return records


def integer_ids_of(records: Records) -> frozenset[tuple[str, str]]:
    """Return the ``(table, column)`` of all ids that are integers in valid records."""
    ids = ((table.name, column) for table in records.schema for column in table.id_columns)
    return frozenset(name for name in ids if records.is_integer(*name))


def key_ranges_of(records: Records) -> dict[str, tuple[int, int, int]]:
    """Return smallest, largest and number of keys of tables whose key is an integer.

    A file's metadata state them.
    """
    ranges = {}
    for table in records.schema:
        if len(table.key) == 1 and records.is_integer(table.name, table.key[0]):
            key = quote(table.key[0])
            sql = f"SELECT min({key}) AS low, max({key}) AS high, count({key}) AS n "
            ends = records.sql(f"{sql}FROM {quote(table.name)}").to_pylist()[0]
            if ends["n"]:
                ranges[table.name] = (ends["low"], ends["high"], ends["n"])
    return ranges


_MAX_SHARE: Final = 0.1
"""Maximum share of added rows; counting all rows again then costs little more, and is stored."""

Range = tuple[int, int, int]
"""Smallest, largest and number of integers."""


def _read(
    engine: Engine,
    schema: Schema,
    folder: Path,
    stored: StoredCounts,
    known: Mapping[str, int],
    looked_up: tuple[str, ...],
) -> AddedRecords | None:
    connection = engine.connection
    source = folder_source.tables(connection, schema, folder)
    if source.issues:
        return None
    added = _added_tables(folder, source, known)
    ranges = _ranges_of_valid(connection, schema, added, stored)
    if ranges is None:
        return None
    integer_ids = set(stored.integer_ids)
    make_trusted(connection, schema, source.tables, integer_ids, space=TYPED_SCHEMA)
    shown = added | {name: source.tables[name] for name in looked_up if name in source.tables}
    make_trusted(connection, schema, shown, integer_ids, space=_ADDED)
    keys, references = _in_doubt(schema, added, stored, ranges)
    if keys or references:
        make_trusted(connection, schema, added, integer_ids, space=_ROWS)
    if not all(_are_keys_new(connection, table) for table in keys):
        return None
    if not all(_is_known(connection, key) for key in references):
        return None
    present = frozenset(source.tables)
    records = AddedRecords(engine, schema, str(folder), present)
    records.stored = stored
    records.added = Records(engine, schema, str(folder), present, space=_ADDED)
    return records


def _ranges_of_valid(
    connection: Any, schema: Schema, added: dict[str, RawTable], stored: StoredCounts
) -> dict[tuple[str, str], Range] | None:
    """Return the ranges of added keys and references; None: rows are many or not valid."""
    import duckdb

    try:
        typing = make_typed(connection, schema, added)
        if not stored.integer_ids <= typing.integer_ids:
            return None  # an added id is text, so all ids of its family are
        ranges: dict[tuple[str, str], Range] = {}
        rows = 0
        for name, raw in added.items():
            of_table, count = _ranges_of(connection, schema.table(name), raw, stored)
            ranges |= of_table
            rows += count
        if rows > stored.rows * _MAX_SHARE:
            return None
        source = SourceTables("", added)
        issues = issues_of(connection, _without_references(schema), source, typing)
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:
        return None  # a damaged file, which is found and named when all records are read
    return None if issues else ranges


def _ranges_of(
    connection: Any, table: Table, raw: RawTable, stored: StoredCounts
) -> tuple[dict[tuple[str, str], Range], int]:
    """Return the ranges of a table's integer keys and references, and its number of rows."""
    names = [*table.key, *(key.column for key in table.foreign_keys)]
    names = [name for name in dict.fromkeys(names)
             if name in raw.types and (table.name, name) in stored.integer_ids]  # fmt: skip
    items = [f"min({column}), max({column}), count({column})" for column in map(quote, names)]
    sql = f"SELECT {', '.join(['count(*)', *items])} FROM {relation(table.name)}"
    rows, *numbers = connection.execute(sql).fetchall()[0]
    ends = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    return {(table.name, name): end for name, end in zip(names, ends, strict=True)}, int(rows)


def _in_doubt(
    schema: Schema,
    added: dict[str, RawTable],
    stored: StoredCounts,
    ranges: Mapping[tuple[str, str], Range],
) -> tuple[list[Table], list[ForeignKey]]:
    """Return the tables with keys, and the references, that ranges do not prove to be valid."""
    new = [table for table in schema if table.name in added]
    keys = [table for table in new if table.key and not _is_higher(table, stored, ranges)]
    references = [
        key
        for table in new
        for key in table.foreign_keys
        if key.column in added[table.name].types
        and not _is_within(key, schema.table(key.other_table), stored, ranges)
    ]
    return keys, references


def _is_higher(table: Table, stored: StoredCounts, ranges: Mapping[tuple[str, str], Range]) -> bool:
    """Return whether all keys of a table's added rows are larger than the earlier ones."""
    before = stored.key_ranges.get(table.name)
    low, _, count = ranges.get((table.name, table.key[0]), (0, 0, None))
    if before is None or count is None or len(table.key) > 1:
        return False
    return count == 0 or low > before[1]


def _is_within(
    key: ForeignKey, other: Table, stored: StoredCounts, ranges: Mapping[tuple[str, str], Range]
) -> bool:
    """Return whether references are in a range of which every number is a key.

    Keys differ, so that is one with as many keys as numbers.
    """
    low, high, count = ranges.get((key.table, key.column), (0, 0, None))
    before = stored.key_ranges.get(other.name)
    if count is None or before is None or (key.other_column,) != other.key:
        return False
    first, last, keys = before
    later_first, later_last, later = ranges.get((other.name, key.other_column), (0, 0, 0))
    if later and later_first == last + 1:
        last, keys = later_last, keys + later
    return count == 0 or (keys == last - first + 1 and first <= low and high <= last)


def _added_tables(
    folder: Path, source: SourceTables, known: Mapping[str, int]
) -> dict[str, RawTable]:
    """Return the added files of each table."""
    added: dict[str, RawTable] = {}
    for name, raw in source.tables.items():
        after = known.get(name, 0)
        if after < len(raw.parts):
            added[name] = parquet_folder.later(raw, folder / raw.location, after=after)
        elif not raw.parts and not after:
            added[name] = raw
    return added


def _without_references(schema: Schema) -> Schema:
    """Return a schema for the rows of some files: tables may be missing, references not there."""
    tables = tuple(
        replace(
            table,
            required=False,
            columns=tuple(replace(column, references=None) for column in table.columns),
        )
        for table in schema
    )
    return Schema(schema.discipline, tables)


def _are_keys_new(connection: Any, table: Table) -> bool:
    """Return whether the keys of a table's added rows, which differ, are those of no other row."""
    rows = f"{_ROWS}.{quote(table.name)}"
    complete = " AND ".join(f"{quote(name)} IS NOT NULL" for name in table.key)
    keys = ", ".join(map(quote, table.key))
    sql = f"SELECT count(*) FROM {relation(table.name)} SEMI JOIN {rows} USING ({keys})"
    return _number(connection, sql) == _number(
        connection, f"SELECT count(*) FROM {rows} WHERE {complete}"
    )


def _is_known(connection: Any, key: ForeignKey) -> bool:
    """Return whether the references of a table's added rows exist."""
    rows, column = f"{_ROWS}.{quote(key.table)}", quote(key.column)
    sql = (
        f"SELECT count(*) FROM {relation(key.other_table)} o SEMI JOIN {rows} a "
        f"ON o.{quote(key.other_column)} = a.{column}"
    )
    distinct = f"SELECT count(DISTINCT {column}) FROM {rows}"
    return _number(connection, sql) == _number(connection, distinct)


def _number(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchall()[0][0])
