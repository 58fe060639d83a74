"""Append the rows of an attacker to tables of records."""

import pyarrow as pa


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
