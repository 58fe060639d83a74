"""A score over time: a step line, and a point that is a link for each step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agon.app.charts.markup import document, element, number, shorten, words
from agon.app.charts.scales import Scale, ticks

WIDTH: Final = 640.0
HEIGHT: Final = 240.0

_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 16.0, 12.0, 28.0
_GAP = 150.0  # between the labels of two times


@dataclass(frozen=True)
class Point:
    """A step.

    Attributes:
        at: its time.
        value: the score from then on.
        text: what it is, and its cause.
        address: where it leads to.
    """

    at: datetime
    value: float
    text: str
    address: str


def timeline(points: Sequence[Point], *, name: str, title: str) -> str:
    """Return points as SVG for a page that has the styles.

    Args:
        points: at least one, in the order of time.
        name: prefix of its ids.
        title: what the line is.
    """
    along, up = scales(points)
    return document(
        [*_axes(along, up), _line(points, along, up), *_points(points, along, up)],
        name=name,
        title=title,
        description=f"{title}: {len(points)} steps, from {points[0].value:,.10g} on "
        f"{points[0].at:%Y-%m-%d} to {points[-1].value:,.10g} on {points[-1].at:%Y-%m-%d}.",
        width=WIDTH,
        height=HEIGHT,
        is_part=True,
        role="group",  # its points are links
    )


def scales(points: Sequence[Point]) -> tuple[Scale, Scale]:
    """Return the scale of times, in seconds, and that of values."""
    times = [point.at.timestamp() for point in points]
    values = [point.value for point in points]
    room = (max(values) - min(values)) * 0.05 or 1.0
    return (
        Scale(times[0], times[-1], _LEFT + 8, WIDTH - _RIGHT),
        Scale(min(values) - room, max(values) + room, HEIGHT - _BOTTOM, _TOP),
    )


def _axes(along: Scale, up: Scale) -> Iterator[str]:
    for value in ticks(up.low, up.high, most=5):
        y = up(value)
        yield element("line", x1=_LEFT, y1=y, x2=WIDTH - _RIGHT, y2=y, class_="grid")
        label = shorten(f"{value:,.10g}", max_width=_LEFT)
        yield element("text", [words(label)], x=_LEFT - 8, y=y + 4, class_="quiet",
                      text_anchor="end")  # fmt: skip
    first, last = (datetime.fromtimestamp(end, UTC) for end in (along.low, along.high))
    form = "%Y-%m-%d %H:%M" if first.date() == last.date() else "%Y-%m-%d"
    y = HEIGHT - 8
    if first == last:
        yield element("text", [f"{first:{form}}"], x=along(along.low), y=y, class_="quiet",
                      text_anchor="middle")  # fmt: skip
        return
    yield element("text", [f"{first:{form}}"], x=along.start, y=y, class_="quiet")
    if along.end - along.start > 2 * _GAP:
        yield element("text", [f"{last:{form}}"], x=along.end, y=y, class_="quiet",
                      text_anchor="end")  # fmt: skip


def _line(points: Sequence[Point], along: Scale, up: Scale) -> str:
    drawn, *others = points
    path = f"M{number(along(drawn.at.timestamp()))} {number(up(drawn.value))}" + "".join(
        f"H{number(along(point.at.timestamp()))}V{number(up(point.value))}" for point in others
    )
    return element("path", d=path, class_="line s0")


def _points(points: Sequence[Point], along: Scale, up: Scale) -> Iterator[str]:
    for point in points:
        dot = element("circle", [element("title", [words(point.text)])],
                      cx=along(point.at.timestamp()), cy=up(point.value), r=5,
                      class_="f0 edge")  # fmt: skip
        yield element("a", [dot], href=point.address, aria_label=point.text)
