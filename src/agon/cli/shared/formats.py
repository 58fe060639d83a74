"""Machine-readable output: JSON, NDJSON, CSV and Parquet."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from agon.app.spreadsheets import escape_formula

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_A_TIME = 10_000


def json_text(value: Any) -> str:
    """Return a plain value as one line of JSON; times as ISO 8601, never NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def json_chunks(value: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield a JSON object with one line for each key and for each element of a list.

    It is readable, ``grep`` finds a row, and a long list is never in memory twice.
    """
    yield b"{"
    for index, (key, item) in enumerate(value.items()):
        yield f"{',' if index else ''}\n  {json_text(str(key))}: ".encode()
        if isinstance(item, list) and item:
            for nth, element in enumerate(item):
                yield f"{',' if nth else '['}\n    {json_text(element)}".encode()
            yield b"\n  ]"
        else:
            yield json_text(item).encode()
    yield b"\n}\n"


def ndjson_chunks(table: "pa.Table") -> Iterator[bytes]:
    """Yield one JSON object per row; nested columns stay nested."""
    for batch in table.to_batches(_ROWS_AT_A_TIME):
        yield "".join(json_text(row) + "\n" for row in batch.to_pylist()).encode()


def csv_chunks(table: "pa.Table") -> Iterator[bytes]:
    """Yield a header and one line per row; a nested column becomes ``components.h_index``, ….

    Text that a spreadsheet would run as a formula (it starts with ``=``, ``+``, ``-``, ``@``, tab
    or carriage return and is not a plain number) gets an apostrophe in front.
    """
    while any(_is_struct(column.type) for column in table.columns):
        table = table.flatten()
    yield _csv([[escape_formula(name) for name in table.column_names]])
    for batch in table.to_batches(_ROWS_AT_A_TIME):
        columns = [[_cell(value) for value in column.to_pylist()] for column in batch.columns]
        yield _csv(zip(*columns, strict=True))


def parquet_bytes(table: "pa.Table") -> bytes:
    """Return a Parquet file; nested columns stay nested."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _plain(value: Any) -> Any:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _csv(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict, date)):
        return escape_formula(json_text(value).strip('"'))
    return value


def _is_struct(kind: Any) -> bool:
    import pyarrow.types

    return bool(pyarrow.types.is_struct(kind))
