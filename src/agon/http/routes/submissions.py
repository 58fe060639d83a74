"""Answer for what people send to be judged: submissions, votes, matches."""

from typing import Annotated, Any

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View, permits
from agon.app.contests.submissions import creation, listing
from agon.app.contests.submissions.submission import Submission
from agon.app.queue.jobs import service_job
from agon.disciplines import discipline
from agon.errors import Conflict, Unreadable
from agon.http.auth import caller_of, sees
from agon.http.models.contests import RecordedTold, RecordPage
from agon.http.models.jobs import JobTold
from agon.http.models.judging import (
    SubmissionAsked,
    SubmissionPage,
    SubmissionTold,
    SubmittedTold,
)
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.queueing import queued, waiting
from agon.http.routes.common import WRITES, Serves, new_router, refusals
from agon.http.routes.records import body_of, listed, taken

router = new_router("submissions")

SubmissionId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=200, pattern=r"^[^\x00]+$",
         description="The submission's id."),
]  # fmt: skip
_VOTE: dict[str, Any] = {"type": "object", "additionalProperties": True}
_EXAMPLE = '{"match_id":"m1","judge_id":"judy","vote":"A"}\n'


@router.post("/contests/{contest}/submissions", operation_id="submit", summary="Submit",
             status_code=202, responses=refusals(*WRITES))  # fmt: skip
def submit(
    request: Request,
    response: Response,
    asked: SubmissionAsked,
    view: Annotated[View, sees("submission.add")],
    service: Serves,
) -> SubmittedTold:
    """Send a program or an agent; it is judged by a worker."""
    caller = caller_of(request)
    user = asked.user or caller.user
    if user is None:
        raise Unreadable("this token has no user; name one: user")
    sent = Submission(
        user=user, problem=asked.problem, content=asked.content, external_id=asked.external_id
    )
    done = creation.submit(service, view.contest.id, sent, by=caller)
    response.headers["location"] = f"/api/v1/contests/{view.contest.id}/submissions/{done.id}"
    jobs = [waiting(service, job, contest=view.contest.id) for job in done.jobs]
    seq = done.seq if permits(caller, "submission.read", contest=view.contest) else None
    return SubmittedTold(id=done.id, seq=seq, jobs=jobs)


@router.get("/contests/{contest}/submissions", operation_id="listSubmissions",
            summary="Submissions")  # fmt: skip
def list_submissions(
    request: Request,
    response: Response,
    view: Annotated[View, sees("submission.read-own")],
    service: Serves,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SubmissionPage:
    """List submissions, oldest first: organisers see all, participants their own."""
    found = listing.submissions(
        service, view, by=caller_of(request), after=after(cursor, kind=str), limit=limit + 1
    )
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=SubmissionTold.model_validate)
    return SubmissionPage(**linked(request, response, page))


@router.get("/contests/{contest}/submissions/{id}", operation_id="getSubmission",
            summary="A submission")  # fmt: skip
def get_submission(
    request: Request,
    name: SubmissionId,
    view: Annotated[View, sees("submission.read-own")],
    service: Serves,
) -> SubmissionTold:
    """Tell of a submission, with its verdict once there is one the caller may see."""
    found = listing.submission(service, view, name, by=caller_of(request))
    return SubmissionTold.model_validate(found)


@router.post("/contests/{contest}/votes", operation_id="addVotes", summary="Vote",
             status_code=201, responses=refusals(*WRITES),
             openapi_extra=body_of(_VOTE, _EXAMPLE))  # fmt: skip
async def add_votes(
    request: Request,
    response: Response,
    view: Annotated[View, sees("vote.add")],
    service: Serves,
) -> RecordedTold:
    """Give votes, rows of the table votes; judges give their own."""
    return await taken(request, response, service, view, table="votes")


@router.get("/contests/{contest}/votes", operation_id="listVotes", summary="Votes")
def list_votes(
    request: Request,
    response: Response,
    view: Annotated[View, sees("vote.read")],
    service: Serves,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> RecordPage:
    """List votes as they were entered."""
    _expect_table(view, "votes")
    return listed(request, response, service, view, "votes", limit=limit, cursor=cursor)


@router.post("/contests/{contest}/matches", operation_id="drawRound", summary="Draw a round",
             status_code=202, responses=refusals(*WRITES))  # fmt: skip
def draw_round(
    request: Request,
    response: Response,
    view: Annotated[View, sees("match.draw")],
    service: Serves,
) -> JobTold:
    """Have the next round drawn: pairs, honeypots and panels, all from one recorded seed."""
    _expect_table(view, "matches")
    job = service_job(
        "round", view.contest, id=service.new_id(), dedupe="round", by=caller_of(request).name
    )
    return queued(service, response, job, contest=view.contest.id)


@router.get("/contests/{contest}/matches", operation_id="listMatches", summary="Matches")
def list_matches(
    request: Request,
    response: Response,
    view: Annotated[View, sees("match.read")],
    service: Serves,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> RecordPage:
    """List matches as they were entered."""
    _expect_table(view, "matches")
    return listed(request, response, service, view, "matches", limit=limit, cursor=cursor)


def _expect_table(view: View, name: str) -> None:
    tables = {table.name for table in discipline(view.contest.discipline).schema}
    if name not in tables:
        raise Conflict(f"{view.contest.id} is a {view.contest.discipline} contest without {name}")
