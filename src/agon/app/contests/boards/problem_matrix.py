"""Show a page of a published board by problem: points, who solved what, and who did so first."""

from dataclasses import dataclass
from typing import Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import BoardRows, page
from agon.app.replay.adjustments import AdjustedScores
from agon.app.replay.unscored import UnscorableRecords
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.capabilities import ProblemMatrix
from agon.errors import NotFound

_NOTHING: Final = ProblemMatrix(problems=(), solved_by={}, solutions={})


@dataclass(frozen=True, kw_only=True)
class PublishedMatrix:
    """A page of the default board, and what its participants have on each problem.

    Points are of records alone: adjustments of the organizers are in the board's scores only.
    """

    page: BoardRows
    matrix: ProblemMatrix


def published_matrix(
    service: Service,
    view: View,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> PublishedMatrix:
    """Return a page of a contest's default board by problem, at the board's position.

    Args:
        service: the service.
        view: what the caller may see.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        cursor: as a page gave it.
        limit: maximum number of rows.

    Raises:
        NotFound: the contest has no problems, or nothing was published.
        NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    chosen = discipline(view.contest.discipline)
    if chosen.problems is None or chosen.problems.matrix is None:
        raise NotFound(
            f"{view.contest.id} is a {chosen.name} contest, which has no matrix of problems"
        )
    rows = page(service, view, as_of=as_of, cursor=cursor, limit=limit)
    names = [str(orjson.loads(line)["id"]) for line in rows.lines]
    with service.replicas.current(service.store, view.contest) as live:
        scored = live.result(at=rows.snapshot.seq).scored
    if isinstance(scored, AdjustedScores):
        scored = scored.scored
    if isinstance(scored, UnscorableRecords):
        return PublishedMatrix(page=rows, matrix=_NOTHING)
    return PublishedMatrix(page=rows, matrix=chosen.problems.matrix(scored, names))
