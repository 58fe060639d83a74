"""The first rows of a board as text and as HTML, for consoles and notebooks."""

from typing import Any

import pyarrow as pa

from agon.kernel.text.text_tables import html_table, text_table

_MAX_CELL = 24
_DIGITS = 10


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
    text = text_table(_columns(table))
    return f"{text}\n… {more:,} more" if more else text


def board_html(table: pa.Table, caption: str, *, digits: int = _DIGITS) -> str:
    """Return rows as an HTML table; names are data and escaped.

    Args:
        table: the rows.
        caption: of the table.
        digits: significant digits of numbers that are not whole.

    Example:
        >>> board_html(pa.table({"id": ["<b>"]}), "bots")
        '<table><caption>bots</caption><tr><th>id</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    return html_table(_columns(table, digits=digits), caption)


def _columns(table: pa.Table, *, digits: int = _DIGITS) -> list[tuple[str, list[str]]]:
    return [
        (name, [_cell(value, digits) for value in table[name].to_pylist()])
        for name in table.column_names
        if not pa.types.is_nested(table.schema.field(name).type)
    ]


def _cell(value: Any, digits: int) -> str:
    text = "" if value is None else str(value)
    if isinstance(value, float):
        text = f"{value:.{digits}g}"
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"
