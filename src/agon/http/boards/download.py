r"""Stream complete boards as CSV, NDJSON and Parquet.

CSV is safe for spreadsheets: text that would be run as a formula gets an apostrophe.
"""

import csv
import io
import tempfile
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import IO, Any, Final

import orjson

from agon.app.contests.boards.pages import PublishedBoard, rows_of
from agon.app.spreadsheets import escape_formula
from agon.store.session import Store

CSV: Final = "text/csv; charset=utf-8"
NDJSON: Final = "application/x-ndjson"
PARQUET: Final = "application/vnd.apache.parquet"
_CHUNK_ROWS: Final = 1000
_GROUP_ROWS: Final = 10_000
"""Rows of a group of a Parquet file: they are values in memory while it is written."""

_PIECE: Final = 1 << 20


def ndjson_chunks(store: Store, board: PublishedBoard) -> Generator[bytes, None, None]:
    """Yield the stored lines: one JSON object per line."""
    for lines in _chunks(store, board):
        yield b"\n".join(lines) + b"\n"


def csv_chunks(store: Store, board: PublishedBoard) -> Generator[bytes, None, None]:
    """Yield a header and one line per row; nested values become ``components.h_index``, …."""
    names: list[str] | None = None
    for lines in _chunks(store, board):
        rows = [dict(_flat(orjson.loads(line))) for line in lines]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        if names is None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer.writerow([escape_formula(name) for name in _order_columns(names)])
        for row in rows:
            writer.writerow([_cell(row.get(name)) for name in _order_columns(names)])
        yield out.getvalue().encode()


def parquet_chunks(store: Store, board: PublishedBoard) -> Generator[bytes, None, None]:
    """Yield a Parquet file: the columns of :func:`csv_chunks`, with types.

    A column of whole numbers, numbers, truth values or text has that type; one of lists, or of
    several types, has its values as JSON text.
    """
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as out:
        types: dict[str, str] = {}
        for chunk in ndjson_chunks(store, board):
            lines.write(chunk)
            for line in chunk.splitlines():
                for name, value in _flat(orjson.loads(line)):
                    types[name] = _common_type(types.get(name, ""), _type_of(value))
        lines.seek(0)
        _write_parquet(lines, out, types)
        out.seek(0)
        while piece := out.read(_PIECE):
            yield piece


def _write_parquet(lines: IO[bytes], out: IO[bytes], types: Mapping[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = _order_columns(list(types))
    texts = {name for name in names if types[name] in {"", "json"}}
    schema = pa.schema([(name, "string" if name in texts else types[name]) for name in names])
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        while group := [dict(_flat(orjson.loads(line))) for line in islice(lines, _GROUP_ROWS)]:
            columns = [
                pa.array(
                    [_value(row.get(name), as_json=name in texts) for row in group], field.type
                )
                for name, field in zip(names, schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _value(value: Any, *, as_json: bool) -> Any:
    return orjson.dumps(value).decode() if as_json and value is not None else value


def _type_of(value: Any) -> str:
    """Return the name of an Arrow type; empty for None, ``json`` for lists."""
    if value is None:
        return ""
    names = {bool: "bool", int: "int64", float: "double", str: "string"}
    return names.get(type(value), "json")


def _common_type(left: str, right: str) -> str:
    """Return a type that has the values of both.

    Example:
        >>> _common_type("int64", "double"), _common_type("", "bool"), _common_type("bool", "int64")
        ('double', 'bool', 'json')
    """
    if left == right or not right:
        return left
    if not left:
        return right
    return "double" if {left, right} == {"int64", "double"} else "json"


def _chunks(store: Store, board: PublishedBoard) -> Iterator[list[bytes]]:
    """Yield a snapshot's rows, some at a time.

    Raises:
        NotStored: the rows were deleted meanwhile; then what was sent is not complete.
    """
    for start in range(0, board.snapshot.rows, _CHUNK_ROWS):
        yield rows_of(store.rows(), board, start, _CHUNK_ROWS)


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _order_columns(names: list[str]) -> list[str]:
    """Return the names with rank, id and score first; stored lines have theirs sorted."""
    first = [name for name in ("rank", "id", "score") if name in names]
    return first + [name for name in names if name not in first]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return escape_formula(orjson.dumps(value).decode())
    return value
