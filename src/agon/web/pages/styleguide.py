"""Every component of the design in both themes, in development mode."""

from datetime import UTC, datetime, timedelta
from typing import Final, get_args

from markupsafe import Markup

from agon.app.charts import HistogramBin, Point, histogram, sparkline, timeline
from agon.entities.contests import Phase
from agon.web import addresses
from agon.web.cookies import THEMES
from agon.web.desk.forms import FormErrors
from agon.web.page import SitePage, Visit

_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_VALUES: Final = (3.0, 8.0, 5.0, 13.0)


def styleguide(visit: Visit) -> SitePage:  # noqa: ARG001 (it is the same for all visitors)
    """Return the page, which reads no contest."""
    themes = [theme for theme in THEMES if theme != "system"]
    return SitePage(
        template="styleguide.html",
        title="Style guide",
        values={
            "themes": themes,
            "phases": get_args(Phase),
            "errors": FormErrors(fields={f"{theme}-reason": ("Fill in this field.",)
                                         for theme in themes}),
            "lines": {theme: Markup(_line(theme)) for theme in themes},  # noqa: S704 - it escapes
            "bars": {theme: Markup(_bars(theme)) for theme in themes},  # noqa: S704 - it escapes
            "spark": Markup(_spark()),  # noqa: S704 - it escapes
        },
    )  # fmt: skip


def _line(theme: str) -> str:
    points = [
        Point(_BEGIN + timedelta(days=day), value, f"day {day + 1}: {value:g}",
              f"{addresses.styleguide()}#{theme}")
        for day, value in enumerate(_VALUES)
    ]  # fmt: skip
    return timeline(points, name=f"line-{theme}", title="Score")


def _bars(theme: str) -> str:
    bins = [
        HistogramBin("0 to 5", 2),
        HistogramBin("5 to 10", 4, "here"),
        HistogramBin("10 to 15", 1),
    ]
    return histogram(bins, name=f"bars-{theme}", title="Scores")


def _spark() -> str:
    return sparkline(list(enumerate(_VALUES)), label="4 steps from 3 to 13")
