"""Scores as points with their intervals, one row for each participant."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from agon.app.charts.markup import NARROW_WIDTH, WIDTH, document, element, number, shorten, words
from agon.app.charts.scales import Scale, ticks

MAX_ROWS: Final = 40
"""Maximum number of rows drawn: the best ones; the subtitle says how many there are."""

_MARGIN = 16.0
_HEAD, _ROW, _FOOT = 74.0, 24.0, 40.0
_PART_HEAD = 10.0
_NAMES, _NARROW_NAMES = 190.0, 140.0
_BESIDE, _PART_MARGIN = 10.0, 2.0  # between names and axis; left of names on a page
_VALUES, _NARROW_VALUES = 96.0, 56.0  # room for the score behind the longest interval
_TIER = 40.0  # room for the tier, which a wide chart has anyhow
_TICKS, _NARROW_TICKS = 6, 2


@dataclass(frozen=True)
class _Layout:
    """Where names end, where the axis lies, and how wide everything is."""

    along: Scale
    names: float
    width: float
    ticks: int


def interval_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    total: int,
    title: str,
    subtitle: str,
    name: str = "intervals",
    address: Callable[[str], str] | None = None,
    narrow: bool = False,
) -> str:
    """Return rows of a board as SVG: the score as a point, ``low`` to ``high`` as a line.

    Where a row has another tier than the one above, a line with its number divides them.

    Args:
        rows: with ``id``, ``score`` and, where there are intervals, ``low`` and ``high``; ``name``
            is shown in place of the id, and ``tier`` is the group of ranks.
        total: number of rows there are.
        title: one line.
        subtitle: one line of smaller print.
        name: prefix of its ids.
        address: returns where a participant's name leads to, for a page that has the styles and
            states title and subtitle itself; None: it is a document of its own.
        narrow: whether it is laid out for a phone.

    Example:
        >>> row = {"id": "ann", "score": 1010.0, "low": 990.0, "high": 1030.0}
        >>> "ann: 1,010 (990 to 1,030)" in interval_chart([row], total=1, title="", subtitle="")
        True
    """
    drawn = list(rows[:MAX_ROWS])
    ends = [end for row in drawn for end in _ends(row)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    tiers = any(row.get("tier") is not None for row in drawn)
    layout = _layout(low, high if high > low else low + 1, narrow=narrow, tiers=tiers)
    is_part = address is not None
    head = _PART_HEAD if is_part else _HEAD
    bottom = head + _ROW * len(drawn)
    parts = list(_axis(layout, head, bottom))
    if not is_part:
        more = f" · the first {len(drawn)} of {total:,}" if total > len(drawn) else ""
        parts = [
            element("rect", width=layout.width, height=bottom + _FOOT, class_="paper"),
            _text(title, x=_MARGIN, y=30, class_="title ink"),
            _text(subtitle + more, x=_MARGIN, y=50, class_="small quiet"),
            *parts,
        ]
    parts += _tiers(drawn, head, layout.width)
    for index, (row, score) in enumerate(zip(drawn, _score_texts(drawn), strict=True)):
        parts += _row(row, score, layout, head + _ROW * (index + 0.5), address)
    return document(
        parts,
        name=f"{name}-narrow" if narrow else name,
        title=title,
        description=None if is_part else "; ".join(map(_row_text, drawn)),
        width=layout.width,
        height=bottom + _FOOT,
        is_part=is_part,
        role="group" if is_part else "img",  # its names are links
    )


def _layout(low: float, high: float, *, narrow: bool, tiers: bool) -> _Layout:
    if not narrow:
        return _Layout(Scale(low, high, _NAMES, WIDTH - _MARGIN - _VALUES), _NAMES, WIDTH, _TICKS)
    end = NARROW_WIDTH - _NARROW_VALUES - (_TIER if tiers else 0.0)
    return _Layout(Scale(low, high, _NARROW_NAMES, end), _NARROW_NAMES, NARROW_WIDTH, _NARROW_TICKS)


def _tiers(rows: Sequence[Mapping[str, Any]], head: float, width: float) -> Iterator[str]:
    """Yield a line above each row that begins a tier, with the tier's number at its end."""
    for index, (above, row) in enumerate(pairwise([{}, *rows])):
        tier = row.get("tier")
        if tier is None or tier == above.get("tier"):
            continue
        y = head + _ROW * index
        if index:
            yield element("line", x1=_MARGIN, y1=y, x2=width - _MARGIN, y2=y, class_="axis rule")
        yield _text(f"tier {tier}", x=width, y=y + _ROW / 2 + 4.5, class_="small quiet",
                    text_anchor="end")  # fmt: skip


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends that the axis has to hold; an open end needs none."""
    score = float(row["score"])
    low, high = (row.get(name) for name in ("low", "high"))
    return (score if low is None else float(low), score if high is None else float(high))


def _axis(layout: _Layout, head: float, bottom: float) -> Iterator[str]:
    x_of = layout.along
    for value in ticks(x_of.low, x_of.high, most=layout.ticks):
        x = x_of(value)
        yield element("line", x1=x, y1=head - 6, x2=x, y2=bottom, class_="grid")
        yield _text(f"{value:,g}", x=x, y=bottom + 18, class_="small quiet", text_anchor="middle")


def _row(
    row: Mapping[str, Any],
    score: str,
    layout: _Layout,
    y: float,
    address: Callable[[str], str] | None,
) -> Iterator[str]:
    x_of = layout.along
    margin = _MARGIN if address is None else _PART_MARGIN
    name = shorten(_name(row), max_width=layout.names - _BESIDE - margin)
    place = {"x": layout.names - _BESIDE, "y": y + 4.5}
    if address is None:
        yield _text(name, **place, class_="ink", text_anchor="end", unicode_bidi="isolate")
    else:
        label = _text(name, **place, class_="ink end")
        yield element("a", [label], href=address(row["id"]), aria_label=_row_text(row))
    end = x = x_of(float(row["score"]))
    if "low" in row:
        low, end = (
            edge if value is None else x_of(float(value))  # an open end has no end
            for value, edge in ((row["low"], x_of.start), (row["high"], x_of.end))
        )
        yield element("path", d=f"M{number(low)} {number(y)}H{number(end)}", class_="line s0")
    yield element("path", d=f"M{number(x)} {number(y)}h0", class_="dot s0")
    yield _text(score, x=max(x, end) + 9, y=y + 4.5, class_="small quiet")


def _score_texts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the scores with as many decimals as five digits leave the longest one."""
    texts = [f"{row['score']:,.5g}" for row in rows]
    if any("e" in text for text in texts) or all("." not in text for text in texts):
        return texts
    largest = max(abs(row["score"]) for row in rows)
    decimals = len(f"{largest:#.5g}".partition(".")[2])
    return [f"{row['score']:,.{decimals}f}" for row in rows]


def _name(row: Mapping[str, Any]) -> str:
    return str(row.get("name") or row["id"])


def _row_text(row: Mapping[str, Any]) -> str:
    return f"{_name(row)}: {row['score']:,.5g}{_interval_text(row)}"


def _interval_text(row: Mapping[str, Any]) -> str:
    low, high = (row.get(name) for name in ("low", "high"))
    if low is not None and high is not None:
        return f" ({low:,.5g} to {high:,.5g})"
    if low is not None:
        return f" (≥ {low:,.5g})"
    return "" if high is None else f" (≤ {high:,.5g})"


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
