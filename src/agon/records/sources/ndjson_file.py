"""Read one NDJSON file (one JSON object per line; also gzipped) as JSON columns.

Well-formed files are read by the engine's own reader. A file that it rejects is read again line by
line, which is slower, so that each malformed line and each byte that is not UTF-8 is reported.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.names.matching import MatchedNames, fold_name, match_names
from agon.records.raw import RawTable, file_literal, literal, quote
from agon.records.schemas import Table
from agon.records.sources.issues import ROW_REMEDY, IssueTally, shown_bytes, unreadable
from agon.records.sources.nested_names import nested_paths
from agon.records.sources.text_file import BROKEN, binary, binary_issue, plain

_BATCH = 50_000
_BLOCK = 1 << 22
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


def columns_in(file: Path, *, most: int = 1_000) -> list[str]:
    """Return the keys of the first objects of a file."""
    keys: dict[str, None] = {}
    for _, _, line in islice(_objects(file), most):
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
            keys |= dict.fromkeys(row if isinstance(row, dict) else ())
    return list(keys)


def _read_fast(connection: Any, table: Table, file: Path) -> RawTable | None:
    import duckdb

    stored = quote(f"raw:{table.name}")
    names = [column.name for column in table.columns]
    columns = ", ".join(f"{literal(name)}: 'JSON'" for name in names)
    path = file_literal(str(file))
    options = ", compression = 'gzip'" if file.suffix.lower() == ".gz" else ""
    all_null = " AND ".join(f"{quote(name)} IS NULL" for name in names)
    objects = f"(SELECT json AS text FROM read_ndjson_objects({path}{options}))"
    try:
        connection.execute(
            f"CREATE OR REPLACE TABLE {stored} AS SELECT * FROM read_json({path}, "
            f"columns = {{{columns}}}, format = 'newline_delimited', records = true, "
            f"hive_partitioning = false{options})"
        )
        counted = ", ".join(f"count({quote(name)})" for name in names)
        sql = f"SELECT count_if({all_null}), {counted} FROM {stored}"
        empty, *counts = connection.execute(sql).fetchall()[0]
        # A line ``null`` becomes an empty row: the slow reader reports it.
        if empty and not _are_objects(connection, objects):
            return None
        is_flat = not any("." in name for name in names)
        if is_flat and _has_no_more_keys(file, sum(counts)):
            keys = [name for name, count in zip(names, counts, strict=True) if count]
            return _raw(table, file, match_names(names, keys))
        spellings = _spellings(names, _keys(connection, objects))
        if any(spelled != [_path(name)] for name, spelled in spellings.pointers.items()):
            _extract(connection, table, objects, spellings.pointers)
        return _raw(table, file, spellings.matched)
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
        names = [column.name for column in table.columns]
        spellings = _spellings(names, _keys(connection, objects))
        _extract(connection, table, objects, spellings.pointers, row=quote(_ROW))
        raw = _raw(table, file, spellings.matched, row=quote(_ROW), complete=not malformed)
    finally:
        connection.execute('DROP TABLE "lines"')
    issues = malformed + tally.issues()
    lines = _lines(file, {issue.row for issue in issues if issue.row})
    return raw, [
        RowIssue(**{**issue.__dict__, "line": lines.get(issue.row or 0)}) for issue in issues
    ]


@dataclass(frozen=True)
class _Spellings:
    """The keys of a file: pointers to those that each column is read from, the exact one first."""

    pointers: dict[str, list[str]]
    matched: MatchedNames


def _spellings(names: list[str], keys: list[str]) -> _Spellings:
    """Match the keys of a file; each row may spell a key in its own way."""
    own_of = {fold_name(name): name for name in names}
    spelled: dict[str, list[str]] = {}
    for key in sorted(keys, key=lambda key: key not in names):
        if fold_name(key) in own_of:
            spelled.setdefault(own_of[fold_name(key)], []).append(key)
    used = {key for each in spelled.values() for key in each}
    pointers = {name: [_path(key) for key in each] for name, each in spelled.items()}
    for name in names:
        paths = [] if name in spelled else nested_paths(name, keys)
        if paths:
            pointers[name] = [_path(*path) for path in paths]
            used.add(paths[0][0])
    shown = {name: next((key for key in each if key != name), name)
             for name, each in spelled.items()}  # fmt: skip
    return _Spellings(
        pointers,
        MatchedNames(
            {name: shown.get(name, name) for name in names if name in pointers},
            tuple(key for key in keys if key not in used),
        ),
    )


def _extract(
    connection: Any,
    table: Table,
    objects: str,
    spelled: Mapping[str, list[str]],
    *,
    row: str | None = None,
) -> None:
    """Store the columns of objects, each from the first of its keys that a row has."""
    items = [] if row is None else [row]
    for column in table.columns:
        pointers = spelled.get(column.name, [_path(column.name)])
        values = ", ".join(f"text::JSON -> {pointer}" for pointer in pointers)
        items.append(f"coalesce({values}) AS {quote(column.name)}")
    stored = quote(f"raw:{table.name}")
    connection.execute(
        f"CREATE OR REPLACE TABLE {stored} AS SELECT {', '.join(items)} FROM {objects}"
    )


def _are_objects(connection: Any, objects: str) -> bool:
    sql = f"SELECT count_if(json_type(text) <> 'OBJECT') FROM {objects}"
    return not connection.execute(sql).fetchall()[0][0]


def _keys(connection: Any, objects: str) -> list[str]:
    sql = f"SELECT DISTINCT json_keys(text) FROM {objects}"
    lists = sorted(keys for (keys,) in connection.execute(sql).fetchall() if keys is not None)
    return list(dict.fromkeys(key for keys in lists for key in keys))


def _has_no_more_keys(file: Path, values: int) -> bool:
    """Return whether text alone shows that a file has as many keys as values; False is unsure.

    Counting bytes is many times faster than reading the keys of all objects.
    """
    if file.suffix.lower() == ".gz":
        return False
    count = 0
    last = b""
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            joined = last + block
            if b'" :' in joined or b'"\t:' in joined:
                return False
            count += joined.count(b'":')
            last = joined[-2:] if joined[-2:] != b'":' else b""
            if count > values:
                return False
    return count == values


def _raw(
    table: Table,
    file: Path,
    matched: MatchedNames,
    *,
    row: str = "rowid + 1",
    complete: bool = True,
) -> RawTable:
    """Return the stored table; a column exists when any object has its key."""
    return RawTable(
        table.name,
        file.name,
        quote(f"raw:{table.name}"),
        dict.fromkeys(matched.names, "JSON"),
        row=row,
        stored=True,
        complete=complete,
        others=matched.unused,
        spelled=matched.respelled,
        lines=partial(_lines, file),
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


def _path(*names: str) -> str:
    """Return the JSON pointer of a key, or of a key inside others.

    Example:
        >>> _path("and/or"), _path("tags", "math")
        ("'/and~1or'", "'/tags/math'")
    """
    return literal("".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names))
