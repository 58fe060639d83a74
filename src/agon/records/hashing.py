"""Hash the content of records, independently of file format and row order.

The rows of a table are put in one order (by the key where every row has one, else by all columns)
and streamed column by column into SHA-256: which rows have a value, then the values
(integers, times and floats as 64 bits, little-endian; text as its lengths and its UTF-8). Columns
without any value and tables without any row are left out, and ids are numbers when all ids of their
column are: so a file format that does not distinguish these gives the same hash as one that does.
Text is taken as it is; no Unicode normal form is applied.

Where the order of a file has meaning (``Table.order_within``), a row's index within its group is
hashed as one more column.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.kernel.fingerprints import sha256
from agon.records.checks.keys import repeats_at_most
from agon.records.counting import failing
from agon.records.raw import quote
from agon.records.schemas import Column, Kind, Schema, Table
from agon.records.values.casting import integer_id

_BATCH = 100_000
_PLACE = "_place"


@dataclass
class _ColumnHash:
    """The hash of a column, fed batch by batch; it does not depend on where batches end."""

    presence: Any = field(default_factory=hashlib.sha256)
    values: Any = field(default_factory=hashlib.sha256)
    lengths: Any = field(default_factory=hashlib.sha256)

    def add(self, batch: pa.Array) -> None:
        self.presence.update(_bytes(pc.cast(pc.is_valid(batch), pa.uint8())))
        if pa.types.is_large_string(batch.type):
            batch = pc.fill_null(batch, "")
            self.lengths.update(_bytes(pc.cast(pc.binary_length(batch), pa.int64())))
            _, offsets, text = batch.buffers()
            if text is not None:
                ends = memoryview(offsets).cast("q")
                first, last = ends[batch.offset], ends[batch.offset + len(batch)]
                self.values.update(memoryview(text)[first:last])
        else:
            self.values.update(_bytes(pc.fill_null(batch, 0)))

    def hexdigests(self) -> list[str]:
        return [digest.hexdigest() for digest in (self.presence, self.lengths, self.values)]


def records_sha256(connection: Any, schema: Schema, present: dict[str, str]) -> str:
    """Return the content hash (hex) of all tables with rows.

    Args:
        connection: the engine.
        schema: the tables and columns that count; extra columns do not.
        present: the relation of each table that exists.
    """
    tables = {}
    for table in schema:
        if table.name in present:
            hashed = _table(connection, table, present[table.name])
            if hashed["rows"]:
                tables[table.name] = hashed
    return sha256({"discipline": schema.discipline, "tables": tables})


def _table(connection: Any, table: Table, relation: str) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    counted = ", ".join(f"count({quote(name)})" for name in names)
    rows, *counts = connection.execute(f"SELECT count(*), {counted} FROM {relation}").fetchall()[0]
    value_counts = dict(zip(names, counts, strict=True))
    columns = [column for column in table.columns if value_counts[column.name]]
    selected = [f"{_plain(connection, c, relation)} AS {quote(c.name)}" for c in columns]
    if _has_repeats(connection, table, relation):
        likes = ", ".join(map(quote, table.order_within))
        selected.append(f"row_number() OVER (PARTITION BY {likes} ORDER BY _row) AS {_PLACE}")
    keyed = bool(table.key) and all(value_counts[name] == rows for name in table.key)
    # Ordinals sort the selected values (ids as numbers), not the stored ones.
    first = [index for index, c in enumerate(columns, start=1) if c.name in table.key]
    rest = [index for index in range(1, len(selected) + 1) if index not in first]
    order = ", ".join(f"{index} NULLS FIRST" for index in (first if keyed else first + rest))
    sql = f"SELECT {', '.join(selected) or 'NULL'} FROM {relation}"
    hashes: dict[str, _ColumnHash] = {}
    reader = connection.sql(f"{sql} ORDER BY {order}" if order else sql).to_arrow_reader(_BATCH)
    for batch in reader if columns else ():
        for name, values in zip(batch.schema.names, batch.columns, strict=True):
            hashes.setdefault(name, _ColumnHash()).add(_canonical(values))
    return {
        "rows": rows,
        "columns": {name: column_hash.hexdigests() for name, column_hash in hashes.items()},
    }


def _plain(connection: Any, column: Column, relation: str) -> str:
    name = quote(column.name)
    if column.kind is Kind.NUMBER:
        # 0.0 and -0.0 are equal numbers.
        return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
    if column.kind is Kind.ID:
        sql = f"SELECT typeof({name}) FROM {relation} LIMIT 1"
        condition = integer_id(column, connection.execute(sql).fetchall()[0][0])
        if condition is not None and not failing(connection, [(name, relation, condition)]):
            return f"{name}::BIGINT"
    return name


def _has_repeats(connection: Any, table: Table, relation: str) -> bool:
    if not table.order_within:
        return False
    sql = f"SELECT {repeats_at_most(table.order_within)} FROM {relation}"
    if connection.execute(sql).fetchall() == [(0,)]:
        return False
    likes = ", ".join(map(quote, table.order_within))
    sql = f"SELECT 1 FROM {relation} GROUP BY {likes} HAVING count(*) > 1 LIMIT 1"
    return connection.execute(sql).fetchall() != []


def _canonical(values: pa.Array) -> pa.Array:
    if pa.types.is_boolean(values.type):
        return pc.cast(values, pa.uint8())
    if pa.types.is_timestamp(values.type):
        return pc.cast(values, pa.int64())
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return values
    return pc.cast(values, pa.large_string())


def _bytes(values: pa.Array) -> memoryview:
    width = values.type.bit_width // 8
    buffer = memoryview(values.buffers()[1] or b"")
    return buffer[values.offset * width : (values.offset + len(values)) * width]
