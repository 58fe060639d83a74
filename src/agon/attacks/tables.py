"""Read tables of records, and append the rows of an attacker to them."""

from collections.abc import Mapping

import pyarrow as pa

from agon.records import Records, Schema


def present_tables(records: Records, schema: Schema) -> Mapping[str, pa.Table]:
    """Return the tables of a schema that records have, with the columns as they came."""
    present = [table.name for table in schema if records.has(table.name)]
    return {name: records.arrow(name).drop_columns(["_row"]) for name in present}


def without_dictionaries(tables: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
    """Return tables to which rows with other texts can be appended."""
    plain = dict(tables)
    for name, table in tables.items():
        for at, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                values = table[field.name].cast(field.type.value_type)
                plain[name] = plain[name].set_column(at, field.name, values)
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
    for at, column in enumerate(rows.column_names):
        kind = fields.get(column)
        if kind is not None and not pa.types.is_null(kind) and kind != rows[column].type:
            rows = rows.set_column(at, column, rows[column].cast(kind))
    return pa.concat_tables([table, rows], promote_options="permissive")
