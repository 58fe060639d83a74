"""Read tables of records, append the rows of an attacker to them, and remove those of accounts."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.records import Records, Schema

Tables = Mapping[str, pa.Table]


def present_tables(records: Records, schema: Schema) -> Mapping[str, pa.Table]:
    """Return the tables of a schema that records have, with the columns as they came."""
    present = [table.name for table in schema if records.has(table.name)]
    return {name: records.arrow(name).drop_columns(["_row"]) for name in present}


def without_dictionaries(tables: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
    """Return tables to which rows with other texts can be appended."""
    plain = dict(tables)
    for name, table in tables.items():
        for index, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                values = table[field.name].cast(field.type.value_type)
                plain[name] = plain[name].set_column(index, field.name, values)
    return plain


def append_rows(table: pa.Table | None, rows: pa.Table) -> pa.Table:
    """Return a table with further rows; columns that either lacks are empty there.

    Example:
        >>> table = pa.table({"id": pa.array([1], pa.int32())})
        >>> append_rows(table, pa.table({"id": [2], "name": ["b"]})).to_pylist()
        [{'id': 1, 'name': None}, {'id': 2, 'name': 'b'}]
    """
    if table is None:
        return rows
    fields = {field.name: field.type for field in table.schema}
    for index, column in enumerate(rows.column_names):
        kind = fields.get(column)
        if kind is not None and not pa.types.is_null(kind) and kind != rows[column].type:
            rows = rows.set_column(index, column, rows[column].cast(kind))
    return pa.concat_tables([table, rows], promote_options="permissive")


def without_accounts(
    schema: Schema, tables: Tables, accounts: Iterable[str], *, actors: Mapping[str, str]
) -> Tables:
    """Return tables without the rows of some accounts, and without rows that refer to such rows.

    Args:
        schema: of the tables.
        tables: the records.
        accounts: the ids to remove.
        actors: of tables whose rows belong to accounts, the column that names the account.

    Example:
        >>> from agon.disciplines.dojo.records import SCHEMA
        >>> tables = {"submissions": pa.table({"id": [1, 2], "user_id": ["ada", "bob"]})}
        >>> remaining = without_accounts(SCHEMA, tables, ["bob"], actors={"submissions": "user_id"})
        >>> remaining["submissions"]["id"].to_pylist()
        [1]
    """
    named = pa.array(list(accounts), pa.string())
    removed: dict[str, pa.Array] = {}
    remaining = dict(tables)
    is_complete = False
    # Rows that refer to removed rows go too, which may remove others: until nothing changes.
    while not is_complete:
        is_complete = True
        for table in schema:
            if table.name not in remaining:
                continue
            rows = remaining[table.name]
            drop = pa.array([False] * rows.num_rows)
            if actors.get(table.name) in rows.column_names:
                drop = pc.or_(drop, _is_in(rows[actors[table.name]], named))
            for column in table.columns:
                referred = (column.references or "").partition(".")[0]
                if referred in removed and column.name in rows.column_names:
                    drop = pc.or_(drop, _is_in(rows[column.name], removed[referred]))
            if pc.any(drop).as_py():
                is_complete = False
                remaining[table.name] = rows.filter(pc.invert(drop))
                if "id" in rows.column_names:
                    ids = rows.filter(drop)["id"].cast(pa.string()).combine_chunks()
                    removed[table.name] = pa.concat_arrays([*_known(removed, table.name), ids])
    return remaining


def _is_in(column: Any, names: pa.Array) -> Any:
    return pc.is_in(pc.cast(column, pa.string()), value_set=names).combine_chunks()


def _known(removed: Mapping[str, pa.Array], name: str) -> list[pa.Array]:
    return [removed[name]] if name in removed else []
