"""A score over time as a line without axes, in the size of a line of text."""

from collections.abc import Sequence
from typing import Final

from agon.app.charts.markup import element, number
from agon.app.charts.scales import Scale

WIDTH: Final = 120.0
HEIGHT: Final = 24.0
_MARGIN: Final = 2.0


def sparkline(steps: Sequence[tuple[float, float]], *, label: str) -> str:
    """Return a step line as SVG for a page that has the styles.

    Args:
        steps: time and value from then on, at least one, in the order of time.
        label: what it shows, for screen readers.
    """
    x_of, y_of = scales(steps)
    (begin, first), *others = steps
    path = f"M{number(x_of(begin))} {number(y_of(first))}" + "".join(
        f"H{number(x_of(step))}V{number(y_of(value))}" for step, value in others
    )
    return element(
        "svg",
        [element("path", d=path, class_="line s0")],
        class_="sparkline",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label=label,
    )


def scales(steps: Sequence[tuple[float, float]]) -> tuple[Scale, Scale]:
    """Return the scale of times and that of values."""
    values = [value for _, value in steps]
    return (
        Scale(steps[0][0], steps[-1][0], _MARGIN, WIDTH - _MARGIN),
        Scale(min(values), max(values), HEIGHT - _MARGIN, _MARGIN),
    )
