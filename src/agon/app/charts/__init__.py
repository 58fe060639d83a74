"""Charts as SVG text: no script, no clock, no font file, no request to another host.

A chart can be read in light and dark mode (``prefers-color-scheme``), with any color vision, and by
a screen reader: its description says what it shows, and every line is labeled.
"""

from agon.app.charts.bars import BarGroup, bar_chart
from agon.app.charts.chart import Chart
from agon.app.charts.drawing import svg
from agon.app.charts.figure import BURNED, OTHERS, ChartPanel, Figure, Mark, Series
from agon.app.charts.histogram import HistogramBin, histogram
from agon.app.charts.intervals import interval_chart
from agon.app.charts.matrix import win_matrix
from agon.app.charts.probes import probe_chart
from agon.app.charts.roc import RocCurve, RocPanel, roc_chart
from agon.app.charts.shares import shares_figure
from agon.app.charts.sparkline import sparkline
from agon.app.charts.timeline import Point, timeline
from agon.app.charts.waterfall import waterfall

__all__ = [
    "BURNED",
    "OTHERS",
    "BarGroup",
    "Chart",
    "ChartPanel",
    "Figure",
    "HistogramBin",
    "Mark",
    "Point",
    "RocCurve",
    "RocPanel",
    "Series",
    "bar_chart",
    "histogram",
    "interval_chart",
    "probe_chart",
    "roc_chart",
    "shares_figure",
    "sparkline",
    "svg",
    "timeline",
    "waterfall",
    "win_matrix",
]
