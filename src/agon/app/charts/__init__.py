"""Draw charts as SVG: values in, text out; no script, no clock, no font file, no other host.

A chart reads in light and in dark (``prefers-color-scheme``), with any colour vision, and by a
screen reader: what it shows is told in its description, and every line has its name beside it.
"""

from agon.app.charts.drawing import svg
from agon.app.charts.figure import BURNED, OTHERS, Figure, Mark, Panel, Series
from agon.app.charts.waterfall import waterfall

__all__ = ["BURNED", "OTHERS", "Figure", "Mark", "Panel", "Series", "svg", "waterfall"]
