"""Findings, and the cases that are opened about them."""

from agon.api.command import Command, Option
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
_TEXT = {"text": Option(help="Text of the step; stored in the case.")}


@operation("GET", "/contests/{contest}/findings", id="listFindings", permission="findings.read",
           cost="quick", summary="List findings")  # fmt: skip
def list_findings(ctx: ContestContext) -> Findings:
    """Return the findings of the last integrity scan; findings inform and change no score."""
    last_scan = findings.findings(ctx.service, ctx.view)
    return Findings(seq=last_scan.seq, items=tuple(map(dict, last_scan.findings)))


@operation("POST", "/contests/{contest}/findings", id="scanFindings",
           permission="case.manage",
           cost="quick", records="none", summary="Start an integrity scan", status=202,
           location="/jobs/{result.id}")  # fmt: skip
def start_scan(ctx: ContestContext) -> Job:
    """Queue an integrity scan of the newest records; a scan that is queued is not queued twice."""
    job = service_job(
        "find", ctx.contest, id=ctx.service.new_id(), dedupe="find", by=ctx.caller.name
    )
    return queue_job(ctx.service, job, contest=ctx.contest.id)


@operation("GET", _CASES, id="listCases", permission="case.read",
           cost="quick", summary="List cases",
           command=Command("cases list", columns=("id", "state", "opened_at", "title", "subjects"))
)  # fmt: skip
def list_cases(ctx: ContestContext, page: PageRequest) -> Page[Case]:
    """Return cases, oldest first.

    $ agon cases list
        List the cases of ID, oldest first.

        Only organizers can list cases.

          agon cases list spring
    """
    stored = cases.cases(ctx.service, ctx.view, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda case: case.id, item=Case.model_validate)


@operation("POST", _CASES, id="openCase", permission="case.manage",
           cost="quick", records="none", summary="Open a case",
           status=201, location="/contests/{contest}/cases/{result.id}",
           command=Command("cases open", any_of=("a case needs a subject", "title", "finding"),
                           options={
               **_TEXT,
               "title": Option(help="Title (default: the finding's message)."),
               "subjects": Option("--about", help="A subject of the case; may be repeated.",
                                  metavar="P"),
               "finding": Option(help="Index of a finding in agon contest findings, from 0.")})
)  # fmt: skip
def open_case(ctx: ContestContext, request: CaseCreate) -> Case:
    """Open a case, about a finding of the last scan or without one.

    $ agon cases open
        Open a case in ID, from a finding or by hand.

        The case stores the finding as it is now; later scans do not change it.

          agon cases open spring --finding 0 --text 'question sent'
          agon cases open spring --about j3 --title 'Disputed votes' --text 'ada complained'
    """
    opened = cases.open_case(ctx.service, ctx.contest.id, by=ctx.caller, **request.model_dump())
    return Case.model_validate(opened)


@operation("GET", _CASES + "/{id}", id="getCase", permission="case.read",
           cost="quick", summary="Get a case",
           command=Command("cases show"))  # fmt: skip
def get_case(ctx: ContestContext, case: Id) -> Case:
    """Return a case with all its steps.

    $ agon cases show
        Show CASE of ID with every step: time, author, kind and text.

        agon cases list shows the ids.

          agon cases show spring CASE
    """
    return Case.model_validate(cases.case(ctx.service, ctx.view, case))


@operation("POST", _CASES + "/{id}/notes", id="noteCase", permission="case.manage",
           cost="quick", records="none", summary="Add a note to a case",
           command=Command("cases note", options=_TEXT))  # fmt: skip
def add_note(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Add a note to a case that is not closed.

    $ agon cases note
        Add a note to CASE of ID.

        Nothing can be added to a closed case.

          agon cases note spring CASE --text 'j3 has answered'
    """
    changed = cases.note(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed)


@operation("POST", _CASES + "/{id}/decisions", id="decideCase", permission="case.manage",
           cost="quick", records="none", summary="Decide a case",
           command=Command("cases decide", options={
               "decision": Option(help="The decision, in a few words."),
               "reason": Option(help="The reason; stored in the case permanently."),
               "change": Option(help="The change set that applies the decision.",
                                metavar="CHANGE")}))  # fmt: skip
def decide_case(ctx: ContestContext, case: Id, request: DecisionRequest) -> Case:
    """Decide a case; the decision is an entry of the ledger and changes no score by itself.

    $ agon cases decide
        Decide CASE of ID; the decision is entered into the ledger.

        Only a change set changes scores: apply it first and name it here.

          agon cases decide spring CASE --decision dismissed --reason 'a slow network'
          agon cases decide spring CASE --decision 'votes void' --reason logs --change CHANGE
    """
    changed = cases.decide(ctx.service, ctx.contest.id, case, by=ctx.caller, **request.model_dump())
    return Case.model_validate(changed)


@operation("POST", _CASES + "/{id}/appeals", id="appealCase", permission="case.appeal",
           cost="quick", records="none", summary="Appeal against a decision",
           command=Command("cases appeal", options=_TEXT))  # fmt: skip
def appeal_case(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Appeal against a decision; its subjects may, and see decisions and appeals only.

    $ agon cases appeal
        Appeal against the decision of CASE of ID.

        The subjects of the case can appeal with their own tokens, and organizers for them; the
        case is then decided again.

          agon cases appeal spring CASE --text 'the network was slow'
    """
    changed = cases.appeal(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed if ctx.view.staff else cases.for_subjects(changed))


@operation("POST", _CASES + "/{id}/close", id="closeCase", permission="case.manage",
           cost="quick", records="none", summary="Close a case",
           command=Command("cases close", options=_TEXT))  # fmt: skip
def close_case(ctx: ContestContext, case: Id, request: NoteRequest) -> Case:
    """Close a case; nothing can be added to it afterwards.

    $ agon cases close
        Close CASE of ID; nothing can be added to it afterwards.

        Later facts need a new case.

          agon cases close spring CASE --text 'no appeal came'
    """
    changed = cases.close(ctx.service, ctx.contest.id, case, text=request.text, by=ctx.caller)
    return Case.model_validate(changed)


@operation("GET", "/contests/{contest}/own-cases", id="listOwnCases",
           permission="case.appeal",
           cost="quick", summary="List the cases about the caller")  # fmt: skip
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
