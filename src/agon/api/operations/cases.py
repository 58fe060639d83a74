"""Findings, and the cases that are opened about them."""

from agon.api.models.base import Items, Page
from agon.api.models.cases import (
    Case,
    CaseCreate,
    DecisionRequest,
    Findings,
    NoteRequest,
)
from agon.api.models.jobs import Job
from agon.api.operation import ContestContext, operation
from agon.api.operations.jobs import queue_job
from agon.api.pages import PageRequest
from agon.api.parameters import Id
from agon.api.transport import Noun
from agon.app.contests.cases import cases, findings
from agon.app.queue.jobs import service_job

_CASES = "/contests/{contest}/cases"


@operation("GET", "/contests/{contest}/findings", id="listFindings", permission="findings.read",
           summary="List findings")  # fmt: skip
def list_findings(ctx: ContestContext) -> Findings:
    """Return the findings of the last integrity scan; findings inform and change no score."""
    last_scan = findings.findings(ctx.service, ctx.view)
    return Findings(seq=last_scan.seq, items=tuple(map(dict, last_scan.findings)))


@operation("POST", "/contests/{contest}/findings", id="scanFindings",
           permission="case.manage", summary="Start an integrity scan", status=202,
           location="/jobs/{result.id}")  # fmt: skip
def start_scan(ctx: ContestContext) -> Job:
    """Queue an integrity scan of the newest records; a scan that is queued is not queued twice."""
    job = service_job(
        "find", ctx.contest, id=ctx.service.new_id(), dedupe="find", by=ctx.caller.name
    )
    return queue_job(ctx.service, job, contest=ctx.contest.id)


@operation("GET", _CASES, id="listCases", permission="case.read", summary="List cases")
def list_cases(ctx: ContestContext, page: PageRequest) -> Page[Case]:
    """Return cases, oldest first."""
    stored = cases.cases(ctx.service, ctx.view, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda case: case.id, item=Case.model_validate)


@operation("POST", _CASES, id="openCase", permission="case.manage", summary="Open a case",
           status=201, location="/contests/{contest}/cases/{result.id}")  # fmt: skip
def open_case(ctx: ContestContext, request: CaseCreate) -> Case:
    """Open a case, about a finding of the last scan or without one."""
    opened = cases.open_case(ctx.service, ctx.contest.id, by=ctx.caller, **request.model_dump())
    return Case.model_validate(opened)


@operation("GET", _CASES + "/{id}", id="getCase", permission="case.read", summary="Get a case")
def get_case(ctx: ContestContext, case: Id) -> Case:
    """Return a case with all its steps."""
    return Case.model_validate(cases.case(ctx.service, ctx.view, case))


@operation("POST", _CASES + "/{id}/notes", id="noteCase", permission="case.manage",
           summary="Add a note to a case")  # fmt: skip
def add_note(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Add a note to a case that is not closed."""
    changed = cases.note(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed)


@operation("POST", _CASES + "/{id}/decisions", id="decideCase", permission="case.manage",
           summary="Decide a case")  # fmt: skip
def decide_case(ctx: ContestContext, case: Id, request: DecisionRequest) -> Case:
    """Decide a case; the decision is an entry of the ledger and changes no score by itself."""
    changed = cases.decide(ctx.service, ctx.contest.id, case, by=ctx.caller, **request.model_dump())
    return Case.model_validate(changed)


@operation("POST", _CASES + "/{id}/appeals", id="appealCase", permission="case.appeal",
           summary="Appeal against a decision")  # fmt: skip
def appeal_case(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Appeal against a decision; its subjects may, and see decisions and appeals only."""
    changed = cases.appeal(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed if ctx.view.staff else cases.for_subjects(changed))


@operation("POST", _CASES + "/{id}/close", id="closeCase", permission="case.manage",
           summary="Close a case")  # fmt: skip
def close_case(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Close a case; nothing can be added to it afterwards."""
    changed = cases.close(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed)


@operation("GET", "/contests/{contest}/own-cases", id="listOwnCases",
           permission="case.appeal", summary="List the cases about the caller")  # fmt: skip
def list_own_cases(ctx: ContestContext) -> Items[Case]:
    """Return the decided cases about the caller, oldest first: decisions and appeals only."""
    own = cases.own_cases(ctx.service, ctx.view)
    return Items(items=tuple(map(Case.model_validate, own)))


class Cases(Noun):
    """Cases: people decide, and every step is stored."""

    list = list_cases
    own = list_own_cases
    open = open_case
    get = get_case
    add_note = add_note
    decide = decide_case
    appeal = appeal_case
    close = close_case


class Integrity(Noun):
    """Findings of integrity scans."""

    findings = list_findings
    start_scan = start_scan

    def scan(self, contest: str) -> Findings:
        """Scan the newest records and return the findings; over HTTP a worker does it.

        Raises:
            NotScorable: the records cannot be scored (over HTTP as Unavailable, with the reason).
        """
        self.transport.scan(contest)
        return self.findings(contest)
