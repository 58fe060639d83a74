"""Read a CSV file row by row in Python: its header, its rows, and what is wrong with each."""

import csv
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from agon.records.names.matching import match_names
from agon.records.sources.text_file import text

_DELIMITERS: Final = ",;\t|"
_IN_NAMES: Final = "\"' _-.()/\r\n\ufeff"
_STATED: Final = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)  # Excel writes such a first line
_MAX_OPEN: Final = 20  # quotes that are never closed, after which the rest of a file is not read


@dataclass(frozen=True)
class CsvHeader:
    """How a file begins.

    Attributes:
        names: the names of its columns.
        delimiter: what divides the values of a row.
        skip: lines before the row of names: empty ones, and one that states the delimiter.
        spelled: the names as the file spells them.
        even: whether the lines up to the names end alike; the engine loses rows of others.
    """

    names: list[str]
    delimiter: str
    skip: int = 0
    spelled: Sequence[str] = ()
    even: bool = True


@dataclass(frozen=True)
class Row:
    """A data row: its number, the line it begins on, and its fields or the issue of the row."""

    number: int
    line: int
    fields: list[str]
    issue: str | None = None


def columns_in(file: Path, known: Sequence[str] = ()) -> list[str]:
    """Return the names of a file's columns; those that are known decide about the delimiter."""
    return [name for name in read_header(known, file).names if name]


def read_header(known: Sequence[str], file: Path) -> CsvHeader:
    """Read the first row by the delimiter under which the most of its names are known."""
    headers = []
    with text(file) as opened, _any_length():
        first, skip = opened.readline(), 0
        stated: re.Match[str] | None = None
        ends = set()
        while first and (_is_empty(first) or _STATED.fullmatch(first)):
            stated = _STATED.fullmatch(first) or stated
            ends.add(_end_of(first))
            first, skip = opened.readline(), skip + 1
        even = ends <= {_end_of(first)}
        others = dict.fromkeys(sign for sign in first if not (sign.isalnum() or sign in _IN_NAMES))
        for delimiter in stated[1] if stated else dict.fromkeys((*_DELIMITERS, *others)):
            _rewind(opened, skip)
            names = next(csv.reader(opened, delimiter=delimiter), [])
            headers.append(CsvHeader([name.strip() for name in names], delimiter, skip, even=even))
    # Of delimiters that are as good, the usual ones come first; # before a name is none.
    headers = [one for one in headers if one.delimiter in _DELIMITERS or all(one.names)] or headers
    return max(headers, key=lambda header: (len(match_names(known, header.names).names),
                                            header.delimiter in _DELIMITERS,
                                            len(header.names)))  # fmt: skip


def _is_empty(line: str) -> bool:
    """Return whether a line before the names holds blanks and delimiters only."""
    return not line.strip(f" \ufeff\r\n{_DELIMITERS}")


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _rewind(opened: IO[str], skip: int) -> None:
    opened.seek(0)
    for _ in range(skip):
        opened.readline()


def rows_of(file: Path, header: CsvHeader) -> Iterator[Row]:
    """Read the data rows one by one; lines without anything, and blank rows at the end, are not."""
    blank: list[Row] = []
    for row in _all_rows(file, header):
        if row.issue is None and len(row.fields) > 1 and not any(row.fields):
            blank.append(row)
            continue
        yield from blank
        blank.clear()
        yield row


def first_lines(file: Path, header: CsvHeader) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines after the header, each with its place, by every usual delimiter."""
    with text(file) as opened, _any_length():
        _rewind(opened, header.skip + 1)
        for number, line in enumerate(opened, start=header.skip + 2):
            for delimiter in dict.fromkeys((header.delimiter, *_DELIMITERS)):
                names = next(csv.reader([line], delimiter=delimiter), [])
                yield f"line {number}", [name.strip() for name in names]


def unnamed_columns(file: Path, header: CsvHeader) -> tuple[str, ...]:
    """Return what to call each column that has values but no name in the header."""
    unnamed = {index for index, name in enumerate(header.spelled) if not name}
    filled: set[int] = set()
    for row in rows_of(file, header) if unnamed else ():
        filled |= {
            index for index in unnamed - filled if "".join(row.fields[index : index + 1]).strip()
        }
        if filled == unnamed:
            break
    return tuple(map(call_unnamed, sorted(filled)))


def call_unnamed(at: int) -> str:
    """Return what to call the column at an index, which has no name.

    Example:
        >>> call_unnamed(0)
        'column 1 (without a name)'
    """
    return f"column {at + 1} (without a name)"


def lines_of(file: Path, header: CsvHeader, rows: Collection[int]) -> dict[int, int]:
    """Return the line on which each of some rows begins."""
    lines: dict[int, int] = {}
    for row in rows_of(file, header):
        if row.number in rows:
            lines[row.number] = row.line
            if len(lines) == len(rows):
                break
    return lines


def _all_rows(file: Path, header: CsvHeader) -> Iterator[Row]:
    """Read all rows; after a quote that is never closed, what follows are rows of their own."""
    number, skip = 0, header.skip
    with text(file) as opened, _any_length():
        for attempt in range(_MAX_OPEN):
            _rewind(opened, skip)
            reader = csv.reader(opened, delimiter=header.delimiter, strict=True)
            if attempt == 0:
                next(reader, None)
            row = Row(number, skip, [])
            for row in _until_open_quote(reader, header, number, skip):
                yield row
                number = row.number
            if row.issue != _OPEN:
                return
            skip = row.line


_OPEN: Final = "opens a quote and never closes it"


def _until_open_quote(reader: Any, header: CsvHeader, number: int, skip: int) -> Iterator[Row]:
    while True:
        line = skip + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield Row(number, line, [], _reason(str(error)))
            continue
        if not fields:
            continue
        number += 1
        while len(fields) > len(header.names) and not fields[-1].strip():
            fields.pop()  # delimiters at the end of the line
        issue = None
        if any(fields) and len(fields) != len(header.names):
            issue = f"has {len(fields)} fields, the header has {len(header.names)}"
        yield Row(number, line, fields, issue)


def _reason(error: str) -> str:
    """Return what is wrong with a row, by the error of Python's reader."""
    if "unexpected end" in error:
        return _OPEN
    if "new-line" in error:
        return "has a carriage return inside a value"
    return "has text after a quote"


@contextmanager
def _any_length() -> Iterator[None]:
    """Allow fields of any length while a file is read (the limit applies to the process)."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
