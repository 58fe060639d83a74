"""A histogram: one bar for each bin, with its number of values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agon.app.charts.markup import document, element, words
from agon.app.charts.scales import Scale

WIDTH: Final = 440.0

_ROW, _BAR = 22.0, 16.0
_NAMES = 124.0
_COUNTS = 110.0
_MARGIN = 4.0


@dataclass(frozen=True)
class HistogramBin:
    """A bin.

    Attributes:
        label: its range.
        n: how many values it has.
        note: what is special about it; it is drawn in another color, with the note behind its
            number.
    """

    label: str
    n: int
    note: str = ""


def histogram(bins: Sequence[HistogramBin], *, name: str, title: str) -> str:
    """Return bins as SVG for a page that has the styles: a bar for each, as long as its number.

    Args:
        bins: at least one, in rising order.
        name: prefix of its ids.
        title: what is counted.

    Example:
        >>> drawn = histogram([HistogramBin("0 to 5", 2), HistogramBin("5 to 10", 1)], name="h",
        ...                   title="Scores")
        >>> "Scores. 0 to 5: 2, 5 to 10: 1." in drawn
        True
    """
    x_of = Scale(0.0, max(1, *(each.n for each in bins)), _NAMES, WIDTH - _COUNTS)
    parts = []
    for index, each in enumerate(bins):
        top = _MARGIN + _ROW * index
        hue, base = ("f1" if each.note else "f0"), top + 13
        parts.append(
            element("text", [words(each.label)], x=_NAMES - 8, y=base, class_="quiet",
                    text_anchor="end")
        )  # fmt: skip
        parts.append(
            element("rect", x=_NAMES, y=top, width=x_of(each.n) - _NAMES, height=_BAR, class_=hue)
        )
        count = f"{each.n:,}" + (f" · {each.note}" if each.note else "")
        parts.append(element("text", [words(count)], x=x_of(each.n) + 6, y=base, class_="ink"))
    listed = ", ".join(
        f"{each.label}: {each.n:,}" + (f" ({each.note})" if each.note else "") for each in bins
    )
    return document(
        parts,
        name=name,
        title=title,
        description=f"{title}. {listed}.",
        width=WIDTH,
        height=2 * _MARGIN + _ROW * len(bins),
        is_part=True,
    )
