"""Answer for the dojo's problems: what solvers work from, and what organisers do with them."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.submissions import disclosure, problems
from agon.http.auth import caller_of, sees
from agon.http.models.contests import ContestTold
from agon.http.models.judging import ProblemAsked, ProblemPage, ProblemQueued, ProblemTold
from agon.http.pages import Cursor, Limit, after, cursor_of, linked
from agon.http.queueing import waiting
from agon.http.routes.common import WRITES, Serves, new_router, refusals
from agon.http.routes.contests import told as contest_told

router = new_router("problems")

Reads = Annotated[View, sees("contest.read")]
Manages = Annotated[View, sees("problem.manage")]
ProblemId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=200, pattern=r"^[^\x00]+$",
         description="The problem's id, its P_hash."),
]  # fmt: skip


@router.get("/contests/{contest}/problems", operation_id="listProblems", summary="Problems")
def list_problems(
    request: Request,
    response: Response,
    view: Reads,
    service: Serves,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ProblemPage:
    """List problems in the order of their publication, with their disclosed terms."""
    start = after(cursor, kind=int) or 0
    found = disclosure.problems(service, view, after=start, limit=limit + 1)
    more = len(found) > limit
    page = {
        "items": [ProblemTold.model_validate(told) for _, told in found[:limit]],
        "next": cursor_of(found[limit - 1][0]) if more else None,
    }
    return ProblemPage(**linked(request, response, page))


@router.get("/contests/{contest}/problems/{id}", operation_id="getProblem", summary="A problem")
def get_problem(name: ProblemId, view: Reads, service: Serves) -> ProblemTold:
    """Tell of a problem with its disclosed terms; source and all terms once it is revealed."""
    return ProblemTold.model_validate(disclosure.problem(service, view, name))


@router.post("/contests/{contest}/problems", operation_id="publishProblem",
             summary="Publish a problem", status_code=202, responses=refusals(*WRITES))  # fmt: skip
def publish_problem(
    request: Request, asked: ProblemAsked, view: Manages, service: Serves
) -> ProblemQueued:
    """Have a setter run through its gate; the problem is published when it has passed."""
    caller = caller_of(request)
    name, job = problems.publish_problem(service, view.contest.id, asked.package, by=caller)
    return ProblemQueued(id=name, job=waiting(service, job, contest=view.contest.id))


@router.post("/contests/{contest}/problems/{id}/reveal", operation_id="revealProblem",
             summary="Reveal a problem", responses=refusals(*WRITES))  # fmt: skip
def reveal_problem(
    request: Request, name: ProblemId, view: Manages, service: Serves
) -> ContestTold:
    """Let everybody see a problem's source and terms."""
    done = problems.reveal_problem(service, view.contest.id, name, by=caller_of(request))
    with service.store.read() as session:
        return contest_told(session, View(contest=done, until=view.until, staff=view.staff))
