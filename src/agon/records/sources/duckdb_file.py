"""Read the tables of a DuckDB file in place, read-only."""

from pathlib import Path
from typing import Any

from agon.errors import Unavailable, Unreadable
from agon.records.names.columns import spelled_as
from agon.records.names.matching import match_names
from agon.records.raw import NUMBERED, RawTable, SourceTables, literal, quote
from agon.records.schemas import Schema
from agon.records.sources.names import pick


def tables(connection: Any, schema: Schema, path: Path) -> SourceTables:
    """Attach the file and find the schema's tables in it."""
    import duckdb

    try:
        connection.execute(f"ATTACH {literal(str(path))} AS source (READ_ONLY)")
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        if "lock" in reason or "already attached" in reason:
            raise Unavailable(
                f"{path} is open for writing elsewhere; close it there, or give a copy"
            ) from None
        raise Unreadable(f"{path} cannot be read as a DuckDB file ({reason})") from None
    rows = connection.execute(
        "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = 'source' AND NOT internal ORDER BY column_index"
    ).fetchall()
    columns: dict[tuple[str, str], dict[str, str]] = {}
    for space, table, column, kind in rows:
        columns.setdefault((space, table), {})[column] = kind
    raw_tables = {}
    picked = pick(schema, columns, default_space="main")
    for table, (space, name) in picked.items():
        kinds = columns[space, name]
        matched = match_names([column.name for column in schema.table(table).columns], kinds)
        types = {own: kinds[stored] for own, stored in matched.names.items()}
        relation = f"source.{quote(space)}.{quote(name)}"
        location = f"{path.name}, table {name}"
        row = _row(connection, relation)
        raw = RawTable(
            table, location, relation, types, row=row, in_place=True, others=matched.unused
        )
        raw_tables[table] = spelled_as(raw, matched.respelled)
    remaining = tuple(name for space, name in columns if (space, name) not in picked.values())
    return SourceTables(str(path), raw_tables, others=remaining)


def _row(connection: Any, relation: str) -> str:
    """Number rows by where they are stored, if none was deleted and it is a table."""
    import duckdb

    try:
        sql = f"SELECT count(*), coalesce(max(rowid) + 1, 0) FROM {relation}"
        count, end = connection.execute(sql).fetchall()[0]
    except duckdb.BinderException:
        return NUMBERED
    return "rowid + 1" if count == end else NUMBERED
