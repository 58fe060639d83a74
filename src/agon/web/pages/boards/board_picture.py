"""The picture at the head of a board: what its rows show at a glance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from agon.api.models.analysis import Epochs, ProblemMatrix
from agon.api.models.boards import BoardPage
from agon.api.models.contests import Contest
from agon.app.charts import HistogramBin, histogram, interval_chart
from agon.disciplines import discipline
from agon.errors import NotFound, NotScorable
from agon.kernel.text.bidi import isolated_text
from agon.kernel.text.participants import participant_text
from agon.web import addresses
from agon.web.labels import labels
from agon.web.page import NotAtOnce, Visit
from agon.web.pages.boards.board_rows import interval_ends
from agon.web.pages.boards.distribution import histogram_bins
from agon.web.pages.boards.epoch_shares import EpochShares, epoch_shares
from agon.web.pages.boards.robustness import Robust
from agon.web.rendering import for_both_widths, number_text

_DRAWN: Final = 12
"""Maximum number of rows of a picture: the table below has all."""

_FEWEST: Final = 3
"""With fewer scores a picture shows nothing that the table does not."""

_MATRIX_ROWS: Final = 8
_MATRIX_PROBLEMS: Final = 20
"""A larger matrix has a page of its own only."""


@dataclass(frozen=True)
class Picture:
    """What stands above the table of a board.

    Attributes:
        kind: ``intervals``, ``distribution``, ``shares`` or ``matrix``.
        svg: the chart of intervals or of a distribution.
        bins: the data of a distribution; those of intervals are the rows of the board.
        drawn: number of rows that are drawn.
        tiers: whether the rows have tiers.
        shares: of the emission over epochs.
        matrix: the points by participant and problem.
    """

    kind: str
    svg: str = ""
    bins: Sequence[HistogramBin] = ()
    drawn: int = 0
    tiers: bool = False
    shares: EpochShares | None = None
    matrix: ProblemMatrix | None = None


def picture_of(
    visit: Visit,
    page: BoardPage,
    robust: Robust | None,
    own: Mapping[str, Any] | None,
    contest: Contest,
) -> Picture | None:
    """Return the picture of a board by rank; None: it has none.

    A season is shown by participant and problem, weights over epochs, and ratings with their
    intervals; of other boards it is the distribution of the scores, in which the visitor's row, or
    the one that was looked for, is marked.

    Raises:
        NotAtOnce: it takes longer than milliseconds.
    """
    can = discipline(page.discipline)
    if not page.rows:
        return None
    if can.epochs is not None and page.board == can.epochs.weights:
        return _slow(visit, partial(_shares, contest=contest), page)
    if can.problems is not None and can.problems.matrix and not page.board.startswith("problem:"):
        return _slow(visit, _matrix, page)
    if page.rows_total < _FEWEST:
        return None
    intervals = interval_ends(page.rows, robust)
    if any(ends is not None for ends in intervals):
        return _intervals(visit, page, intervals, labels(contest, page.board))
    return _distribution(visit, page, own)


def _slow(
    visit: Visit, draw: Callable[[Visit, BoardPage], Picture | None], page: BoardPage
) -> Picture | None:
    """Return a picture that is made of the records, not of stored rows."""
    if visit.at_once:
        raise NotAtOnce
    try:
        return draw(visit, page)
    except (NotFound, NotScorable):
        return None


def _shares(visit: Visit, page: BoardPage, *, contest: Contest) -> Picture | None:
    listed: Epochs = visit.api.analysis.epochs(page.contest, as_of=str(page.seq))
    if len(listed.items) < _FEWEST - 1:
        return None
    return Picture("shares", shares=epoch_shares(listed, contest))


def _matrix(visit: Visit, page: BoardPage) -> Picture | None:
    made: ProblemMatrix = visit.api.analysis.problem_matrix(
        page.contest, as_of=str(page.seq), limit=_MATRIX_ROWS
    )
    is_small = made.rows and 0 < len(made.problems) <= _MATRIX_PROBLEMS
    return Picture("matrix", matrix=made) if made.board == page.board and is_small else None


def _intervals(
    visit: Visit,
    page: BoardPage,
    intervals: Sequence[tuple[float | None, float | None] | None],
    label: Callable[[str], str],
) -> Picture:
    names = _short_names(page, page.rows[:_DRAWN], label)
    rows: list[Mapping[str, Any]] = [
        {
            "id": row["id"],
            "name": names[row["id"]],
            "score": row["score"],
            "tier": row.get("tier"),
            **({} if ends is None else {"low": ends[0], "high": ends[1]}),
        }
        for row, ends in zip(page.rows[:_DRAWN], intervals, strict=False)
    ]
    address = addresses.rows(
        page.contest, board=page.board, discipline_name=page.discipline, as_of=visit.as_of
    )
    return Picture(
        "intervals",
        for_both_widths(
            lambda narrow: interval_chart(
                rows,
                total=page.rows_total,
                title="Ratings with their intervals",
                subtitle="",
                name="picture",
                address=address,
                narrow=narrow,
            )
        ),
        drawn=len(rows),
        tiers=any(row["tier"] is not None for row in rows),
    )


def _short_names(
    page: BoardPage, rows: Sequence[Mapping[str, Any]], label: Callable[[str], str]
) -> dict[str, str]:
    """Return what rows are called where there is little room: names, with ids if two are equal."""
    names = {row["id"]: (page.names or {}).get(row["id"]) for row in rows}
    known = [name for name in names.values() if name]
    if len({*known}) == len(names):
        return dict(zip(names, map(isolated_text, known), strict=True))
    return {each: participant_text(name, each, label) for each, name in names.items()}


def _distribution(visit: Visit, page: BoardPage, own: Mapping[str, Any] | None) -> Picture | None:
    counted = visit.api.analysis.distribution(page.contest, page.board, as_of=str(page.seq))
    scores = next((part for part in counted.parts if part.name == "score"), None)
    if scores is None or len(scores.bins) < _FEWEST:
        return None
    note = "you are here" if own is not None and own["id"] == visit.caller.user else "here"
    bins = histogram_bins(scores, None if own is None else own["score"], note)
    title = f"Scores of {number_text(scores.n)} participants"
    drawn = histogram(bins, name="picture", title=title)
    return Picture("distribution", Markup(drawn), bins)  # noqa: S704 - it escapes
