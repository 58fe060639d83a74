"""Draw a figure: lay out its panels, then axes, bands, lines, marks and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from agon.app.charts.figure import BURNED, Figure, Mark, Panel, Series
from agon.app.charts.markup import element, number, shortened, style, width, words
from agon.app.charts.scales import Scale, spread, ticks

WIDTH = 820.0
_LEFT = 58.0
_HEAD = 66.0  # title and subtitle
_FOOT = 20.0
_TALL, _SHORT = 300.0, 150.0  # a panel alone, or one of several
_TICKS = 22.0  # room for the words below the x axis
_LINE = 18.0  # from label to label, and for a line of words
_ASIDE = 30.0  # from the plot's edge to the words of a label
_WIDEST = 210.0  # the widest label
_SWATCH = 10.0
_MOST_TICKS, _BETWEEN = 9, 30.0  # along x, and the least room from word to word
_NEAR = 60.0  # an upright rule this close to the edge has its words on the other side


@dataclass(frozen=True)
class _Plot:
    """A panel with the scales of its axes."""

    panel: Panel
    x: Scale
    y: Scale

    @property
    def bands(self) -> list[Series]:
        return [one for one in self.panel.series if one.look == "area"]

    @property
    def lines(self) -> list[Series]:
        return [one for one in self.panel.series if one.look != "area"]


def svg(figure: Figure) -> str:
    """Return a figure as SVG.

    Equal figures give equal text. Names are data: they are escaped, and long ones are shortened in
    the picture but not in its description.
    """
    labels = [one.name for panel in figure.panels for one in panel.series]
    aside = min(_WIDEST, max(map(width, labels), default=0.0))
    plots = list(_laid_out(figure, right=WIDTH - aside - _ASIDE - 8))
    height = plots[-1].y.start + _TICKS + _LINE + _FOOT if plots else _HEAD + _FOOT
    parts = [
        element("title", [words(figure.title)], id=f"{figure.name}-title"),
        element("desc", [words(figure.description)], id=f"{figure.name}-desc"),
        style(),
        _hatching(figure.name),
        element("rect", width=WIDTH, height=height, class_="paper"),
        _text(figure.title, x=16, y=30, class_="title ink"),
        _text(figure.subtitle, x=16, y=50, class_="small quiet"),
        *(part for plot in plots for part in _drawn(plot, figure.name)),
    ]
    if plots:
        middle = (plots[-1].x.start + plots[-1].x.end) / 2
        below = plots[-1].y.start + _TICKS + _LINE
        parts.append(
            _text(figure.x_title, x=middle, y=below, class_="small quiet", text_anchor="middle")
        )
    return element(
        "svg",
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(WIDTH)} {number(height)}",
        width=WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{figure.name}-title {figure.name}-desc",
    )


def _laid_out(figure: Figure, *, right: float) -> Iterator[_Plot]:
    """Yield the plot of each panel, from top to bottom."""
    tall = _TALL if len(figure.panels) == 1 else _SHORT
    top = _HEAD
    for panel in figure.panels:
        top += _LINE * (bool(panel.title) + bool(panel.marks)) + 6
        low, high = panel.x[0], panel.x[-1]
        if any(one.look == "area" for one in panel.series):
            edges = _edges(panel.x)
            low, high = edges[0], edges[-1]
        bottom = top + tall
        yield _Plot(panel, Scale(low, high, _LEFT, right), Scale(0.0, panel.top, bottom, top))
        top = bottom + _TICKS + _LINE


def _drawn(plot: _Plot, name: str) -> Iterator[str]:
    """Yield the elements of one panel, back to front."""
    if plot.panel.title:
        above = plot.y.end - 8 - _LINE * bool(plot.panel.marks)
        title = shortened(plot.panel.title, room=0.9 * (WIDTH - _LEFT))  # bold words are wider
        yield _text(title, x=_LEFT, y=above, class_="panel ink")
    yield from _axes(plot)
    yield from _stacked(plot, name)
    yield from (_line(plot, one) for one in plot.lines)
    for mark in plot.panel.marks:
        yield from _mark(plot, mark)
    yield from _labels(plot, name)


def _axes(plot: _Plot) -> Iterator[str]:
    left, right, bottom = plot.x.start, plot.x.end, plot.y.start
    values = ticks(0.0, plot.panel.top, most=6)
    for value in values:
        y = plot.y(value)
        label = f"{value:g} {plot.panel.unit}" if value == values[-1] else f"{value:g}"
        yield element("line", x1=left, y1=y, x2=right, y2=y, class_="grid")
        yield _text(label, x=left - 8, y=y + 4, class_="small quiet", text_anchor="end")
    yield element("line", x1=left, y1=bottom, x2=right, y2=bottom, class_="axis")
    first, last = plot.panel.x[0], plot.panel.x[-1]
    room = (right - left) / (width(f"{last:,.0f}") + _BETWEEN)
    for value in ticks(first, last, most=max(2, min(_MOST_TICKS, int(room))), whole=True):
        x = plot.x(value)
        yield element("line", x1=x, y1=bottom, x2=x, y2=bottom + 5, class_="axis")
        yield _text(f"{value:,.0f}", x=x, y=bottom + 19, class_="small quiet", text_anchor="middle")


def _stacked(plot: _Plot, name: str) -> Iterator[str]:
    """Draw bands on top of each other; an epoch's share is as wide as the epoch."""
    edges = [number(plot.x(edge)) for edge in _edges(plot.panel.x)]
    floor = [number(plot.y(0.0))] * len(plot.panel.x)
    for heights, band in _sums(plot):
        below, floor = floor, [number(plot.y(height)) for height in heights]
        if floor == below:
            continue
        there = "".join(f"V{y}H{x}" for y, x in zip(floor, edges[1:], strict=True))
        back = "".join(
            f"V{y}H{x}" for y, x in zip(reversed(below), reversed(edges[:-1]), strict=True)
        )
        yield element(
            "path",
            [element("title", [words(band.name)])],
            d=f"M{edges[0]} {below[0]}{there}{back}Z",
            **_inked(band, name),
        )


