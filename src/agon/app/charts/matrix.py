"""Win rates of every pair as a matrix of colored cells."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agon.app.charts.markup import document, element, shorten, words

MAX_NAMES: Final = 20
"""Maximum number of participants drawn: the best ones."""

_EVEN: Final = 0.5
_MARGIN, _HEAD, _NAMES, _CELL = 16.0, 74.0, 150.0, 38.0


def win_matrix(
    names: Sequence[str],
    matches: Mapping[tuple[str, str], tuple[float, int]],
    *,
    title: str,
    subtitle: str,
) -> str:
    """Return a matrix as SVG: in each row, how often its participant beat that of the column.

    Args:
        names: the participants, best first.
        matches: for (row, column): points taken (a tie is half a point) and number of matches.
        title: one line.
        subtitle: one line of smaller print.

    Example:
        >>> text = win_matrix(["ann", "bob"], {("ann", "bob"): (1.5, 2)}, title="", subtitle="")
        >>> "ann against bob: 75 % of 2" in text
        True
    """
    drawn = list(names[:MAX_NAMES])
    more = f" · the first {len(drawn)} of {len(names):,}" if len(names) > len(drawn) else ""
    side = _NAMES + _CELL * len(drawn)
    width = max(side + _MARGIN, 520.0)
    height = _HEAD + _CELL * (len(drawn) + 1) + _MARGIN
    parts = [
        element("rect", width=width, height=height, class_="paper"),
        _text(title, x=_MARGIN, y=30, class_="title ink"),
        _text(subtitle + more, x=_MARGIN, y=50, class_="small quiet"),
    ]
    top = _HEAD + _CELL
    for index, name in enumerate(drawn):
        center = _CELL * (index + 0.5)
        label = f"{index + 1} {name}"
        parts += [
            _text(shorten(label, max_width=_NAMES - 2 * _MARGIN), x=_MARGIN, y=top + center + 4.5,
                  class_="ink"),
            _text(str(index + 1), x=_NAMES + center, y=top - 10, class_="small quiet",
                  text_anchor="middle"),
        ]  # fmt: skip
        parts += _row(name, drawn, matches, y=top + _CELL * index)
    described = [
        f"{first} against {second}: {100 * points / count:.0f} % of {count}"
        for (first, second), (points, count) in matches.items()
        if count and first in drawn and second in drawn
    ]
    return document(
        parts,
        name="wins",
        title=title,
        description="; ".join(described),
        width=width,
        height=height,
    )


def _row(
    name: str,
    names: Sequence[str],
    matches: Mapping[tuple[str, str], tuple[float, int]],
    *,
    y: float,
) -> Iterator[str]:
    for index, other in enumerate(names):
        points, count = matches.get((name, other), (0.0, 0))
        if not count:
            continue
        rate = points / count
        x = _NAMES + _CELL * index
        yield element(
            "rect",
            [element("title", [words(f"{name} against {other}: {points:g} of {count}")])],
            x=x + 1,
            y=y + 1,
            width=_CELL - 2,
            height=_CELL - 2,
            class_="f0" if rate >= _EVEN else "f1",
            fill_opacity=0.12 + 1.2 * abs(rate - _EVEN),
        )
        yield _text(
            f"{100 * rate:.0f}", x=x + _CELL / 2, y=y + _CELL / 2 + 4.5, class_="small ink",
            text_anchor="middle",
        )  # fmt: skip


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
