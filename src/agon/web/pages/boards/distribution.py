"""The page that shows where a participant is among all, per part of the score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from agon.api.models.analysis import DistributionBin, PartDistribution
from agon.app.charts import HistogramBin, histogram
from agon.errors import NotFound
from agon.kernel.text.bidi import isolated_text
from agon.kernel.text.participants import short_id
from agon.web import addresses
from agon.web.labels import labels
from agon.web.page import SitePage, Visit
from agon.web.pages.empty import or_empty
from agon.web.rendering import number_text, words

_NOTE: Final = 12
"""Longest name that fits next to the longest bar of a chart."""


@dataclass(frozen=True)
class PartChart:
    """The distribution of a part as it is shown.

    Attributes:
        name: of the part.
        n: number of participants that have it.
        bins: what is drawn, also as a table.
        svg: the chart.
        value: of the participant that is looked for; None: there is none.
        below: number of participants in lower bins than the participant.
    """

    name: str
    n: int
    bins: Sequence[HistogramBin]
    svg: Markup
    value: float | None
    below: int


@or_empty
def distribution(visit: Visit) -> SitePage:
    """Return the distribution of a board's scores, with the participant of the address in it."""
    contest = visit.contest()
    board = visit.query.get("board") or visit.api.boards.default(contest.id)
    name = visit.query.get("id") or None
    counted = visit.api.analysis.distribution(contest.id, board, as_of=visit.as_of)
    row, shown, missing = _row(visit, contest.id, board, name)
    label = labels(contest, board)
    here = "you are here" if name and name == visit.caller.user else shown or label(name or "")
    values = {
        "contest": contest,
        "board": counted.board,
        "boards": visit.api.boards.list(contest.id).items,
        "counted": counted,
        "id": name,
        "row": row,
        "name": shown,
        "named": label,
        "missing": missing,
        "charts": list(_charts(counted.parts, here, row)),
        "as_of": visit.as_of,
    }
    return SitePage(
        template="distribution.html",
        title=f"Distribution · {contest.title}",
        values=values,
        data=addresses.api(
            "contests", contest.id, "boards", board, "distribution", as_of=visit.as_of
        ),
        summary=f"{number_text(counted.rows_total)} scores on the board {words(short_id(board))}",
    )


def _row(
    visit: Visit, contest: str, board: str, name: str | None
) -> tuple[dict[str, Any] | None, str | None, str]:
    """Return the row of a participant with the name, or why there is none."""
    if name is None:
        return None, None, ""
    try:
        page = visit.api.boards.page(contest, board, as_of=visit.as_of, around=name, limit=1)
    except NotFound as error:
        return None, None, str(error)
    return page.rows[0], (page.names or {}).get(name), ""


def _charts(
    parts: Sequence[PartDistribution], here: str, row: dict[str, Any] | None
) -> Iterator[PartChart]:
    for index, part in enumerate(parts):
        points = {} if row is None else {**row.get("components", {}), "score": row["score"]}
        value = points.get(part.name)
        if not isinstance(value, int | float):
            value = None
        own = _bin_of(part, value)
        bins = histogram_bins(part, value, isolated_text(here) if len(here) <= _NOTE else "here")
        if not bins:
            continue
        title = f"{words(part.name)} of {number_text(part.n)} participants"
        drawn = Markup(histogram(bins, name=f"part{index}", title=title))  # noqa: S704 - it escapes
        below = 0 if own is None else sum(each.n for each in part.bins[:own])
        yield PartChart(part.name, part.n, bins, drawn, value, below)


def histogram_bins(part: PartDistribution, value: float | None, note: str) -> list[HistogramBin]:
    """Return the bins of a part as they are drawn; the note is at the bin of the value."""
    own = _bin_of(part, value)
    return [
        HistogramBin(_range(each), each.n, note if index == own else "")
        for index, each in enumerate(part.bins)
    ]


def _range(each: DistributionBin) -> str:
    """Return the values of a bin."""
    if each.low == each.high:
        return number_text(each.low)
    return f"{number_text(each.low)} to {number_text(each.high)}"


def _bin_of(part: PartDistribution, value: float | None) -> int | None:
    """Return the index of the bin that has a value."""
    if value is None:
        return None
    last = len(part.bins) - 1
    return next(
        (
            index
            for index, each in enumerate(part.bins)
            if each.low <= value < each.high
            or value == each.low
            or (index == last and value == each.high)
        ),
        None,
    )
