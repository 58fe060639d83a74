"""Draw a figure: lay out its panels, then axes, bands, lines, marks and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from agon.app.charts.figure import BURNED, ChartPanel, Figure, Mark, Series
from agon.app.charts.markup import (
    NARROW_WIDTH,
    WIDTH,
    document,
    element,
    number,
    shorten,
    width,
    words,
)
from agon.app.charts.scales import Scale, spread, ticks

_LEFT = 58.0
_HEAD = 66.0  # title and subtitle
_PART_HEAD = 12.0
_FOOT = 20.0
_TALL, _SHORT = 300.0, 150.0  # height of a single panel, and of one of several
_TICKS = 22.0  # height of the labels below the x axis
_LINE = 18.0  # height of a line of text
_ASIDE = 30.0  # from the plot's edge to the text of a label
_MAX_LABEL = 210.0  # width of a label
_SWATCH = 10.0
_MAX_TICKS, _MIN_GAP = 9, 30.0  # along x: number of ticks, pixels between labels
_NEAR = 60.0  # a mark this close to the edge has its text on the other side


@dataclass(frozen=True)
class _Plot:
    """A panel with the scales of its axes.

    Attributes:
        panel: what is drawn.
        x: the scale along it.
        y: the scale upwards.
        labels_below: whether labels are listed below the axis, not beside the ends of the lines.
    """

    panel: ChartPanel
    x: Scale
    y: Scale
    labels_below: bool

    @property
    def bands(self) -> list[Series]:
        return [series for series in self.panel.series if series.style == "area"]

    @property
    def lines(self) -> list[Series]:
        return [series for series in self.panel.series if series.style != "area"]


def svg(figure: Figure, *, is_part: bool = False, narrow: bool = False) -> str:
    """Return a figure as SVG; as a part of a page that has the styles and states the title.

    Equal figures give equal text. Names are data: they are escaped, and long ones are shortened in
    the picture but not in its description. A narrow one is laid out for a phone: its labels are
    below the axis, in the order of the bands.
    """
    labels = [series.name for panel in figure.panels for series in panel.series]
    aside = 0.0 if narrow else min(_MAX_LABEL, max(map(width, labels), default=0.0)) + _ASIDE
    head = _PART_HEAD if is_part else _HEAD
    whole = NARROW_WIDTH if narrow else WIDTH
    name = f"{figure.name}-narrow" if narrow else figure.name
    plots = list(_plots(figure, head=head, right=whole - aside - 8, narrow=narrow))
    height = _bottom(plots[-1]) + _LINE + _FOOT if plots else head + _FOOT
    heading = [
        element("rect", width=whole, height=height, class_="paper"),
        _text(figure.title, x=16, y=30, class_="title ink"),
        _text(figure.subtitle, x=16, y=50, class_="small quiet"),
    ]
    parts = [
        _hatching(name),
        *([] if is_part else heading),
        *(part for plot in plots for part in _panel(plot, name)),
    ]
    if plots:
        middle = (plots[-1].x.start + plots[-1].x.end) / 2
        below = plots[-1].y.start + _TICKS + _LINE
        parts.append(
            _text(figure.x_title, x=middle, y=below, class_="small quiet", text_anchor="middle")
        )
    return document(
        parts,
        name=name,
        title=figure.title,
        description=figure.description,
        width=whole,
        height=height,
        is_part=is_part,
    )


def _bottom(plot: _Plot) -> float:
    """Return where a panel ends, the labels of its x axis and those below it included."""
    listed = _LINE * (len(plot.panel.series) + 1) if plot.labels_below else 0.0
    return plot.y.start + _TICKS + listed


def _plots(figure: Figure, *, head: float, right: float, narrow: bool) -> Iterator[_Plot]:
    """Yield the plot of each panel, from top to bottom."""
    tall = _TALL if len(figure.panels) == 1 else _SHORT
    top = head
    for panel in figure.panels:
        top += _LINE * (bool(panel.title) + bool(panel.marks)) + 6
        low, high = panel.x[0], panel.x[-1]
        if any(series.style == "area" for series in panel.series):
            edges = _edges(panel.x)
            low, high = edges[0], edges[-1]
        bottom = top + tall
        plot = _Plot(
            panel, Scale(low, high, _LEFT, right), Scale(0.0, panel.top, bottom, top), narrow
        )
        yield plot
        top = _bottom(plot) + _LINE


def _panel(plot: _Plot, name: str) -> Iterator[str]:
    """Yield the elements of one panel, back to front."""
    if plot.panel.title:
        above = plot.y.end - 8 - _LINE * bool(plot.panel.marks)
        room = (NARROW_WIDTH if plot.labels_below else WIDTH) - _LEFT
        title = shorten(plot.panel.title, max_width=0.9 * room)  # bold text is wider
        yield _text(title, x=_LEFT, y=above, class_="panel ink")
    yield from _axes(plot)
    yield from _draw_bands(plot, name)
    yield from (_line(plot, series) for series in plot.lines)
    for mark in plot.panel.marks:
        yield from _mark(plot, mark)
    yield from _labels_below(plot, name) if plot.labels_below else _labels(plot, name)


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
    count = (right - left) / (width(f"{last:,.0f}") + _MIN_GAP)
    for value in ticks(first, last, most=max(2, min(_MAX_TICKS, int(count))), integers=True):
        x = plot.x(value)
        yield element("line", x1=x, y1=bottom, x2=x, y2=bottom + 5, class_="axis")
        yield _text(f"{value:,.0f}", x=x, y=bottom + 19, class_="small quiet", text_anchor="middle")


def _draw_bands(plot: _Plot, name: str) -> Iterator[str]:
    """Draw bands on top of each other; an epoch's share is as wide as the epoch."""
    edges = [number(plot.x(edge)) for edge in _edges(plot.panel.x)]
    floor = [number(plot.y(0.0))] * len(plot.panel.x)
    for heights, band in _sums(plot):
        below, floor = floor, [number(plot.y(height)) for height in heights]
        if floor == below:
            continue
        forth = "".join(f"V{y}H{x}" for y, x in zip(floor, edges[1:], strict=True))
        back = "".join(
            f"V{y}H{x}" for y, x in zip(reversed(below), reversed(edges[:-1]), strict=True)
        )
        yield element(
            "path",
            [element("title", [words(band.name)])],
            d=f"M{edges[0]} {below[0]}{forth}{back}Z",
            **_fill(band, name),
        )


