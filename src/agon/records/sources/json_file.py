"""Read a JSON file that is one list of objects, or one object a line."""

import gzip
import json
import zlib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agon.records.issues import RowIssue
from agon.records.raw import RawTable
from agon.records.schemas import Table
from agon.records.sources import ndjson_file
from agon.records.sources.issues import table_issue
from agon.records.sources.text_file import binary_issue

_REMEDY = "write [{…}, {…}], or one object a line"
_SHOWN_KEYS = 3
_SHOWN = 40


class NotRows(Exception):
    """A JSON text is no list of objects; the message states the fact."""


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Read a file of JSON into the engine; a list's elements are its rows, from 1."""
    issue = binary_issue(table.name, file)
    if issue is not None:
        return None, [issue]
    try:
        rows = rows_of(file, table.name)
    except PermissionError:
        reason, remedy = "may not be read", "grant the permission to read it"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    except NotRows as error:
        return None, [table_issue(table.name, file.name, str(error), _REMEDY)]
    if rows is None:
        return ndjson_file.read(connection, table, file)
    with TemporaryDirectory(prefix="agon-json-") as folder:
        lines = Path(folder) / "rows.ndjson"
        with lines.open("w", encoding="utf-8") as text:
            for row in rows:
                text.write(json.dumps(row, ensure_ascii=True) + "\n")
        raw, issues = ndjson_file.read(connection, table, lines)
    issues = [replace(issue, location=file.name, line=None) for issue in issues]
    return (None if raw is None else replace(raw, location=file.name, lines=None)), issues


def rows_of(file: Path, table: str) -> list[Any] | None:
    """Return the elements of a file's list; None: it has one object a line.

    A list may be the value of a key of one object: that of the table's name, or the only one. An
    object that is written over several lines, without a list, is one row.

    Raises:
        NotRows: it is neither, with the reason.
        OSError: it cannot be read.
    """
    try:
        text = _text(file)
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise NotRows(f"is not UTF-8 text ({error})") from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.lstrip().splitlines()
        if not text.strip() or (lines[0].startswith("{") and lines[0].rstrip().endswith("}")):
            return None
        place = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "its depth"
        raise NotRows(f"is not JSON ({place})") from None
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = {name: item for name, item in value.items() if isinstance(item, list)}
        if table in lists:
            return list(lists[table])
        if len(lists) == 1:
            return list(*lists.values())
        if value and all(isinstance(item, dict) for item in value.values()):
            raise NotRows(
                f"has its rows or columns under the keys {_first_keys(value)} of one object"
            )
        is_one_line = len(text.strip().splitlines()) == 1
        return None if lists or is_one_line else [value]
    raise NotRows("contains no list of objects")


def columns_in(file: Path) -> list[str]:
    """Return the keys of a file's objects.

    Raises:
        NotRows, OSError: it cannot be read.
    """
    rows = rows_of(file, "")
    if rows is None:
        return ndjson_file.columns_in(file)
    return list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))


def _first_keys(value: dict[str, Any]) -> str:
    names = ", ".join(repr(name[:_SHOWN]) for name in list(value)[:_SHOWN_KEYS])
    return names + ", …" * (len(value) > _SHOWN_KEYS)


def _text(file: Path) -> str:
    if file.suffix.lower() == ".gz":
        with gzip.open(file, "rt", encoding="utf-8-sig") as opened:
            return opened.read()
    return file.read_text("utf-8-sig")
