r"""Stream complete boards as CSV and NDJSON.

CSV is safe for spreadsheets: text that would be run as a formula gets an apostrophe.
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
_CHUNK_ROWS: Final = 1000


def ndjson_chunks(service: Service, view: View, first: Page) -> Iterator[bytes]:
    """Yield the stored lines: one JSON object per line."""
    for lines in _chunks(service, view, first):
        yield b"\n".join(lines) + b"\n"


def csv_chunks(service: Service, view: View, first: Page) -> Iterator[bytes]:
    """Yield a header and one line per row; nested values become ``components.h_index``, …."""
    names: list[str] | None = None
    for lines in _chunks(service, view, first):
        rows = [dict(_flat(orjson.loads(line))) for line in lines]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        if names is None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer.writerow([escape_formula(name) for name in _order_columns(names)])
        for row in rows:
            writer.writerow([_cell(row.get(name)) for name in _order_columns(names)])
        yield out.getvalue().encode()


def _chunks(service: Service, view: View, first: Page) -> Iterator[list[bytes]]:
    """Yield a snapshot's rows; each chunk is read in its own short transaction."""
    board, chunk = first.snapshot.board, first
    while True:
        if chunk.lines:
            yield chunk.lines
        if chunk.next is None:
            return
        chunk = page(service, view, board, cursor=chunk.next, limit=_CHUNK_ROWS)


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
