"""Read one NDJSON file (one JSON object per line; also gzipped) as JSON columns.

Well-formed files are read by the engine's own reader. A file that it rejects is read again line by
line, which is slower, so that each malformed line and each byte that is not UTF-8 is reported.
"""

import json
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.raw import RawTable, file_literal, literal, quote
from agon.records.schemas import Table
from agon.records.sources.issues import ROW_REMEDY, IssueTally, shown_bytes, unreadable
from agon.records.sources.text_file import BROKEN, binary, binary_issue, plain

_BATCH = 50_000
_ROW = "row:"
_BOM = b"\xef\xbb\xbf"

_IS_OBJECT = (
    "CASE WHEN json_valid(text) AND json_type(text) = 'OBJECT' "
    "THEN len(json_keys(text)) = len(list_distinct(json_keys(text))) ELSE false END"
)


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Read an NDJSON file into the engine; blank lines are ignored."""
    try:
        issue = binary_issue(table.name, file)
        if issue is not None:
            return None, [issue]
        raw = _read_fast(connection, table, file)
        return (raw, []) if raw is not None else _read_slowly(connection, table, file)
    except BROKEN as error:
        return None, [unreadable(table.name, file.name, error)]


def _read_fast(connection: Any, table: Table, file: Path) -> RawTable | None:
    import duckdb

    stored = quote(f"raw:{table.name}")
    names = [column.name for column in table.columns]
    columns = ", ".join(f"{literal(name)}: 'JSON'" for name in names)
    path = file_literal(str(file))
    all_null = " AND ".join(f"{quote(name)} IS NULL" for name in names)
    try:
        connection.execute(
            f"CREATE OR REPLACE TABLE {stored} AS SELECT * FROM read_json({path}, "
            f"columns = {{{columns}}}, format = 'newline_delimited', records = true, "
            "hive_partitioning = false)"
        )
        # A line ``null`` becomes an empty row: the slow reader reports it.
        sql = f"SELECT count_if({all_null}) FROM {stored}"
        if connection.execute(sql).fetchall()[0][0]:
            return None
        return _raw(
            connection, table, file, f"(SELECT json AS text FROM read_ndjson_objects({path}))"
        )
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:
        return None


def _read_slowly(connection: Any, table: Table, file: Path) -> tuple[RawTable, list[RowIssue]]:
    tally = IssueTally(table.name, file.name)
    connection.register("slow ndjson", _lines_table(file, tally))
    connection.execute('CREATE TEMP TABLE "lines" AS SELECT * FROM "slow ndjson"')
    connection.unregister("slow ndjson")
    try:
        malformed = _malformed_lines(connection, table, file)
        objects = f'(SELECT * FROM "lines" WHERE {_IS_OBJECT})'
        values = ", ".join(
            f"(text::JSON -> {_path(column.name)}) AS {quote(column.name)}"
            for column in table.columns
        )
        stored = quote(f"raw:{table.name}")
        connection.execute(
            f"CREATE OR REPLACE TABLE {stored} AS SELECT {quote(_ROW)}, {values} FROM {objects}"
        )
        raw = _raw(connection, table, file, objects, row=quote(_ROW), complete=not malformed)
    finally:
        connection.execute('DROP TABLE "lines"')
    issues = malformed + tally.issues()
    lines = _lines(file, {issue.row for issue in issues if issue.row})
    return raw, [
        RowIssue(**{**issue.__dict__, "line": lines.get(issue.row or 0)}) for issue in issues
    ]


def _raw(
    connection: Any,
    table: Table,
    file: Path,
    objects: str,
    *,
    row: str = "rowid + 1",
    complete: bool = True,
) -> RawTable:
    """Return the stored table; a column exists when any object has its key."""
    stored = quote(f"raw:{table.name}")
    names = [column.name for column in table.columns]
    counted = ", ".join(f"count({quote(name)})" for name in names)
    total, *counts = connection.execute(f"SELECT count(*), {counted} FROM {stored}").fetchall()[0]
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    absent: set[str] = set()
    if empty and total:
        exist = ", ".join(f"count_if(json_exists(text, {_path(name)}))" for name in empty)
        present = connection.execute(f"SELECT {exist} FROM {objects}").fetchall()[0]
        absent = {name for name, times in zip(empty, present, strict=True) if not times}
    keys = connection.execute(f"SELECT json_keys(text) FROM {objects} LIMIT 1").fetchall()
    others = tuple(key for key in (keys[0][0] if keys else ()) if key not in names)
    types = {name: "JSON" for name in names if name not in absent}
    lines = partial(_lines, file)
    return RawTable(
        table.name,
        file.name,
        stored,
        types,
        row=row,
        stored=True,
        complete=complete,
        others=others,
        lines=lines,
    )


def _malformed_lines(connection: Any, table: Table, file: Path) -> list[RowIssue]:
    rejected = f'FROM "lines" WHERE NOT ({_IS_OBJECT})'
    count = connection.execute(f"SELECT count(*) {rejected}").fetchall()[0][0]
    sql = f"SELECT {quote(_ROW)}, text {rejected} ORDER BY 1 LIMIT {MAX_LISTED_PER_KIND}"
    return [
        RowIssue(
            "malformed-json",
            table.name,
            file.name,
            row,
            None,
            text[:200],
            "is not a JSON object",
            ROW_REMEDY["malformed-json"],
            count=count,
        )
        for row, text in connection.execute(sql).fetchall()
    ]


def _objects(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield row number, line number and bytes of each line that is not blank."""
    row = 0
    with binary(file) as lines:
        for number, line in enumerate(lines, start=1):
            stripped = (line.removeprefix(_BOM) if number == 1 else line).strip()
            if stripped:
                row += 1
                yield row, number, stripped


def _lines_table(file: Path, tally: IssueTally) -> pa.Table:
    schema = pa.schema([(_ROW, pa.int64()), ("text", pa.string())])
    batches = []
    rows: list[int] = []
    texts: list[str] = []
    for row, _, line in _objects(file):
        rows.append(row)
        try:
            texts.append(line.decode())
        except UnicodeDecodeError:
            texts.append(line.decode(errors="replace"))
            for key, value in _not_utf8(line):
                tally.add("wrong-encoding", row, key, value, "is not UTF-8")
        if len(rows) == _BATCH:
            batches.append(pa.record_batch([rows, texts], schema=schema))
            rows, texts = [], []
    batches.append(pa.record_batch([rows, texts], schema=schema))
    return pa.Table.from_batches(batches, schema)


def _not_utf8(line: bytes) -> Iterator[tuple[str | None, str]]:
    """Return the keys whose values are not UTF-8, or the complete line."""
    try:
        parsed = json.loads(line.decode(errors="surrogateescape"))
    except ValueError:
        parsed = None
    texts = parsed.items() if isinstance(parsed, dict) else ()
    invalid = [
        (key, value) for key, value in texts if isinstance(value, str) and not plain(value)[1]
    ]
    for key, value in invalid:
        yield key, shown_bytes(value.encode(errors="surrogateescape"))
    if not invalid:
        yield None, shown_bytes(line)


def _lines(file: Path, rows: Collection[int]) -> dict[int, int]:
    lines: dict[int, int] = {}
    for row, line, _ in _objects(file) if rows else ():
        if row in rows:
            lines[row] = line
            if len(lines) == len(rows):
                break
    return lines


def _path(name: str) -> str:
    return literal(f'$."{name}"')
