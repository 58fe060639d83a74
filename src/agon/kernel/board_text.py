"""Show the first rows of a board as text and as HTML, for consoles and notebooks."""

from html import escape
from typing import Any

import pyarrow as pa

_MAX_CELL = 24


def board_text(table: pa.Table, *, more: int = 0) -> str:
    """Return rows as aligned text; columns of lists and parts are left out.

    Args:
        table: the rows.
        more: number of rows that are not in the table.

    Example:
        >>> print(board_text(pa.table({"rank": [1], "id": ["ann"], "score": [9.5]}), more=2))
        rank   id  score
           1  ann    9.5
        … 2 more
    """
    columns = _columns(table)
    width = [max(map(len, [name, *cells])) for name, cells in columns]
    lines = ["  ".join(name.rjust(size) for (name, _), size in zip(columns, width, strict=True))]
    rows = zip(*(cells for _, cells in columns), strict=True)
    lines += [
        "  ".join(cell.rjust(size) for cell, size in zip(row, width, strict=True)) for row in rows
    ]
    if more:
        lines.append(f"… {more:,} more")
    return "\n".join(line.rstrip() for line in lines)


def board_html(table: pa.Table, caption: str) -> str:
    """Return rows as an HTML table; names are data and escaped.

    Example:
        >>> board_html(pa.table({"id": ["<b>"]}), "bots")
        '<table><caption>bots</caption><tr><th>id</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    columns = _columns(table)
    head = "".join(f"<th>{escape(name)}</th>" for name, _ in columns)
    rows = (
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*(cells for _, cells in columns), strict=True)
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _columns(table: pa.Table) -> list[tuple[str, list[str]]]:
    return [
        (name, [_cell(value) for value in table[name].to_pylist()])
        for name in table.column_names
        if not pa.types.is_nested(table.schema.field(name).type)
    ]


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"
