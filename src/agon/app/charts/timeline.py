"""A score over time: a step line, and a point that is a link for each step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agon.app.charts.markup import NARROW_WIDTH, document, element, number, width, words
from agon.app.charts.scales import Scale, ticks

WIDTH: Final = 640.0
HEIGHT: Final = 240.0

_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 16.0, 12.0, 28.0
_NARROW_LEFT = 48.0
_BESIDE = 16.0  # around the labels of values

_DIGITS: Final = 10
"""Significant digits of a label, unless two would be equal."""

_FORMS: Final = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")
"""Forms of times, the shortest first."""


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


def timeline(
    points: Sequence[Point], *, name: str, title: str, narrow: bool = False, percent: bool = False
) -> str:
    """Return points as SVG for a page that has the styles.

    Args:
        points: at least one, in the order of time.
        name: prefix of its ids.
        title: what the line is.
        narrow: whether it is laid out for a phone.
        percent: whether the values are shares, which are labeled in percent.
    """
    x_of, y_of = scales(points, narrow=narrow, percent=percent)
    labels = _value_labels(y_of, percent=percent)
    first, last = (_label(points[at].value, percent=percent) for at in (0, -1))
    return document(
        [*_axes(x_of, y_of, labels), _line(points, x_of, y_of), *_points(points, x_of, y_of)],
        name=f"{name}-narrow" if narrow else name,
        title=title,
        description=f"{title}: {len(points)} steps, from {first} on "
        f"{points[0].at:%Y-%m-%d} to {last} on {points[-1].at:%Y-%m-%d}.",
        width=NARROW_WIDTH if narrow else WIDTH,
        height=HEIGHT,
        is_part=True,
        role="group",  # its points are links
    )


def scales(
    points: Sequence[Point], *, narrow: bool = False, percent: bool = False
) -> tuple[Scale, Scale]:
    """Return the scale of times, in seconds, and that of values."""
    times = [point.at.timestamp() for point in points]
    values = [point.value for point in points]
    room = (max(values) - min(values)) * 0.05 or 1.0
    y_of = Scale(min(values) - room, max(values) + room, HEIGHT - _BOTTOM, _TOP)
    labels = _value_labels(y_of, percent=percent)
    left = max(
        [_NARROW_LEFT if narrow else _LEFT, *(width(label) + _BESIDE for _, label in labels)]
    )
    end = (NARROW_WIDTH if narrow else WIDTH) - _RIGHT
    return Scale(times[0], times[-1], left + 8, end), y_of


def end_labels(first: datetime, last: datetime) -> tuple[str, str]:
    """Return two times as texts that differ, as short as they can: days, minutes, or less.

    Example:
        >>> end_labels(datetime(2026, 1, 1, 9), datetime(2026, 1, 2, 7))
        ('2026-01-01', '2026-01-02')
        >>> end_labels(datetime(2026, 1, 1, 9, 0, 5), datetime(2026, 1, 1, 9, 0, 7))
        ('2026-01-01 09:00:05', '2026-01-01 09:00:07')
    """
    for form in _FORMS:
        labels = f"{first:{form}}", f"{last:{form}}"
        if labels[0] != labels[1]:
            break
    return labels


def _value_labels(y_of: Scale, *, percent: bool) -> list[tuple[float, str]]:
    """Return the ticks of the values, each with a label that no other one has."""
    values = ticks(y_of.low, y_of.high, most=5)
    short = [_label(value, percent=percent) for value in values]
    labels = short if len({*short}) == len(values) else [f"{value:,}" for value in values]
    return list(zip(values, labels, strict=True))


def _label(value: float, *, percent: bool) -> str:
    return f"{100 * value:,.{_DIGITS}g} %" if percent else f"{value:,.{_DIGITS}g}"


def _axes(x_of: Scale, y_of: Scale, labels: Sequence[tuple[float, str]]) -> Iterator[str]:
    left = x_of.start - 8
    for value, label in labels:
        y = y_of(value)
        yield element("line", x1=left, y1=y, x2=x_of.end, y2=y, class_="grid")
        yield element("text", [words(label)], x=left - 8, y=y + 4, class_="quiet",
                      text_anchor="end")  # fmt: skip
    first, last = (datetime.fromtimestamp(end, UTC) for end in (x_of.low, x_of.high))
    y = HEIGHT - 8
    if first == last:
        yield element("text", [f"{first:{_FORMS[1]}}"], x=x_of(x_of.low), y=y, class_="quiet",
                      text_anchor="middle")  # fmt: skip
        return
    before, after = end_labels(first, last)
    yield element("text", [before], x=x_of.start, y=y, class_="quiet")
    yield element("text", [after], x=x_of.end, y=y, class_="quiet", text_anchor="end")


def _line(points: Sequence[Point], x_of: Scale, y_of: Scale) -> str:
    drawn, *others = points
    path = f"M{number(x_of(drawn.at.timestamp()))} {number(y_of(drawn.value))}" + "".join(
        f"H{number(x_of(point.at.timestamp()))}V{number(y_of(point.value))}" for point in others
    )
    return element("path", d=path, class_="line s0")


def _points(points: Sequence[Point], x_of: Scale, y_of: Scale) -> Iterator[str]:
    for point in points:
        dot = element("circle", [element("title", [words(point.text)])],
                      cx=x_of(point.at.timestamp()), cy=y_of(point.value), r=5,
                      class_="f0 edge")  # fmt: skip
        yield element("a", [dot], href=point.address, aria_label=point.text)
