"""Read one CSV file (also ``.csv.gz``) as text columns, and place every row that is malformed.

The engine's reader takes well-formed files at full speed. A file it rejects anything of is read
again row by row, slower, so that each malformed row and each byte that is not UTF-8 is named.
"""

import csv
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.raw import RawTable, file_literal, literal, quote
from agon.records.schemas import Table
from agon.records.sources.issues import IssueTally, shown_bytes, table_issue, unreadable
from agon.records.sources.text_file import BROKEN, binary_issue, plain, text

_DELIMITERS = ",;\t|"
_BATCH = 50_000
_ROW = "row:"
_SMALL = 1 << 20


@dataclass(frozen=True)
class _Header:
    """The names of a file's columns, and its delimiter."""

    names: list[str]
    delimiter: str


@dataclass(frozen=True)
class _Record:
    """A data row: its number, the line it begins on, and its fields or the issue of the row."""

    row: int
    line: int
    fields: list[str]
    issue: str | None = None


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Read a CSV file into the engine; the first row names the columns.

    A file without text is a table without rows, as an empty NDJSON file is.
    """
    try:
        issue = binary_issue(table.name, file)
        if issue is not None:
            return None, [issue]
        header = _header(table, file)
        issue = _header_issue(table, file, header)
        if issue is not None:
            return None, [issue]
        return _rows(connection, table, file, header)
    except BROKEN as error:
        return None, [unreadable(table.name, file.name, error)]


def _header(table: Table, file: Path) -> _Header:
    """Read the first row by the delimiter under which the most of its names are the schema's."""
    known = {column.name for column in table.columns}
    headers = []
    with text(file) as opened, _any_length():
        for delimiter in _DELIMITERS:
            opened.seek(0)
            names = next(csv.reader(opened, delimiter=delimiter), [])
            headers.append(_Header([name.strip() for name in names], delimiter))
    return max(headers, key=lambda header: (len(known & set(header.names)), len(header.names)))


def _header_issue(table: Table, file: Path, header: _Header) -> RowIssue | None:
    if not any(header.names) and not _is_blank(file):
        return table_issue(
            table.name, file.name, "has no header row", "name the columns in the first row"
        )
    if not all(plain(name)[1] for name in header.names):
        reason = "names columns in bytes that are not UTF-8"
        remedy = "save the file as UTF-8"
        return table_issue(table.name, file.name, reason, remedy, code="wrong-encoding")
    twice = sorted({name for name in header.names if name and header.names.count(name) > 1})
    if twice:
        reason = f"names columns twice: {', '.join(twice)}"
        return table_issue(table.name, file.name, reason, "name each column once")
    return None


def _is_blank(file: Path) -> bool:
    """Return whether a file holds nothing but line ends."""
    with text(file) as opened:
        return not any(line.strip("\r\n") for line in opened)


