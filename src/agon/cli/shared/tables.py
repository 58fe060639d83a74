"""Tables and lines for terminals: complete ids, eighty columns, no color unless supported."""

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared.output import deliver
from agon.kernel.text.visible import visible_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from agon.kernel.findings import RecordRefs


def echo(text: str, *, err: bool = False) -> None:
    """Print text that people can have written, with what is not printable escaped in each line."""
    click.echo("\n".join(map(visible_text, text.split("\n"))), err=err)


_FOLDED = 24  # characters that a column of folding text gets at least, if it has as many
_MISSING = "→"  # begins a line on what is missing for the next step
_SMALLEST = 1e-6  # what six decimals show
_LARGE = 100  # numbers from here on are drawn with two decimals
_BETWEEN = 2  # blanks between columns


@dataclass(frozen=True)
class TableColumn:
    """One column of a table.

    Attributes:
        title: its header; it may wrap at blanks.
        cells: the texts.
        right: whether it is aligned to the right (numbers).
        folds: whether long text may wrap; otherwise it is never broken.
        style: a Rich style.
        group: a name that columns share which are shown together or not at all.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    folds: bool = False
    style: str = ""
    group: str = ""

    @property
    def width(self) -> int:
        """Return its width in characters: of its widest cell or longest word of its title."""
        return min(self.widest, _FOLDED) if self.folds else self.widest

    @property
    def widest(self) -> int:
        """Return the width in characters at which no cell and no word of the title wraps."""
        from rich.cells import cell_len

        lines = (line for cell in self.cells for line in cell.split("\n"))
        widest = max((cell_len(visible_text(line)) for line in lines), default=0)
        return max([widest, *(len(word) for word in self.title.split())])

    @property
    def head(self) -> str:
        """The title, wrapped at its blanks where the cells are narrower."""
        narrow = not self.folds and len(self.title) > self.width
        return self.title.replace(" ", "\n") if narrow else self.title


class Output:
    """Collects lines and tables, then prints them or writes them to a file.

    Text is never cut: from a table that does not fit the terminal, columns that are not needed are
    left out and listed below it.
    """

    def __init__(self, output: Path | None = None) -> None:
        self._output = output
        self._parts: list[Any] = []

    def line(self, text: str = "", *, style: str = "") -> None:
        """Add a line (or several) of text."""
        from rich.text import Text

        self._parts.append(Text("\n".join(map(visible_text, text.split("\n"))), style=style))

    def table(self, columns: Sequence[TableColumn], *, needed: int = 3) -> None:
        """Add a table; the first ``needed`` columns are always shown."""
        available = _terminal_width()
        fitting, left_out = _fitting(columns, available, needed)
        self._parts.append(_Wide(fitting, _column_widths(fitting, available)))
        if left_out:
            self.line(f"too wide to show: {', '.join(left_out)}", style="dim")

    def deliver(self) -> None:
        """Print everything, or write it to the file."""
        if self._output is None:
            self._print(_console(sys.stdout))
            return
        text = io.StringIO()
        self._print(_console(text))
        deliver([text.getvalue().encode()], self._output)

    def _print(self, console: "Console") -> None:
        for part in self._parts:
            if isinstance(part, _Wide):
                console.print(part.draw(), crop=False)
            else:
                console.print(part, soft_wrap=True)
        console.file.flush()


@dataclass(frozen=True)
class _Wide:
    columns: Sequence[TableColumn]
    widths: Sequence[int]

    def draw(self) -> "Table":
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        # A table that is wider than the terminal keeps its width.
        total = sum(self.widths) + _BETWEEN * (len(self.widths) - 1)
        table.width = total if total > _terminal_width() else None
        for column, width in zip(self.columns, self.widths, strict=True):
            table.add_column(
                column.head,
                justify="right" if column.right else "left",
                no_wrap=not column.folds,
                overflow="fold",
                min_width=width,
                max_width=width if column.folds else None,
                style=column.style,
                header_style="bold",
            )
        for row in zip(*(column.cells for column in self.columns), strict=True):
            table.add_row(*map(_text_of, row))
        return table


def _text_of(cell: str) -> "Text":
    """Return a cell: the first line as it is, the details below it dimmed."""
    from rich.text import Text

    first, *details = map(visible_text, cell.split("\n"))
    text = Text(first)
    for line in details:
        text.append(f"\n{line}", style="yellow" if line.startswith(_MISSING) else "dim")
    return text


def _console(file: Any) -> "Console":
    from rich.console import Console

    return Console(file=file, width=_terminal_width(), highlight=False, markup=False)


def _terminal_width() -> int:
    return shutil.get_terminal_size((80, 24)).columns


def _fitting(
    columns: Sequence[TableColumn], available: int, needed: int
) -> tuple[list[TableColumn], list[str]]:
    """Return the columns that fit, and the names of the others; those of a group stay together."""
    groups: dict[object, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.group or index, []).append(index)
    used, shown = -_BETWEEN, set()
    for members in groups.values():
        width = sum(columns[index].width + _BETWEEN for index in members)
        if members[0] < needed or used + width <= available:
            used += width
            shown.update(members)
    fitting = [column for index, column in enumerate(columns) if index in shown]
    left_out = [column for index, column in enumerate(columns) if index not in shown]
    return fitting, [column.title.replace(" ", "_") for column in left_out]


def _column_widths(columns: Sequence[TableColumn], available: int) -> list[int]:
    """Return the width of each column; those that fold get what is left, the last one first."""
    widths = [column.width for column in columns]
    rest = available - sum(widths) - _BETWEEN * (len(columns) - 1)
    for index in reversed(range(len(columns))):
        more = max(0, min(columns[index].widest - widths[index], rest))
        widths[index] += more
        rest -= more
    return widths


def number(value: float | None) -> str:
    """Return a number on the published grid: no trailing zeros, thousands separated.

    Example:
        >>> number(668.0), number(11.333333), number(12345.5), number(None)
        ('668', '11.333333', '12,345.5', '')
    """
    if value is None:
        return ""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) < _SMALLEST:
        return f"{value:.3g}"
    return f"{value:,.6f}".rstrip("0")


def numbers(values: Sequence[float | None]) -> list[str]:
    """Return a column of numbers with equally many decimals, by the largest of them.

    Two from 100 on, four from 1 on, else six; none if all are integers. One that is not 0 and would
    be shown as 0 has the digits that it needs.

    Example:
        >>> numbers([668.0, 11.333333, None]), numbers([0.25, 0.123457]), numbers([3.0, 2.0])
        (['668.00', '11.33', ''], ['0.250000', '0.123457'], ['3', '2'])
        >>> numbers([0.5, 5e-7, 0.0])
        ['0.500000', '5e-07', '0.000000']
    """
    filled = [value for value in values if value is not None]
    largest = max(map(abs, filled), default=0.0)
    places = 2 if largest >= _LARGE else 4 if largest >= 1 else 6
    if all(float(value).is_integer() for value in filled):
        places = 0
    least = 0.5 * 10.0**-places

    def text(value: float) -> str:
        return f"{value:.3g}" if 0 < abs(value) <= least else f"{value:,.{places}f}"

    return ["" if value is None else text(value) for value in values]


def signed_text(value: float) -> str:
    """Return a change with its sign.

    Example:
        >>> signed_text(50.0), signed_text(-0.25), signed_text(0)
        ('+50', '-0.25', '0')
    """
    return f"+{number(value)}" if value > 0 else number(value)


def cell(value: Any) -> str:
    """Return any value of a board as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {cell(part)}" for key, part in value.items() if part)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value)) or "none"
    return str(value)


def names_text(names: Iterable[Any], *, most: int = 5) -> str:
    """Return the first few names and the number of the rest.

    Example:
        >>> names_text(["a", "b", "c"], most=2)
        'a, b and 1 more'
    """
    every = [str(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def refs_text(refs: "RecordRefs", *, most: int = 5) -> str:
    """Return references as text: the first few ids of a table, and the number of the rest.

    Example:
        >>> from agon.kernel.findings import RecordRefs
        >>> refs_text(RecordRefs("votes", ("v1", "v2"), 40))
        'votes: v1, v2 and 38 more'
    """
    ids = refs.ids[:most]
    rest = refs.count - len(ids)
    return f"{refs.table}: {', '.join(ids)}" + (f" and {rest:,} more" if rest > 0 else "")
