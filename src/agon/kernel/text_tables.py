"""Lay out columns of text as aligned lines and as HTML, for consoles and notebooks."""

from collections.abc import Sequence
from html import escape

Columns = Sequence[tuple[str, Sequence[str]]]
"""Columns: each a name and its cells."""


def text_table(columns: Columns) -> str:
    """Return columns as aligned text.

    Example:
        >>> print(text_table([("rank", ["1", "2"]), ("id", ["ann", "bob"])]))
        rank   id
           1  ann
           2  bob
    """
    width = [max(map(len, [name, *cells])) for name, cells in columns]
    lines = [[name for name, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(size) for cell, size in zip(line, width, strict=True)).rstrip()
        for line in lines
    )


def html_table(columns: Columns, caption: str) -> str:
    """Return columns as an HTML table; names and cells are data and escaped.

    Example:
        >>> html_table([("id", ["<b>"])], "bots")
        '<table><caption>bots</caption><tr><th>id</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name, _ in columns)
    rows = (
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*(cells for _, cells in columns), strict=True)
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{''.join(rows)}</table>"