def _rows(
    connection: Any, table: Table, file: Path, header: _Header
) -> tuple[RawTable, list[RowIssue]]:
    columns = {column.name for column in table.columns}
    known = [name for name in header.names if name in columns]
    others = tuple(name for name in header.names if name and name not in columns)
    stored = quote(f"raw:{table.name}")
    tally = IssueTally(table.name, file.name)
    row, complete = "rowid + 1", True
    if not _read_fast(connection, file, stored, header, known):
        row = quote(_ROW)
        rows, complete = _read_slowly(file, header, known, tally)
        connection.register("slow csv", rows)
        connection.execute(f'CREATE TABLE {stored} AS SELECT * FROM "slow csv"')
        connection.unregister("slow csv")
    lines = partial(_lines, file, header)
    issues = _with_lines(tally.issues() + _nul(connection, table, file, stored, row, known), lines)
    types = dict.fromkeys(known, "VARCHAR")
    raw = RawTable(
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
    return raw, issues


def _read_fast(connection: Any, file: Path, stored: str, header: _Header, known: list[str]) -> bool:
    import duckdb

    # Columns the schema does not know go by number: their names may differ in case alone.
    names = [name if name in known else f"{at}:" for at, name in enumerate(header.names)]
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    selected = ", ".join(map(quote, known)) or 'NULL AS "no known column"'
    sql = (
        f"CREATE TABLE {stored} AS SELECT {selected} FROM read_csv({file_literal(str(file))}, "
        f"columns = {{{columns}}}, header = true, auto_detect = false, "
        f"delim = {literal(header.delimiter)}, quote = '\"', escape = '\"', nullstr = '', "
        "strict_mode = true, hive_partitioning = false)"
    )
    try:
        connection.execute(sql)
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:
        return False
    return True


def _read_slowly(
    file: Path, header: _Header, known: list[str], tally: IssueTally
) -> tuple[pa.Table, bool]:
    complete = True
    schema = pa.schema([(_ROW, pa.int64()), *((name, pa.string()) for name in known)])
    batches = []
    rows: list[int] = []
    columns: dict[str, list[str | None]] = {name: [] for name in known}

    def cut() -> None:
        batches.append(pa.record_batch([rows, *columns.values()], schema=schema))
        rows.clear()
        for values in columns.values():
            values.clear()

    for record in _records(file, header):
        if record.issue is not None:
            complete = False
            shown = header.delimiter.join(record.fields)
            tally.add("malformed-row", record.row, None, plain(shown)[0], record.issue)
            continue
        rows.append(record.row)
        for name, field in zip(header.names, record.fields, strict=False):
            stored, is_utf8 = plain(field)
            if not is_utf8:
                raw = shown_bytes(field.encode(errors="surrogateescape"))
                tally.add("wrong-encoding", record.row, name or None, raw, "is not UTF-8")
            if name in columns:
                columns[name].append(stored or None)
        if len(rows) == _BATCH:
            cut()
    cut()
    return pa.Table.from_batches(batches, schema), complete


def _records(file: Path, header: _Header) -> Iterator[_Record]:
    """Read the data rows one by one; lines without anything are passed over."""
    row = 0
    with text(file) as opened, _any_length():
        reader = csv.reader(opened, delimiter=header.delimiter, strict=True)
        next(reader, None)
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                row += 1
                open_quote = "unexpected end" in str(error)
                reason = (
                    "opens a quote and never closes it" if open_quote else "has text after a quote"
                )
                yield _Record(row, line, [], reason)
                continue
            if not fields:
                continue
            row += 1
            if len(fields) == len(header.names) + 1 and not fields[-1]:
                fields.pop()  # a delimiter at the end of the line
            issue = None
            if len(fields) != len(header.names):
                issue = f"has {len(fields)} fields, the header has {len(header.names)}"
            yield _Record(row, line, fields, issue)


def _lines(file: Path, header: _Header, rows: Collection[int]) -> dict[int, int]:
    lines: dict[int, int] = {}
    for record in _records(file, header):
        if record.row in rows:
            lines[record.row] = record.line
            if len(lines) == len(rows):
                break
    return lines


def _with_lines(issues: list[RowIssue], lines: Any) -> list[RowIssue]:
    rows = {issue.row for issue in issues}
    if not rows:
        return issues
    line_of_row = lines(rows)
    return [RowIssue(**{**issue.__dict__, "line": line_of_row.get(issue.row)}) for issue in issues]


def _nul(
    connection: Any, table: Table, file: Path, stored: str, row: str, known: list[str]
) -> list[RowIssue]:
    """Find NUL bytes: the engine takes them, but no text has them."""
    issues: list[RowIssue] = []
    if not known:
        return issues
    if file.suffix != ".gz" and file.stat().st_size < _SMALL and b"\0" not in file.read_bytes():
        return issues  # cheaper than a query
    counted = ", ".join(f"count_if(contains({quote(name)}, chr(0)))" for name in known)
    counts = connection.execute(f"SELECT {counted} FROM {stored}").fetchall()[0]
    for name, count in zip(known, counts, strict=True):
        if count:
            sql = (
                f"SELECT {row}, {quote(name)} FROM {stored} "
                f"WHERE contains({quote(name)}, chr(0)) ORDER BY 1 LIMIT {MAX_LISTED_PER_KIND}"
            )
            issues += [
                RowIssue(
                    "wrong-encoding",
                    table.name,
                    file.name,
                    at,
                    name,
                    value[:200],
                    "holds a NUL byte",
                    "save the text as UTF-8",
                    count=count,
                )
                for at, value in connection.execute(sql).fetchall()
            ]
    return issues


@contextmanager
def _any_length() -> Iterator[None]:
    """Allow fields of any length while a file is read (the limit applies to the process)."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
