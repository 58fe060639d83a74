"""The page that shows a season by participant and problem, as programming contests do."""

from typing import Final

from agon.web import addresses
from agon.web.page import SitePage, Visit
from agon.web.pages.empty import or_empty

_BOARD: Final = "problem:"
"""What the names of problems' boards begin with."""

_ROWS: Final = 50
_CELLS: Final = 1500
"""About how many cells a page has: with many problems it has fewer rows."""


@or_empty
def matrix(visit: Visit) -> SitePage:
    """Return who has which points on which problem, and who solved it first.

    Raises:
        NotFound: the contest has no problems.
    """
    contest = visit.contest()
    boards = {
        each.board.removeprefix(_BOARD): each
        for each in visit.api.boards.list(contest.id).items
        if each.board.startswith(_BOARD)
    }
    rows = max(5, min(_ROWS, _CELLS // max(1, len(boards))))
    limit = visit.number("limit", default=rows, highest=_ROWS)
    cursor = visit.query.get("cursor")
    made = visit.api.analysis.problem_matrix(
        contest.id, as_of=None if cursor else visit.as_of, cursor=cursor, limit=limit
    )
    return SitePage(
        template="matrix.html",
        title=f"Matrix · {contest.title}",
        values={"contest": contest, "boards": boards, "made": made, "as_of": visit.as_of},
        data=addresses.api(
            "contests", contest.id, "problem-matrix", as_of=visit.as_of, cursor=cursor
        ),
        summary=f"{len(made.problems)} problems and who solved them",
    )
