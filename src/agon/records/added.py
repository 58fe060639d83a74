"""Read a folder of partitions of which the first ones are known to be valid.

Only the added rows are checked: their values, their keys among all rows, and their references. All
tables are then readable, and the added rows are records of their own.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from agon.records.raw import Engine, RawTable, SourceTables, quote
from agon.records.schemas import ForeignKey, Kind, Schema, Table
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
    ids = {(table.name, column.name) for table in records.schema for column in table.columns
           if column.kind is Kind.ID}  # fmt: skip
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
    added = None if source.issues else _added_tables(connection, schema, folder, source, known)
    if added is None or not _are_few_and_valid(connection, schema, added, stored):
        return None
    integer_ids = set(stored.integer_ids)
    make_trusted(connection, schema, source.tables, integer_ids, space=TYPED_SCHEMA)
    make_trusted(connection, schema, added, integer_ids, space=_ROWS)
    shown = added | {name: source.tables[name] for name in looked_up if name in source.tables}
    make_trusted(connection, schema, shown, integer_ids, space=_ADDED)
    new = [table for table in schema if table.name in added]
    if not all(_are_keys_new(connection, table, stored) for table in new):
        return None
    if not all(_is_known(connection, key, schema, stored) for table in new
               for key in table.foreign_keys):  # fmt: skip
        return None
    present = frozenset(source.tables)
    records = AddedRecords(engine, schema, str(folder), present)
    records.stored = stored
    records.added = Records(engine, schema, str(folder), present, space=_ADDED)
    return records


def _are_few_and_valid(
    connection: Any, schema: Schema, added: dict[str, RawTable], stored: StoredCounts
) -> bool:
    """Return whether added rows are few, have valid values, and ids of the stored types."""
    import duckdb

    rows = sum(_count(connection, raw.relation) for raw in added.values())
    if rows > stored.rows * _MAX_SHARE:
        return False
    try:
        typing = make_typed(connection, schema, added)
        if not stored.integer_ids <= typing.integer_ids:
            return False  # an added id is text, so all ids of its family are
        source = SourceTables("", added)
        return not issues_of(connection, _without_references(schema), source, typing)
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:
        return False  # a damaged file, which is found and named when all records are read


def _added_tables(
    connection: Any, schema: Schema, folder: Path, source: SourceTables, known: Mapping[str, int]
) -> dict[str, RawTable] | None:
    """Return the added files of each table; None: one cannot be read."""
    added: dict[str, RawTable] = {}
    for name, raw in source.tables.items():
        after = known.get(name, 0)
        if raw.parts and after < len(raw.parts):
            table, path = schema.table(name), folder / raw.location
            part, issues = parquet_folder.read(connection, table, path, after=after)
            if part is None or issues:
                return None
            added[name] = part
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


def _are_keys_new(connection: Any, table: Table, stored: StoredCounts) -> bool:
    """Return whether the keys of a table's added rows, which differ, are those of no other row."""
    if not table.key:
        return True
    rows = f"{_ROWS}.{quote(table.name)}"
    if len(table.key) == 1 and table.name in stored.key_ranges:
        sql = f"SELECT min({quote(table.key[0])}) FROM {rows}"
        low = connection.execute(sql).fetchall()[0][0]
        if low is None or low > stored.key_ranges[table.name][1]:
            return True
    complete = " AND ".join(f"{quote(name)} IS NOT NULL" for name in table.key)
    keys = ", ".join(map(quote, table.key))
    sql = f"SELECT count(*) FROM {relation(table.name)} SEMI JOIN {rows} USING ({keys})"
    return _number(connection, sql) == _count(connection, f"{rows} WHERE {complete}")


def _is_known(connection: Any, key: ForeignKey, schema: Schema, stored: StoredCounts) -> bool:
    """Return whether the references of a table's added rows exist."""
    rows, column = f"{_ROWS}.{quote(key.table)}", quote(key.column)
    other = quote(key.other_column)
    low, high, count = stored.key_ranges.get(key.other_table, (0, 0, 0))
    if (key.other_column,) == schema.table(key.other_table).key and count == high - low + 1:
        # Keys differ, so every number of the range is one: only other references are sought.
        sql = (
            f"SELECT count(*) FROM (SELECT {column} AS id FROM {rows} WHERE {column} < {low} "
            f"OR {column} > {high}) a ANTI JOIN {_ROWS}.{quote(key.other_table)} o "
            f"ON o.{other} = a.id"
        )
        return _number(connection, sql) == 0
    sql = (
        f"SELECT count(*) FROM {relation(key.other_table)} o SEMI JOIN {rows} a "
        f"ON o.{other} = a.{column}"
    )
    distinct = f"SELECT count(DISTINCT {column}) FROM {rows}"
    return _number(connection, sql) == _number(connection, distinct)


def _count(connection: Any, rows: str) -> int:
    return _number(connection, f"SELECT count(*) FROM {rows}")


def _number(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchall()[0][0])
