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
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.kernel.fingerprints import sha256
from agon.records.checks.keys import repeats_at_most
from agon.records.counting import Counts, Numbers, failing
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


@dataclass(frozen=True)
class _Content:
    """What decides how a table is hashed.

    Attributes:
        table: the table.
        relation: the SQL after ``FROM`` that reads it.
        counted: asks for the number of rows, and of values of each column.
        repeats: asks for how many rows may be alike where the order of a file has meaning.
    """

    table: Table
    relation: str
    counted: Numbers
    repeats: Numbers

    @property
    def rows(self) -> int:
        return self.counted()[0]

    @property
    def values(self) -> dict[str, int]:
        """Return the number of values by column, of those that have some."""
        counts = zip(self.table.columns, self.counted()[1:], strict=True)
        return {column.name: count for column, count in counts if count}

    @property
    def columns(self) -> list[Column]:
        """Return the columns that have values."""
        values = self.values
        return [column for column in self.table.columns if column.name in values]


def records_sha256(
    connection: Any, schema: Schema, present: dict[str, str], *, together: bool = False
) -> str:
    """Return the content hash (hex) of all tables with rows.

    Args:
        connection: the engine.
        schema: the tables and columns that count; extra columns do not.
        present: the relation of each table that exists.
        together: whether one statement asks of all tables how they are hashed, as of few rows.
    """
    counts = Counts(connection, together=together)
    contents = [
        _content(counts, table, present[table.name]) for table in schema if table.name in present
    ]
    contents = [content for content in contents if content.rows]
    text_ids = _text_ids(connection, contents, together=together)
    tables = {
        content.table.name: {
            "rows": content.rows,
            "columns": _column_hashes(connection, content, text_ids),
        }
        for content in contents
    }
    return sha256({"discipline": schema.discipline, "tables": tables})


def _content(counts: Counts, table: Table, relation: str) -> _Content:
    values = [f"count({quote(column.name)})" for column in table.columns]
    repeats = [repeats_at_most(table.order_within)] if table.order_within else []
    return _Content(table, relation, counts.ask(["count(*)", *values], relation),
                    counts.ask(repeats, relation))  # fmt: skip


def _text_ids(
    connection: Any, contents: Iterable[_Content], *, together: bool
) -> set[tuple[str, str]]:
    """Return the ``(table, column)`` of the ids that are stored as text and not all numbers."""
    conditions = []
    for content in contents:
        stored = connection.sql(f"FROM {content.relation}")
        types = dict(zip(stored.columns, map(str, stored.types), strict=True))
        for column in (one for one in content.columns if one.kind is Kind.ID):
            condition = integer_id(column, types[column.name], has_empty_texts=False)
            if condition is not None:
                conditions.append(((content.table.name, column.name), content.relation, condition))
    return failing(connection, conditions, together=together)


def _column_hashes(
    connection: Any, content: _Content, text_ids: set[tuple[str, str]]
) -> dict[str, list[str]]:
    table, columns, values = content.table, content.columns, content.values
    selected = [
        f"{_plain(column, is_text=(table.name, column.name) in text_ids)} AS {quote(column.name)}"
        for column in columns
    ]
    if _has_repeats(connection, content):
        likes = ", ".join(map(quote, table.order_within))
        selected.append(f"row_number() OVER (PARTITION BY {likes} ORDER BY _row) AS {_PLACE}")
    keyed = bool(table.key) and all(values.get(name) == content.rows for name in table.key)
    # Ordinals sort the selected values (ids as numbers), not the stored ones.
    first = [index for index, c in enumerate(columns, start=1) if c.name in table.key]
    rest = [index for index in range(1, len(selected) + 1) if index not in first]
    order = ", ".join(f"{index} NULLS FIRST" for index in (first if keyed else first + rest))
    sql = f"SELECT {', '.join(selected) or 'NULL'} FROM {content.relation}"
    hashes: dict[str, _ColumnHash] = {}
    reader = connection.sql(f"{sql} ORDER BY {order}" if order else sql).to_arrow_reader(_BATCH)
    for batch in reader if columns else ():
        for name, cells in zip(batch.schema.names, batch.columns, strict=True):
            hashes.setdefault(name, _ColumnHash()).add(_canonical(cells))
    return {name: column_hash.hexdigests() for name, column_hash in hashes.items()}


def _plain(column: Column, *, is_text: bool) -> str:
    name = quote(column.name)
    if column.kind is Kind.NUMBER:
        # 0.0 and -0.0 are equal numbers.
        return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
    return f"{name}::BIGINT" if column.kind is Kind.ID and not is_text else name


def _has_repeats(connection: Any, content: _Content) -> bool:
    if content.repeats() in {(), (0,)}:
        return False
    likes = ", ".join(map(quote, content.table.order_within))
    sql = f"SELECT 1 FROM {content.relation} GROUP BY {likes} HAVING count(*) > 1 LIMIT 1"
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
