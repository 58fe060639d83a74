"""Answer for findings and the cases made of them."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.cases import cases, findings
from agon.app.queue.jobs import service_job
from agon.http.auth import caller_of, sees
from agon.http.models.jobs import JobTold
from agon.http.models.judging import (
    CaseAsked,
    CasePage,
    CaseTold,
    DecisionAsked,
    FindingsTold,
    NoteAsked,
)
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.queueing import queued
from agon.http.routes.common import WRITES, Serves, new_router, refusals

router = new_router("cases")

CaseId = Annotated[str, Path(alias="id", pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Manages = Annotated[View, sees("case.manage")]
_CASES = "/contests/{contest}/cases"


@router.get("/contests/{contest}/findings", operation_id="listFindings", summary="Findings")
def list_findings(view: Annotated[View, sees("findings.read")], service: Serves) -> FindingsTold:
    """Tell what the last look found; findings inform and change no score."""
    found = findings.findings(service, view)
    return FindingsTold(seq=found.seq, items=[dict(one) for one in found.findings])


@router.post("/contests/{contest}/findings", operation_id="lookForFindings",
             summary="Look for findings", status_code=202, responses=refusals(*WRITES))  # fmt: skip
def look(request: Request, response: Response, view: Manages, service: Serves) -> JobTold:
    """Have a worker look through the newest records; asked twice, it looks once."""
    job = service_job(
        "find", view.contest, id=service.new_id(), dedupe="find", by=caller_of(request).name
    )
    return queued(service, response, job, contest=view.contest.id)


@router.get(_CASES, operation_id="listCases", summary="Cases")
def list_cases(
    request: Request,
    response: Response,
    view: Annotated[View, sees("case.read")],
    service: Serves,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> CasePage:
    """List cases, oldest first."""
    found = cases.cases(service, view, after=after(cursor, kind=str), limit=limit + 1)
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=CaseTold.model_validate)
    return CasePage(**linked(request, response, page))


@router.post(_CASES, operation_id="openCase", summary="Open a case", status_code=201,
             responses=refusals(*WRITES))  # fmt: skip
def open_case(
    request: Request, response: Response, asked: CaseAsked, view: Manages, service: Serves
) -> CaseTold:
    """Open a case, from a finding of the last look or by hand."""
    caller = caller_of(request)
    made = cases.open_case(service, view.contest.id, by=caller, **asked.model_dump())
    response.headers["location"] = f"/api/v1/contests/{view.contest.id}/cases/{made.id}"
    return CaseTold.model_validate(made)


@router.get(_CASES + "/{id}", operation_id="getCase", summary="A case")
def get_case(name: CaseId, view: Annotated[View, sees("case.read")], service: Serves) -> CaseTold:
    """Tell of a case with all its steps."""
    return CaseTold.model_validate(cases.case(service, view, name))


@router.post(_CASES + "/{id}/notes", operation_id="noteCase", summary="Add a note",
             responses=refusals(*WRITES))  # fmt: skip
def note(
    request: Request, name: CaseId, asked: NoteAsked, view: Manages, service: Serves
) -> CaseTold:
    """Add a note to a case that is not closed."""
    caller = caller_of(request)
    return CaseTold.model_validate(
        cases.note(service, view.contest.id, name, text=asked.text, by=caller)
    )


@router.post(_CASES + "/{id}/decisions", operation_id="decideCase", summary="Decide a case",
             responses=refusals(*WRITES))  # fmt: skip
def decide(
    request: Request, name: CaseId, asked: DecisionAsked, view: Manages, service: Serves
) -> CaseTold:
    """Decide a case; the decision is an entry of the ledger."""
    caller = caller_of(request)
    done = cases.decide(service, view.contest.id, name, by=caller, **asked.model_dump())
    return CaseTold.model_validate(done)


@router.post(_CASES + "/{id}/appeals", operation_id="appealCase", summary="Appeal",
             responses=refusals(*WRITES))  # fmt: skip
def appeal(
    request: Request,
    name: CaseId,
    asked: NoteAsked,
    view: Annotated[View, sees("case.appeal")],
    service: Serves,
) -> CaseTold:
    """Appeal against a decision; those it is about may, and are told decisions and appeals."""
    done = cases.appeal(service, view.contest.id, name, text=asked.text, by=caller_of(request))
    return CaseTold.model_validate(done if view.staff else cases.for_subjects(done))


@router.post(_CASES + "/{id}/close", operation_id="closeCase", summary="Close a case",
             responses=refusals(*WRITES))  # fmt: skip
def close(
    request: Request, name: CaseId, asked: NoteAsked, view: Manages, service: Serves
) -> CaseTold:
    """Close a case; nothing is added to it any more."""
    caller = caller_of(request)
    return CaseTold.model_validate(
        cases.close(service, view.contest.id, name, text=asked.text, by=caller)
    )
