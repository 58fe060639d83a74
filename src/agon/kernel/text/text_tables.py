"""Lay out columns of text as aligned lines and as HTML, for consoles and notebooks."""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

Columns = Sequence[tuple[str, Sequence[str]]]
"""Columns: each a name and its cells."""

_NUMBER: Final = re.compile(r"[-+−$]*[0-9][0-9,.]*([eE][-+]?[0-9]+)?%?|–|")
_NUMBERS: Final = ' style="text-align:right"'


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
    """Return columns as an HTML table; names and cells are data and escaped, numbers on the right.

    Example:
        >>> html_table([("id", ["<b>"])], "bots")
        '<table><caption>bots</caption><tr><th>id</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
        >>> html_table([("n", ["1,024"])], "")[-43:]
        '="text-align:right">1,024</td></tr></table>'
    """
    sides = [_NUMBERS if all(map(_NUMBER.fullmatch, cells)) else "" for _, cells in columns]
    head = "".join(
        f"<th{side}>{escape(name)}</th>" for side, (name, _) in zip(sides, columns, strict=True)
    )
    rows = (
        "<tr>"
        + "".join(f"<td{side}>{escape(cell)}</td>" for side, cell in zip(sides, row, strict=True))
        + "</tr>"
        for row in zip(*(cells for _, cells in columns), strict=True)
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{''.join(rows)}</table>"