def _sums(plot: _Plot) -> list[tuple[list[float], Series]]:
    """Return the upper edge of every band with the band."""
    rising = accumulate(
        (list(band.values) for band in plot.bands),
        lambda below, values: [low + value for low, value in zip(below, values, strict=True)],
    )
    return list(zip(rising, plot.bands, strict=True))


def _line(plot: _Plot, series: Series) -> str:
    points = [
        f"{number(plot.x(x))} {number(plot.y(y))}"
        for x, y in zip(plot.panel.x, series.values, strict=True)
    ]
    path = element(
        "path",
        [element("title", [words(series.name)])],
        d="M" + "L".join(points),
        class_=f"{series.style} s{_hue(series)}",
    )
    return path + element("path", d=f"M{points[-1]}h0", class_=f"dot s{_hue(series)}")


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
    """Yield the name of each line or band, next to its end, with a line that leads to it."""
    ends = [(plot.y(series.values[-1]), series) for series in plot.lines]
    low = 0.0
    for high, band in _sums(plot):
        ends.append((plot.y((low + high[-1]) / 2), band))
        low = high[-1]
    ends.sort(key=lambda end: end[0])
    edge = plot.x.end
    places = spread([y for y, _ in ends], gap=_LINE, low=plot.y.end + 4, high=plot.y.start)
    for (y, series), place in zip(ends, places, strict=True):
        lead = f"M{number(edge + 4)} {number(y)}L{number(edge + 13)} {number(place)}"
        yield element("path", d=lead, class_="lead axis")
        yield _swatch(series, edge + 15, place, name)
        label = shorten(series.name, max_width=_MAX_LABEL)
        yield _text(label, x=edge + _ASIDE, y=place + 4.5, class_="ink")


def _labels_below(plot: _Plot, name: str) -> Iterator[str]:
    """Yield the name of each line or band in a list below the axis, the uppermost band first."""
    top = plot.y.start + _TICKS + 2 * _LINE
    for index, series in enumerate([*plot.lines, *reversed(plot.bands)]):
        y = top + _LINE * index
        yield _swatch(series, _LEFT, y, name)
        label = shorten(series.name, max_width=plot.x.end - _LEFT - _ASIDE)
        yield _text(label, x=_LEFT + _ASIDE / 2, y=y + 4.5, class_="ink")


def _swatch(series: Series, x: float, y: float, name: str) -> str:
    """Return a sample of a line or band, drawn next to its name."""
    if series.style != "area":
        line = f"M{number(x)} {number(y)}h{number(_SWATCH)}"
        return element("path", d=line, class_=f"{series.style} s{_hue(series)}")
    top = y - _SWATCH / 2
    return element("rect", x=x, y=top, width=_SWATCH, height=_SWATCH, **_fill(series, name))


def _fill(series: Series, name: str) -> dict[str, str]:
    """Return the attributes that fill a band or a swatch."""
    if series.hue == BURNED:
        return {"class_": "area edge", "fill": f"url(#{name}-hatch)"}
    return {"class_": f"area edge f{_hue(series)}"}


def _hue(series: Series) -> str:
    return str(series.hue) if series.hue >= 0 else "-others"


def _hatching(name: str) -> str:
    stripe = element("path", d="M0 6L6 0M-1 1L1 -1M5 7L7 5", class_="hatch")
    attributes = {"patternUnits": "userSpaceOnUse"}
    return element("pattern", [stripe], id=f"{name}-hatch", width=6, height=6, **attributes)


def _edges(x: Sequence[float]) -> list[float]:
    """Return where each x begins, and where the last one ends: half-way to its neighbors."""
    middles = [(low + high) / 2 for low, high in pairwise(x)]
    return [x[0] - 0.5, *middles, x[-1] + 0.5]


def _text(text: str, **attributes: str | float) -> str:
    return element("text", [words(text)], **attributes)
