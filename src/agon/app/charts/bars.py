"""Numbers as horizontal bars, in groups: one bar for each thing that is compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agon.app.charts.markup import document, element, shorten, words
from agon.app.charts.scales import Scale, ticks

WIDTH: Final = 820.0

_MARGIN = 16.0
_HEAD, _BAR, _GAP, _FOOT = 96.0, 16.0, 12.0, 40.0
_NAMES = 190.0
_VALUES = 130.0  # room for the text behind the longest bar
_SWATCH, _ASIDE = 10.0, 16.0
_BASELINE = 12.0


@dataclass(frozen=True)
class BarGroup:
    """Bars that stand together.

    Attributes:
        name: its label.
        values: one for each thing that is compared; None: no bar.
        texts: what stands behind each bar.
    """

    name: str
    values: Sequence[float | None]
    texts: Sequence[str]


def bar_chart(
    groups: Sequence[BarGroup],
    *,
    series: Sequence[str],
    name: str,
    title: str,
    subtitle: str,
    is_part: bool = False,
) -> str:
    """Return groups of bars as SVG; all values are 0 or more.

    Args:
        groups: from top to bottom.
        series: what is compared; each has a color, and a bar in every group.
        name: prefix of its ids.
        title: one line.
        subtitle: one line of smaller print.
        is_part: whether it is part of a page, which has the styles.

    Example:
        >>> group = BarGroup("ring", [2.5, None], ["$2.50", "not reached"])
        >>> chart = bar_chart([group], series=["old", "new"], name="a", title="", subtitle="")
        >>> "ring: old $2.50, new not reached" in chart
        True
    """
    highest = max((v for group in groups for v in group.values if v is not None), default=0.0)
    x_of = Scale(0.0, highest or 1.0, _NAMES, WIDTH - _MARGIN - _VALUES)
    tall = _BAR * len(series) + _GAP
    bottom = _HEAD + tall * len(groups)
    parts = [
        element("rect", width=WIDTH, height=bottom + _FOOT, class_="paper"),
        _text(title, x=_MARGIN, y=30, class_="title ink"),
        _text(subtitle, x=_MARGIN, y=50, class_="small quiet"),
        *_legend(series),
        *_axis(x_of, bottom),
    ]
    for index, group in enumerate(groups):
        parts += _group(group, x_of, _HEAD + tall * index)
    return document(
        parts,
        name=name,
        title=title,
        description="; ".join(_group_text(group, series) for group in groups),
        width=WIDTH,
        height=bottom + _FOOT,
        is_part=is_part,
    )


def _legend(series: Sequence[str]) -> Iterator[str]:
    room = (WIDTH - 2 * _MARGIN) / max(len(series), 1)
    for index, label in enumerate(series):
        x = _MARGIN + index * room
        yield element("rect", x=x, y=66, width=_SWATCH, height=_SWATCH, class_=f"f{index}")
        yield _text(shorten(label, max_width=room - 2 * _ASIDE), x=x + _ASIDE, y=75, class_="ink")


def _axis(x_of: Scale, bottom: float) -> Iterator[str]:
    for value in ticks(x_of.low, x_of.high, most=6):
        x = x_of(value)
        yield element("line", x1=x, y1=_HEAD - 6, x2=x, y2=bottom, class_="grid")
        yield _text(f"{value:,g}", x=x, y=bottom + 18, class_="small quiet", text_anchor="middle")


def _group(group: BarGroup, x_of: Scale, top: float) -> Iterator[str]:
    middle = top + _BAR * len(group.values) / 2 + 4.5
    name = shorten(group.name, max_width=_NAMES - 2 * _MARGIN)
    yield _text(name, x=_NAMES - 10, y=middle, class_="ink", text_anchor="end")
    for index, (value, text) in enumerate(zip(group.values, group.texts, strict=True)):
        y, end = top + index * _BAR, x_of(value or 0.0)
        if value is not None:
            long = max(end - x_of.start, 1.0)
            yield element(
                "rect", x=x_of.start, y=y + 1, width=long, height=_BAR - 2, class_=f"f{index}"
            )
        yield _text(text, x=end + 6, y=y + _BASELINE, class_="small quiet")


def _group_text(group: BarGroup, series: Sequence[str]) -> str:
    bars = ", ".join(f"{label} {text}" for label, text in zip(series, group.texts, strict=True))
    return f"{group.name}: {bars}"


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
