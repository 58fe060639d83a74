"""Power of checks over their false alarms (ROC): a small panel for each check and attack."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agon.app.charts.figure import HUES
from agon.app.charts.markup import document, element, number, shorten, words
from agon.app.charts.scales import Scale, ticks

WIDTH: Final = 820.0
COLUMNS: Final = 3

_MARGIN = 16.0
_HEAD, _TITLES, _PLOT, _FOOT = 66.0, 38.0, 120.0, 34.0
_LEFT = 34.0
_CELL = (WIDTH - _MARGIN) / COLUMNS
_LEAST = 0.02  # the x axis ends here at least
_MAX_LABEL = 70.0


@dataclass(frozen=True)
class RocCurve:
    """The points of one check at one number of actions: false alarms and power, both 0 to 1."""

    label: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class RocPanel:
    """What one check makes of one attack."""

    finding: str
    attack: str
    curves: Sequence[RocCurve]


def roc_chart(
    panels: Sequence[RocPanel], *, name: str, title: str, subtitle: str, is_part: bool = False
) -> str:
    """Return the panels as SVG; all have the same axes, and curves that end in one point one label.

    Args:
        panels: row by row.
        name: prefix of its ids.
        title: one line.
        subtitle: one line of smaller print.
        is_part: whether it is part of a page, which has the styles.

    Example:
        >>> panel = RocPanel("ring", "five judges", [RocCurve("10", [(0.01, 0.9)])])
        >>> chart = roc_chart([panel], name="a", title="", subtitle="")
        >>> "ring against five judges: 10: power 0.9 at 0.01" in chart
        True
    """
    points = [point for panel in panels for curve in panel.curves for point in curve.points]
    most = max(_LEAST, *(x for x, _ in points), 0.0)
    tall = _TITLES + _PLOT + _FOOT
    height = _HEAD + tall * -(-len(panels) // COLUMNS)
    parts = [
        element("rect", width=WIDTH, height=height, class_="paper"),
        _text(title, x=_MARGIN, y=30, class_="title ink"),
        _text(subtitle, x=_MARGIN, y=50, class_="small quiet"),
    ]
    for index, panel in enumerate(panels):
        left = _MARGIN + index % COLUMNS * _CELL
        parts += _panel(panel, left, _HEAD + index // COLUMNS * tall, most)
    return document(
        parts,
        name=name,
        title=title,
        description="; ".join(map(_panel_text, panels)),
        width=WIDTH,
        height=height,
        is_part=is_part,
    )


def _panel(panel: RocPanel, left: float, top: float, most: float) -> Iterator[str]:
    room = _CELL - _MARGIN
    yield _text(shorten(panel.finding, max_width=0.9 * room), x=left, y=top + 14,
                class_="panel ink")  # fmt: skip
    yield _text(shorten(panel.attack, max_width=room), x=left, y=top + 29, class_="small quiet")
    x_of = Scale(0.0, most, left + _LEFT, left + room - _MAX_LABEL)
    y_of = Scale(0.0, 1.0, top + _TITLES + _PLOT, top + _TITLES)
    for value in ticks(0.0, 1.0, most=3):
        yield element("line", x1=x_of.start, y1=y_of(value), x2=x_of.end, y2=y_of(value),
                      class_="grid")  # fmt: skip
        yield _text(f"{value:g}", x=x_of.start - 6, y=y_of(value) + 4, class_="small quiet",
                    text_anchor="end")  # fmt: skip
    for value in ticks(0.0, most, most=3):
        yield _text(f"{value:g}", x=x_of(value), y=y_of.start + 16, class_="small quiet",
                    text_anchor="middle")  # fmt: skip
    labels: dict[tuple[float, float], list[str]] = {}
    for index, curve in enumerate(panel.curves):
        hue = f"s{index % HUES}"
        places = [f"{number(x_of(x))} {number(y_of(y))}" for x, y in sorted(curve.points)]
        if len(places) > 1:
            yield element("path", d="M" + "L".join(places), class_=f"line {hue}")
        for place in places:
            yield element("path", d=f"M{place}h0", class_=f"dot {hue}")
        x, y = max(curve.points)
        labels.setdefault((x_of(x) + 8, y_of(y) + 4.5), []).append(curve.label)
    for (x, y), texts in labels.items():
        label = shorten(", ".join(filter(None, texts)), max_width=_MAX_LABEL)
        yield _text(label, x=x, y=y, class_="small quiet")


def _panel_text(panel: RocPanel) -> str:
    curves = "; ".join(
        f"{curve.label}: " + ", ".join(f"power {y:g} at {x:g}" for x, y in curve.points)
        for curve in panel.curves
    )
    return f"{panel.finding} against {panel.attack}: {curves}"


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
