"""An explanation as a waterfall chart: each part is a bar from the sum before to the sum after."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from agon.app.charts.markup import document, element, shorten, words
from agon.app.charts.scales import Scale
from agon.kernel.explanations import Explanation, Part

WIDTH: Final = 820.0
MAX_PARTS: Final = 24
"""Maximum number of parts drawn; of more, the last bar is the sum of all the rest."""

_MARGIN = 16.0
_HEAD = 74.0  # title and subtitle
_ROW, _BAR = 44.0, 14.0
_NAMES = 230.0  # the column of names
_POINTS = 76.0  # width of the points after the longest bar
_CUT = 0.1  # share of the other parts' span that is drawn of a much larger first part
_DWARFS = 4
_SMALL = 13 / 12  # how much more small print fits a line
_HALO: Final[dict[str, str | float]] = {
    "paint_order": "stroke",
    "stroke_width": 5,
    "stroke_linejoin": "round",
}
"""Outlines text in the background color, so that it is legible on a line."""


def levels(points: Sequence[float], *, cut: float) -> tuple[list[float], float, float]:
    """Return the sums before, between and after steps, and the smallest and largest to draw.

    A first step much larger than all others (a rating's start) is cut: it begins outside the span
    of the others by ``cut`` times that span, so that they remain visible.

    Example:
        >>> levels([3.0, 1.0, -2.0], cut=0.1)
        ([0.0, 3.0, 4.0, 2.0], 0.0, 4.0)
        >>> levels([1000.0, 6.0, -3.0], cut=0.5)
        ([997.0, 1000.0, 1006.0, 1003.0], 997.0, 1006.0)
    """
    totals = list(accumulate(points, initial=0.0))
    later = totals[1:] or [0.0]
    spread = max(later) - min(later)
    if abs(totals[0] - later[0]) > _DWARFS * spread > 0:
        rises = later[0] > 0
        totals[0] = min(later) - spread * cut if rises else max(later) + spread * cut
    return totals, min(totals), max(totals)


def waterfall(explanation: Explanation, *, under: str) -> str:
    """Return an explanation as SVG: a bar for each part with its reason, and the score.

    Equal explanations give equal text. Names are data: they are escaped, and long ones are
    shortened in the picture but not in its description.

    Args:
        explanation: the explanation; without a score, the parts computed so far are drawn.
        under: name of the edition.
    """
    parts = explanation.first_parts(MAX_PARTS)
    totals, low, high = levels([part.points for part in parts], cut=_CUT)
    x_of = Scale(low, high if high > low else low + 1, _NAMES, WIDTH - _MARGIN - _POINTS)
    foot = _HEAD + _ROW * len(parts)
    height = foot + (0.0 if explanation.score is None else _BAR + 2) + _MARGIN
    place = "unscored" if explanation.rank is None else f"rank {explanation.rank}"
    drawn = [
        element("rect", width=WIDTH, height=height, class_="paper"),
        _text(f"{explanation.id} · {place}", part=1.0, x=_MARGIN, y=30, class_="title ink"),
        _text(f"{explanation.board} · {under}", part=1.0, x=_MARGIN, y=50, class_="small quiet"),
    ]
    zero = x_of(min(max(low, 0.0), high))
    drawn.append(_vertical(zero, _HEAD - 8, height - _MARGIN, "grid"))
    for index, total in enumerate(totals[1:]):
        top = _HEAD + _ROW * index
        drawn.append(_vertical(x_of(total), top + 1, top + 1 + _ROW, "axis rule"))
    for index, (part, (before, after)) in enumerate(zip(parts, pairwise(totals), strict=True)):
        drawn += _row(part, x_of(before), x_of(after), top=_HEAD + _ROW * index)
    if explanation.score is not None:
        drawn += _total(explanation, zero, x_of(totals[-1]), top=foot)
    return document(
        drawn,
        name="why",
        title=f"Why {explanation.id} has this score",
        description=_explanation_text(explanation),
        width=WIDTH,
        height=height,
    )


def _row(part: Part, before: float, after: float, *, top: float) -> Iterator[str]:
    """Yield the elements of a part: name, bar, points, and what is missing or the reason."""
    yield _text(part.name, part=_NAMES / WIDTH, x=_MARGIN, y=top + 12, class_="ink")
    left, right = min(before, after), max(before, after)
    hue = "f0" if part.points >= 0 else "f1"
    if part.points:
        long = max(right - left, 2.0)
        yield element("rect", x=left, y=top + 1, width=long, height=_BAR, class_=hue)
    yield _text(_signed_text(part.points), part=1.0, x=right + 6, y=top + 12.5, class_="ink")
    text = f"→ {part.missing}" if part.missing and not part.points else part.text
    yield _text(text, part=_SMALL, x=_MARGIN, y=top + 29, class_="small quiet edge", **_HALO)


def _total(explanation: Explanation, zero: float, end: float, *, top: float) -> Iterator[str]:
    left, right = min(zero, end), max(zero, end)
    yield _text("score", part=1.0, x=_MARGIN, y=top + 12, class_="panel ink")
    yield element(
        "rect", x=left, y=top + 1, width=max(right - left, 2.0), height=_BAR, class_="f-others"
    )
    total = f"{explanation.score:,.10g}"
    yield _text(total, part=1.0, x=right + 6, y=top + 12.5, class_="panel ink")


def _vertical(x: float, y1: float, y2: float, css_class: str) -> str:
    return element("line", x1=x, y1=y1, x2=x, y2=y2, class_=css_class)


def _explanation_text(explanation: Explanation) -> str:
    """Return the explanation in words, for screen readers."""
    parts = [f"{part.name} {_signed_text(part.points)}: {part.text}." for part in explanation.parts]
    if explanation.score is None:
        return " ".join([f"No score: {explanation.reason}.", *parts])
    score = f"The score {explanation.score:,.10g} is the sum of {len(parts)} parts."
    return " ".join([score, *parts[:MAX_PARTS]])


def _signed_text(points: float) -> str:
    if math.isclose(points, 0.0):
        return "0"
    return f"{'+' if points > 0 else '−'}{abs(points):,.10g}"


def _text(text: str, *, part: float, **attributes: str | float) -> str:
    """Return text for a part of the picture's width, shortened where it is longer."""
    pixels = part * (WIDTH - 2 * _MARGIN) - (8 if part < 1 else 0)
    return element("text", [words(shorten(text, max_width=pixels))], **attributes)