def _sums(plot: _Plot) -> list[tuple[list[float], Series]]:
    """Return the upper edge of every band with the band."""
    rising = accumulate(
        (list(band.values) for band in plot.bands),
        lambda below, values: [low + value for low, value in zip(below, values, strict=True)],
    )
    return list(zip(rising, plot.bands, strict=True))


def _line(plot: _Plot, one: Series) -> str:
    points = [
        f"{number(plot.x(x))} {number(plot.y(y))}"
        for x, y in zip(plot.panel.x, one.values, strict=True)
    ]
    path = element(
        "path",
        [element("title", [words(one.name)])],
        d="M" + "L".join(points),
        class_=f"{one.look} s{_hue(one)}",
    )
    return path + element("path", d=f"M{points[-1]}h0", class_=f"dot s{_hue(one)}")


def _mark(plot: _Plot, mark: Mark) -> Iterator[str]:
    x, top = plot.x(mark.x), plot.y.end
    yield element("line", x1=x, y1=top - 4, x2=x, y2=plot.y.start, class_="axis rule")
    anchor = "middle"
    if x < plot.x.start + _NEAR:
        anchor = "start"
    elif x > plot.x.end - _NEAR:
        anchor = "end"
    yield _text(mark.text, x=x, y=top - 9, class_="small quiet", text_anchor=anchor)


def _labels(plot: _Plot, name: str) -> Iterator[str]:
    """Write every name beside the end of its line or band, and lead to it."""
    ends = [(plot.y(one.values[-1]), one) for one in plot.lines]
    low = 0.0
    for high, band in _sums(plot):
        ends.append((plot.y((low + high[-1]) / 2), band))
        low = high[-1]
    ends.sort(key=lambda end: end[0])
    edge = plot.x.end
    places = spread([y for y, _ in ends], gap=_LINE, low=plot.y.end + 4, high=plot.y.start)
    for (y, one), place in zip(ends, places, strict=True):
        lead = f"M{number(edge + 4)} {number(y)}L{number(edge + 13)} {number(place)}"
        yield element("path", d=lead, class_="lead axis")
        yield _swatch(one, edge + 15, place, name)
        label = shortened(one.name, room=_WIDEST)
        yield _text(label, x=edge + _ASIDE, y=place + 4.5, class_="ink")


def _swatch(one: Series, x: float, y: float, name: str) -> str:
    """Show what a line or band looks like, beside its name."""
    if one.look != "area":
        line = f"M{number(x)} {number(y)}h{number(_SWATCH)}"
        return element("path", d=line, class_=f"{one.look} s{_hue(one)}")
    top = y - _SWATCH / 2
    return element("rect", x=x, y=top, width=_SWATCH, height=_SWATCH, **_inked(one, name))


def _inked(one: Series, name: str) -> dict[str, str]:
    """Return the attributes that fill a band or a swatch."""
    if one.hue == BURNED:
        return {"class_": "area edge", "fill": f"url(#{name}-hatch)"}
    return {"class_": f"area edge f{_hue(one)}"}


def _hue(one: Series) -> str:
    return str(one.hue) if one.hue >= 0 else "-others"


def _hatching(name: str) -> str:
    stripe = element("path", d="M0 6L6 0M-1 1L1 -1M5 7L7 5", class_="hatch")
    attributes = {"patternUnits": "userSpaceOnUse"}
    return element("pattern", [stripe], id=f"{name}-hatch", width=6, height=6, **attributes)


def _edges(x: Sequence[float]) -> list[float]:
    """Return where each x begins, and where the last one ends: half-way to its neighbours."""
    between = [(one + other) / 2 for one, other in pairwise(x)]
    return [x[0] - 0.5, *between, x[-1] + 0.5]


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
