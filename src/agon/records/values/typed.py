"""Turn raw tables into typed ones: every column of the schema, of its kind, plus ``_row``.

Ids of one family (those that refer to each other) are integers when all of them, in every table,
are written as integers, and text otherwise. That depends on what the records say, not
on how a file stores it.
"""

from dataclasses import dataclass
from typing import Any

from agon.records.counting import failing
from agon.records.raw import RawTable, literal, quote
from agon.records.schemas import Schema, Table
from agon.records.values.casting import ColumnCast, cast, integer_id, sql_type

TYPED_SCHEMA = "typed"


@dataclass(frozen=True)
class Typing:
    """How the raw tables are read as typed ones.

    Attributes:
        integer_ids: the ``(table, column)`` of all ids that are integers.
        casts: how each column that a raw table has is read, by table.
        stored: whether the values of all tables are stored.
    """

    integer_ids: set[tuple[str, str]]
    casts: dict[str, dict[str, ColumnCast]]
    stored: bool = False


def make_typed(
    connection: Any, schema: Schema, raw: dict[str, RawTable], *, stored: bool = False
) -> Typing:
    """Create every typed table in :data:`TYPED_SCHEMA`; values that cannot be read are NULL.

    Args:
        connection: the engine.
        schema: what the tables should be.
        raw: the tables as read.
        stored: whether to store the values of all tables. Of few rows that costs less than
            planning the casts of a view in every later query.
    """
    connection.execute(
        f"DROP SCHEMA IF EXISTS {TYPED_SCHEMA} CASCADE; CREATE SCHEMA {TYPED_SCHEMA}"
    )
    integer_ids = _integer_ids(connection, schema, raw, together=stored)
    typing = Typing(
        integer_ids,
        {table.name: casts(table, raw[table.name], integer_ids)
         for table in schema if table.name in raw},
        stored,
    )  # fmt: skip
    tables = (_create(table, raw.get(table.name), typing, checked=False) for table in schema)
    connection.execute("; ".join(tables))
    return typing


def trust(connection: Any, schema: Schema, raw: dict[str, RawTable], typing: Typing) -> None:
    """Redefine views of valid tables without guards; drop raw copies that were read."""
    changes = []
    for name, reads in typing.casts.items():
        if raw[name].stored:
            changes.append(f"DROP TABLE {raw[name].relation}")
        elif not is_stored(typing, raw[name]) and any(read.is_guarded for read in reads.values()):
            changes.append(_create(schema.table(name), raw[name], typing, checked=True))
    if changes:
        connection.execute("; ".join(changes))


def casts(table: Table, raw: RawTable, integer_ids: set[tuple[str, str]]) -> dict[str, ColumnCast]:
    """Return how to read each of the schema's columns that a raw table has."""
    return {
        column.name: cast(
            column,
            raw.types[column.name],
            integer_ids=(table.name, column.name) in integer_ids,
            has_empty_texts=raw.has_empty_texts,
        )
        for column in table.columns
        if column.name in raw.types
    }


def _integer_ids(
    connection: Any, schema: Schema, raw: dict[str, RawTable], *, together: bool
) -> set[tuple[str, str]]:
    families = schema.families()
    conditions = []
    for (name, column), family in families.items():
        table = raw.get(name)
        if table is None or column not in table.types:
            continue
        condition = integer_id(
            schema.table(name).column(column),
            table.types[column],
            has_empty_texts=table.has_empty_texts,
        )
        if condition is not None:
            conditions.append((family, table.relation, condition))
    text = failing(connection, conditions, together=together)
    return {node for node, family in families.items() if family not in text}


def is_stored(typing: Typing, raw: RawTable) -> bool:
    """Return whether the typed values are stored: of all tables, or as reading them took work."""
    casts_of_table = typing.casts[raw.name].values()
    return typing.stored or raw.stored or any(read.parsed for read in casts_of_table)


def relation(table: str) -> str:
    """Return the SQL after ``FROM`` that reads a typed table."""
    return f"{TYPED_SCHEMA}.{quote(table)}"


def _create(
    table: Table,
    raw: RawTable | None,
    typing: Typing,
    *,
    checked: bool,
) -> str:
    target, reads = f"{TYPED_SCHEMA}.{quote(table.name)}", typing.casts.get(table.name, {})
    types = {
        column.name: sql_type(column, integer_ids=(table.name, column.name) in typing.integer_ids)
        for column in table.columns
    }
    if raw is None:
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
        return f"CREATE TABLE {target} (_row BIGINT, {columns})"
    items = [f"{raw.row}::BIGINT AS _row"]
    for name, kind in types.items():
        value = f"NULL::{kind}"
        if name in reads:
            value = reads[name].value if checked else reads[name].safe
        items.append(f"{value} AS {quote(name)}")
    stored = "TABLE" if is_stored(typing, raw) else "VIEW"
    return f"CREATE OR REPLACE {stored} {target} AS SELECT {', '.join(items)} FROM {raw.relation}"


def view_as_of(table: Table, old: str, new: str, timestamp: str) -> str:
    """Return SQL of a view in schema ``new`` of a table in schema ``old`` as of ``timestamp``.

    Rows of later times are excluded; end times later than it are NULL.
    """
    stamp = f"{literal(timestamp)}::TIMESTAMP"
    ends = ""
    if table.ends:
        end = quote(table.ends)
        ends = f" REPLACE (CASE WHEN {end} <= {stamp} THEN {end} END AS {end})"
    condition = ""
    if table.time:
        time = quote(table.time)
        condition = f" WHERE {time} IS NULL OR {time} <= {stamp}"
    name = quote(table.name)
    return f"CREATE OR REPLACE VIEW {new}.{name} AS SELECT *{ends} FROM {old}.{name}{condition}"
