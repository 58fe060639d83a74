"""Answer for what people send to be judged: submissions, problems, votes, matches."""

from collections.abc import Iterator
from typing import Annotated, Any

import orjson
from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.authorising import View, permits
from agon.app.contests import problems, submitting
from agon.app.contests.ports import Session
from agon.app.contests.positions import reach
from agon.app.contests.values import StoredEntry
from agon.app.jobs.queueing import house_job
from agon.disciplines import discipline
from agon.errors import Conflict, NotFound, Unreadable
from agon.http.auth import caller_of, sees
from agon.http.models.contests import ContestTold, RecordedTold, RecordPage
from agon.http.models.jobs import JobTold
from agon.http.models.judging import (
    ProblemAsked,
    ProblemQueued,
    SubmissionAsked,
    SubmissionPage,
    SubmissionTold,
    SubmittedTold,
)
from agon.http.pages import Cursor, Limit, after, cursor_of, linked
from agon.http.queueing import queued, waiting
from agon.http.routes.common import WRITES, Serves, new_router, refusals
from agon.http.routes.contests import told as contest_told
from agon.http.routes.records import body_of, listed, taken
from agon.ledger.keys import record_key

router = new_router("submissions")

ProblemId = Annotated[str, Path(alias="id", min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
_RECEIVED = b'"kind":"submission-received"'
_WALKED = 20_000
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
    sent = submitting.Submission(
        user=user, problem=asked.problem, content=asked.content, external_id=asked.external_id
    )
    done = submitting.submit(service, view.contest.id, sent, by=caller)
    response.headers["location"] = f"/api/v1/contests/{view.contest.id}/submissions/{done.seq}"
    jobs = [waiting(service, job, contest=view.contest.id) for job in done.jobs]
    return SubmittedTold(id=done.id, seq=done.seq, jobs=jobs)


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
    """List submissions, oldest first: organisers see all, participants their own.

    A page looks through a part of the ledger, so it may be short and yet have a next one.
    """
    at = after(cursor, kind=int) or 0
    items: list[SubmissionTold] = []
    last = at
    with service.store.read() as session:
        found = session.entries.after(view.contest.no, at, limit=_WALKED)
        for entry in found:
            last = entry.seq
            if _RECEIVED in entry.line and (told := _told(request, session, view, entry)):
                items.append(told)
                if len(items) == limit:
                    break
    more = last > at and last < view.contest.seq
    page = {"items": items, "next": cursor_of(last) if more else None}
    return SubmissionPage(**linked(request, response, page))


@router.get("/contests/{contest}/submissions/{seq}", operation_id="getSubmission",
            summary="A submission")  # fmt: skip
def get_submission(
    request: Request,
    seq: Annotated[int, Path(ge=1, lt=1 << 62, description="Position of its entry.")],
    view: Annotated[View, sees("submission.read-own")],
    service: Serves,
) -> SubmissionTold:
    """Tell of a submission, with its verdict once there is one the caller may see."""
    with service.store.read() as session:
        for entry in session.entries.after(view.contest.no, seq - 1, until=seq):
            if _RECEIVED in entry.line and (told := _told(request, session, view, entry)):
                return told
    raise NotFound(f"entry {seq} of {view.contest.id} is no submission of yours; see the list")


@router.post("/contests/{contest}/problems", operation_id="publishProblem",
             summary="Publish a problem", status_code=202, responses=refusals(*WRITES))  # fmt: skip
def publish_problem(
    request: Request,
    asked: ProblemAsked,
    view: Annotated[View, sees("problem.manage")],
    service: Serves,
) -> ProblemQueued:
    """Have a setter run through its gate; the problem is published when it has passed."""
    caller = caller_of(request)
    name, job = problems.publish_problem(service, view.contest.id, asked.package, by=caller)
    return ProblemQueued(id=name, job=waiting(service, job, contest=view.contest.id))


@router.get("/contests/{contest}/problems/{id}", operation_id="getProblem", summary="A problem")
def get_problem(
    name: ProblemId, view: Annotated[View, sees("contest.read")], service: Serves
) -> dict[str, Any]:
    """Tell of a problem; its source and terms only once it is revealed."""
    limit = reach(view)
    with service.store.read() as session:
        problem = problems.posed(session, view.contest, name)
        if limit is not None and problem.seq > limit:
            raise NotFound(f"{view.contest.id} has no problem {name!r}; see its records")
        at = problems.revealed_at(session, view.contest, name)
    revealed = at is not None and (limit is None or at <= limit)
    return problems.told(problem, revealed=revealed)


@router.post("/contests/{contest}/problems/{id}/reveal", operation_id="revealProblem",
             summary="Reveal a problem", responses=refusals(*WRITES))  # fmt: skip
def reveal_problem(
    request: Request,
    name: ProblemId,
    view: Annotated[View, sees("problem.manage")],
    service: Serves,
) -> ContestTold:
    """Let everybody see a problem's source and terms."""
    done = problems.reveal_problem(service, view.contest.id, name, by=caller_of(request))
    with service.store.read() as session:
        return contest_told(session, View(contest=done, until=view.until, staff=view.staff))


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
    job = house_job(
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


def _told(
    request: Request, session: Session, view: View, entry: StoredEntry
) -> SubmissionTold | None:
    """Tell of a submission with its verdict; None where it is somebody else's."""
    line = orjson.loads(entry.line)
    body, caller = line["body"], caller_of(request)
    if not permits(caller, "submission.read", contest=view.contest) and body["user"] != caller.user:
        return None
    return SubmissionTold(
        id=body["submission"],
        seq=entry.seq,
        at=line["at"],
        user=body["user"],
        problem=body["problem"],
        content=body["content"],
        records=list(_verdicts(session, view, body["submission"])),
    )


def _verdicts(session: Session, view: View, name: str) -> Iterator[dict[str, Any]]:
    """Yield the record of a submission as the caller may see it, none while it is hidden."""
    tables = {table.name: table for table in discipline(view.contest.discipline).schema}
    if "submissions" not in tables:
        return
    key = record_key(tables["submissions"], {"id": name})
    if key is None:
        return
    for known in session.entries.known(view.contest.no, records=[key]).values():
        if view.until is None or known.seq <= view.until:
            for entry in session.entries.after(view.contest.no, known.seq - 1, until=known.seq):
                yield orjson.loads(entry.line)["body"]["row"]


def _expect_table(view: View, name: str) -> None:
    tables = {table.name for table in discipline(view.contest.discipline).schema}
    if name not in tables:
        raise Conflict(f"{view.contest.id} is a {view.contest.discipline} contest without {name}")
