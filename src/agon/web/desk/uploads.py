"""Upload records as CSV or NDJSON, with what is wrong with them shown in place; look them up."""

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO, Final

from agon.api.models.contests import Contest
from agon.api.models.records import Record
from agon.app.contests.ingest.uploads import read_upload
from agon.disciplines import discipline
from agon.errors import AgonError, Unreadable
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import contest_page
from agon.web.page import SitePage, Visit, error_texts
from agon.web.rendering import counted_text

_NAMES: Final = 1000
"""Maximum number of names in the header of a CSV file: each row is completed to as many values."""

LINES: Final = (".ndjson", ".jsonl")
"""Endings of names of files with a JSON object a line; others are CSV."""

_CHUNK: Final = 1 << 20
_LINE: Final = 4 << 20
_ZIP: Final = b"PK\x03\x04"
_ROWS: Final = 50


def records(visit: Visit) -> SitePage:
    """Return the form that uploads records, and the record that was asked for."""
    return _page(visit)


def add_records(visit: Visit) -> SitePage:
    """Check or add the rows of an uploaded CSV or NDJSON file; all of them or none."""
    contest, table = visit.contest(), visit.form.get("table", "")
    dry_run = visit.form.get("do") != "add"
    name, file = visit.files.get("file", ("", io.BytesIO()))
    try:
        with read_upload(contest.discipline, table, name, file, option="") as upload:
            upload.require_valid()
            summary = visit.api.records.add(contest.id, upload.lines(), dry_run=dry_run)
            notes = upload.notes
    except AgonError as error:
        return _page(visit, error=error)
    verb = "would be" if dry_run else "was" if summary.added == 1 else "were"
    stored = "is" if summary.repeated == 1 else "are"
    done = (
        f"{counted_text(summary.added, 'row')} of {table} {verb} added; {summary.repeated:,} "
        f"{stored} stored already."
    )
    done = " ".join([done, *(f"Note: {note}." for note in notes)])
    return _page(visit, done=done)


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file piece by piece."""
    while chunk := file.read(_CHUNK):
        yield chunk


def csv_rows(file: IO[bytes]) -> Iterator[dict[str, str]]:
    r"""Yield the rows of a CSV file with a header, line by line; empty values are left out.

    Values are separated by commas, or by the semicolons or tabs of a header without commas.

    Raises:
        Unreadable: it is empty, is not UTF-8, has too many names, or a row has more values than
            the header.

    Example:
        >>> list(csv_rows(io.BytesIO(b"id;name\nada;Ada\nbob;\n")))
        [{'id': 'ada', 'name': 'Ada'}, {'id': 'bob'}]
    """
    lines = _text_lines(file)
    header = next(lines, "")
    delimiter = next((sign for sign in ",;\t" if sign in header), ",")
    reader = csv.DictReader(chain([header], lines), strict=True, delimiter=delimiter)
    try:
        if not reader.fieldnames:
            raise Unreadable("the file is empty; choose a CSV file with a header and rows")
        if len(reader.fieldnames) > _NAMES:
            raise Unreadable(
                f"the header has {len(reader.fieldnames):,} names, and a table has at most "
                f"{_NAMES:,}; choose the file of a table"
            )
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise Unreadable(
                    f"row {number:,} has more values than the header has names "
                    f"({len(reader.fieldnames)}); quote values that contain commas"
                )
            yield {name: value for name, value in row.items() if value}
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num:,}: {error}; correct the quotes there") from None


def _text_lines(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a file in UTF-8.

    Raises:
        Unreadable: it is not text, not in UTF-8, or a line is too long.
    """
    position, encoding = 0, "utf-8-sig"
    while line := file.readline(_LINE + 1):
        if position == 0 and line.startswith(_ZIP):
            raise Unreadable(
                "the file is not text: it is a workbook or a ZIP archive; choose Save as in the "
                "spreadsheet, CSV in UTF-8, and upload that file"
            )
        if len(line) > _LINE:
            raise Unreadable(
                f"a line is longer than {_LINE >> 20} MiB; choose a CSV file with one row a line"
            )
        try:
            yield line.decode(encoding)
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"the file is not UTF-8 text (byte {position + error.start + 1:,}); save it as CSV "
                "in UTF-8"
            ) from None
        position, encoding = position + len(line), "utf-8"


def _page(visit: Visit, *, error: Exception | None = None, done: str = "") -> SitePage:
    contest = visit.contest()
    tables = [table.name for table in discipline(contest.discipline).schema]
    table = visit.form.get("table") or visit.query.get("table", "")
    values = {
        "tables": tables,
        "table": table,
        "columns": _columns(contest),
        "stored": _records(visit, contest, table) if visit.query.get("table") else (),
        "record": visit.query.get("record", ""),
        "done": done,
    }
    errors = FormErrors(fields={"file": error_texts(error)}) if error is not None else None
    return contest_page(visit, contest, "records", values, error=errors)


def _records(visit: Visit, contest: Contest, table: str) -> list[Record]:
    """Return the record that was asked for, or the first ones of a table."""
    record = visit.query.get("record") or None
    return list(islice(visit.api.records.list(contest.id, table=table, record=record), _ROWS))


def _columns(contest: Contest) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return of each table its name, its required and its other columns."""
    return [
        (
            table.name,
            tuple(column.name for column in table.columns if column.required),
            tuple(column.name for column in table.columns if not column.required),
        )
        for table in discipline(contest.discipline).schema
    ]
