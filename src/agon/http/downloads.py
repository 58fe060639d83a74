r"""Write whole boards as CSV and NDJSON, piece by piece.

CSV is made safe for spreadsheets: text that would be run as a formula gets an apostrophe.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import Page, page
from agon.app.service import Service
from agon.app.spreadsheets import escape_formula

CSV: Final = "text/csv; charset=utf-8"
NDJSON: Final = "application/x-ndjson"
_PORTION: Final = 1000


def ndjson_chunks(service: Service, view: View, first: Page) -> Iterator[bytes]:
    """Yield one JSON object a line: the stored lines."""
    for lines in _portions(service, view, first):
        yield b"\n".join(lines) + b"\n"


def csv_chunks(service: Service, view: View, first: Page) -> Iterator[bytes]:
    """Yield a header and one line per row; nested values become ``components.h_index``, …."""
    names: list[str] | None = None
    for lines in _portions(service, view, first):
        rows = [dict(_flat(orjson.loads(line))) for line in lines]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        if names is None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer.writerow([escape_formula(name) for name in _ordered(names)])
        for row in rows:
            writer.writerow([_cell(row.get(name)) for name in _ordered(names)])
        yield out.getvalue().encode()


def _portions(service: Service, view: View, first: Page) -> Iterator[list[bytes]]:
    """Yield a snapshot's rows; each chunk is read separately, so that no transaction lasts."""
    board, found = first.snapshot.board, first
    while True:
        if found.lines:
            yield found.lines
        if found.next is None:
            return
        found = page(service, view, board, cursor=found.next, limit=_PORTION)


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _ordered(names: list[str]) -> list[str]:
    """Put rank, id and score first; stored lines have their keys in alphabetical order."""
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
