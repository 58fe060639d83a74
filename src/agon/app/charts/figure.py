"""The content of a chart: a figure of panels, each with series over a common x."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

HUES = 6
"""Number of hues that all kinds of color vision can distinguish, on white and on near black."""

OTHERS = -1
"""The hue of a sum of other series: gray."""

BURNED = -2
"""The hue of the burn: hatched."""

Style: TypeAlias = Literal["line", "dashes", "area"]
"""A line, a dashed line, or a band; bands of a panel are stacked, the first at the bottom."""


@dataclass(frozen=True)
class Series:
    """A line or a band.

    Attributes:
        name: its label.
        values: one per x of its panel, finite.
        style: line, dashes or area.
        hue: a color from 0, :data:`OTHERS` or :data:`BURNED`.
    """

    name: str
    values: Sequence[float]
    style: Style = "line"
    hue: int = 0


@dataclass(frozen=True)
class Mark:
    """A vertical line at ``x`` with a short text above it."""

    x: float
    text: str


@dataclass(frozen=True)
class ChartPanel:
    """One pair of axes with what is drawn on it.

    Attributes:
        title: what is drawn; empty if the figure's title says it.
        x: ascending values; every series has as many values.
        series: what is drawn.
        top: the end of the y axis, which begins at 0.
        unit: the unit of the y axis.
        marks: vertical lines.
    """

    title: str
    x: Sequence[float]
    series: tuple[Series, ...]
    top: float
    unit: str
    marks: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.x):
            raise ValueError("expected a panel with at least one x, got none")
        for series in self.series:
            if len(series.values) != len(self.x):
                raise ValueError(f"{series.name}: {len(series.values)} values for {len(self.x)} x")


@dataclass(frozen=True)
class Figure:
    """A chart.

    Attributes:
        name: prefix of its ids, so that one page can have several figures.
        title: one line.
        subtitle: one line of smaller print.
        description: what it shows, in sentences, for screen readers.
        x_title: label below the last panel.
        panels: drawn one below the other.
    """

    name: str
    title: str
    subtitle: str
    description: str
    x_title: str
    panels: tuple[ChartPanel, ...]
