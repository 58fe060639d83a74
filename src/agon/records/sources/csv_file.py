"""Read one CSV file as text columns, with any delimiter, and place every row that is malformed.

The engine's reader takes well-formed files at full speed. A file it rejects anything of is read
again row by row, slower, so that each malformed row and each byte that is not UTF-8 is named.
"""

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.names.matching import match_names
from agon.records.raw import RawTable, file_literal, literal, quote
from agon.records.schemas import Table
from agon.records.sources.csv_rows import (
    CsvHeader,
    first_lines,
    lines_of,
    read_header,
    rows_of,
    unnamed_columns,
)
from agon.records.sources.issues import IssueTally, shown_bytes, table_issue, unreadable
from agon.records.sources.late_header import late_header
from agon.records.sources.text_file import BROKEN, binary_issue, plain, text

_BATCH = 50_000
_ROW = "row:"
_SMALL = 1 << 20
_END = 4096  # bytes


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Read a CSV file into the engine; the first row names the columns.

    A file without text is a table without rows, as an empty NDJSON file is.
    """
    try:
        issue = binary_issue(table.name, file)
        if issue is not None:
            return None, [issue]
        header = read_header([column.name for column in table.columns], file)
        issue = _header_issue(table, file, header)
        if issue is not None:
            return None, [issue]
        return _rows(connection, table, file, header)
    except BROKEN as error:
        return None, [unreadable(table.name, file.name, error)]


def _header_issue(table: Table, file: Path, header: CsvHeader) -> RowIssue | None:
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
    if len(header.names) == 1 and len(known := _names_in(table, header.names[0])) > 1:
        reason = f"has the names {', '.join(known)} in one quoted field"
        remedy = "remove the quotes around each line"
        return table_issue(table.name, file.name, reason, remedy)
    return late_header(table, file.name, header.names, first_lines(file, header))


def _names_in(table: Table, field: str) -> list[str]:
    """Return the names of columns that one field holds, as where lines are quoted as a whole."""
    names = [column.name for column in table.columns]
    return max(([*match_names(names, field.split(sign)).names] for sign in ",;\t|"), key=len)


def _is_blank(file: Path) -> bool:
    """Return whether a file holds nothing but line ends."""
    with text(file) as opened:
        return not any(line.strip("\r\n") for line in opened)


def _rows(
    connection: Any, table: Table, file: Path, header: CsvHeader
) -> tuple[RawTable, list[RowIssue]]:
    matched = match_names([column.name for column in table.columns], header.names)
    own_of = {name: own for own, name in matched.names.items()}
    # The schema's name of each column; those it does not know go by number.
    header = CsvHeader([own_of.get(name, f"{index}:") for index, name in enumerate(header.names)],
                     header.delimiter, header.skip, header.names, header.even)  # fmt: skip
    known = [name for name in header.names if name in matched.names]
    stored = quote(f"raw:{table.name}")
    tally = IssueTally(table.name, file.name)
    row, complete = "rowid + 1", True
    if header.even and _read_fast(connection, file, stored, header, known):
        _remove_blank_end(connection, file, stored, header, known)
    else:
        row = quote(_ROW)
        rows, complete = _read_slowly(file, header, known, tally)
        connection.register("slow csv", rows)
        connection.execute(f'CREATE TABLE {stored} AS SELECT * FROM "slow csv"')
        connection.unregister("slow csv")
    lines = partial(lines_of, file, header)
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
        has_empty_texts=False,
        others=(*matched.unused, *unnamed_columns(file, header)),
        spelled=matched.respelled,
        lines=lines,
    )
    return raw, issues


def _read_fast(
    connection: Any, file: Path, stored: str, header: CsvHeader, known: list[str]
) -> bool:
    import duckdb

    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header.names)
    selected = ", ".join(map(quote, known)) or 'NULL AS "no known column"'
    packed = ", compression = 'gzip'" if file.suffix.lower() == ".gz" else ""
    sql = (
        f"CREATE TABLE {stored} AS SELECT {selected} FROM read_csv({file_literal(str(file))}, "
        f"columns = {{{columns}}}, header = true, auto_detect = false, "
        f"delim = {literal(header.delimiter)}, quote = '\"', escape = '\"', nullstr = '', "
        f"strict_mode = true, hive_partitioning = false, skip = {header.skip}{packed})"
    )
    try:
        connection.execute(sql)
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:
        return False
    return True


def _remove_blank_end(
    connection: Any, file: Path, stored: str, header: CsvHeader, known: list[str]
) -> None:
    """Remove rows of nothing but delimiters at the end, as spreadsheets leave them."""
    if not known or not _may_end_blank(file, header):
        return
    filled = " OR ".join(f"{quote(name)} IS NOT NULL" for name in known)
    sql = f"SELECT count(*), coalesce(max(rowid) FILTER (WHERE {filled}) + 1, 0) FROM {stored}"
    count, last = connection.execute(sql).fetchall()[0]
    if last < count:
        rows = sum(1 for _ in rows_of(file, header))
        if rows < count:
            connection.execute(f"DELETE FROM {stored} WHERE rowid >= {max(rows, last)}")


def _may_end_blank(file: Path, header: CsvHeader) -> bool:
    """Return whether the last row may be of nothing but delimiters; False is certain.

    A look at the last bytes takes less time than a query.
    """
    if file.suffix.lower() == ".gz":
        return True  # its end is only known when all of it is unpacked
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _END))
        lines = opened.read().decode(errors="replace").splitlines()
    return not "".join(lines[-1:]).replace(header.delimiter, "").replace('"', "").strip()


def _read_slowly(
    file: Path, header: CsvHeader, known: list[str], tally: IssueTally
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

    for record in rows_of(file, header):
        if record.issue is not None:
            complete = False
            shown = plain(header.delimiter.join(record.fields))[0] if record.fields else None
            tally.add("malformed-row", record.number, None, shown, record.issue)
            continue
        rows.append(record.number)
        for index, (name, field) in enumerate(zip(header.names, record.fields, strict=False)):
            stored, is_utf8 = plain(field)
            if not is_utf8:
                raw = shown_bytes(field.encode(errors="surrogateescape"))
                spelled = header.spelled[index] or None
                tally.add("wrong-encoding", record.number, spelled, raw, "is not UTF-8")
            if name in columns:
                columns[name].append(stored or None)
        if len(rows) == _BATCH:
            cut()
    cut()
    return pa.Table.from_batches(batches, schema), complete


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
    if (
        file.suffix.lower() != ".gz"
        and file.stat().st_size < _SMALL
        and b"\0" not in file.read_bytes()
    ):
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
                    index,
                    name,
                    value[:200],
                    "holds a NUL byte",
                    "save the text as UTF-8",
                    count=count,
                )
                for index, value in connection.execute(sql).fetchall()
            ]
    return issues
