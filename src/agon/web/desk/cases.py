"""Findings and cases: from what a scan noticed to a decision, its appeal and the evidence."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from agon.api.models.cases import CaseCreate, DecisionRequest, NoteRequest
from agon.api.models.contests import Contest
from agon.api.models.records import Record
from agon.app.contests.boards.stored_rows import shown_names
from agon.errors import NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors, form_errors
from agon.web.desk.layout import SHOWN, act, contest_page, listing
from agon.web.page import Redirect, SitePage, Visit

_EVIDENCE: Final = 10
"""Maximum number of records of each table that are shown in full."""

_LISTED: Final = 100
_NAMED: Final = 50
"""Maximum number of those whom a finding is about that are named."""


@dataclass(frozen=True)
class CaseEvidence:
    """The records of one table that a finding is based on.

    Attributes:
        table: the table.
        count: number of records.
        records: the first ones.
        others: the ids of further ones.
    """

    table: str
    count: int
    records: tuple[Record, ...]
    others: tuple[str, ...]


def findings(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return the findings of the last scan."""
    contest = visit.contest()
    last = visit.api.integrity.findings(contest.id)
    listed = listing(visit, enumerate(last.items))
    values = {
        "scanned": last.seq,
        "findings": listed,
        "names": _names(visit, contest, (each for _, each in listed.rows)),
        "total": len(last.items),
    }
    data = addresses.api("contests", contest.id, "findings")
    return contest_page(visit, contest, "findings", values, error=error, data=data)


def scan(visit: Visit) -> SitePage | Redirect:
    """Scan the newest records."""
    contest = visit.contest()
    return act(
        lambda: visit.api.integrity.scan(contest.id),
        following=addresses.desk(contest.id, "findings"),
        otherwise=lambda error: findings(visit, error=error),
    )


def finding(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return a finding with its evidence, and the form that opens a case about it."""
    contest = visit.contest()
    items = visit.api.integrity.findings(contest.id).items
    number = visit.path["number"]
    if not (number.isascii() and number.isdigit() and int(number[:9]) < len(items)):
        raise NotFound(f"there is no finding {number[:80]!r}; see the findings of the last scan")
    shown = items[int(number)]
    values = {
        "number": int(number),
        "finding": shown,
        "names": _names(visit, contest, [shown]),
        "evidence": list(_evidence(visit, contest, shown)),
        "about": [each for each in visit.api.cases.list(contest.id) if _same(each, shown)],
    }
    names = frozenset({"text"})
    return contest_page(visit, contest, "finding", values, tab="Findings", error=error, names=names)


def open_from_finding(visit: Visit) -> SitePage | Redirect:
    """Open a case about a finding."""
    contest = visit.contest()
    fields = {"finding": visit.path["number"], "text": visit.form.get("text", "")}
    return act(
        lambda: visit.api.cases.open(contest.id, CaseCreate.model_validate(fields)),
        following=lambda case: addresses.desk(contest.id, "cases", case.id),
        otherwise=lambda error: finding(visit, error=error),
    )


def cases(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return all cases, and the form that opens one without a finding."""
    contest = visit.contest()
    return contest_page(
        visit, contest, "cases",
        {"cases": listing(visit, visit.api.cases.list(contest.id), oldest_first=True)},
        error=error, names=frozenset({"title", "text", "subjects"}),
        data=addresses.api("contests", contest.id, "cases"),
    )  # fmt: skip


def open_case(visit: Visit) -> SitePage | Redirect:
    """Open a case without a finding."""
    contest, form = visit.contest(), visit.form
    fields = {
        "title": form.get("title", ""),
        "text": form.get("text", ""),
        "subjects": form.get("subjects", "").split("\n"),
    }
    fields["subjects"] = [line.strip() for line in fields["subjects"] if line.strip()]
    return act(
        lambda: visit.api.cases.open(contest.id, CaseCreate.model_validate(fields)),
        following=lambda case: addresses.desk(contest.id, "cases", case.id),
        otherwise=lambda error: cases(visit, error=error),
    )


def case(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return a case: its steps, what can be done next, and the evidence."""
    contest = visit.contest()
    shown = visit.api.cases.get(contest.id, visit.path["id"])
    values = {
        "case": shown,
        "names": _names(visit, contest, () if shown.finding is None else [shown.finding]),
        "step": visit.path.get("step", ""),
        "changes": list(visit.api.changes.list(contest.id))[: -SHOWN - 1 : -1],
        "evidence": [] if shown.finding is None else list(_evidence(visit, contest, shown.finding)),
    }
    step = visit.path.get("step", "")
    errors = form_errors(error, names=frozenset({"text", "decision", "reason", "change"}))
    if "text" in errors.fields:  # each step has a field of its own on the page
        errors = FormErrors(fields={f"{step}_text": errors.fields["text"]}, other=errors.other)
    return contest_page(
        visit, contest, "case", values, tab="Cases", error=errors,
        data=addresses.api("contests", contest.id, "cases", shown.id),
    )  # fmt: skip


def add_step(visit: Visit) -> SitePage | Redirect:
    """Add a note, a decision or an appeal to a case, or close it."""
    contest, form = visit.contest(), visit.form
    step, case_id = visit.path["step"], visit.path["id"]
    api = visit.api.cases

    def add() -> Any:
        if step == "decision":
            decision = {
                "decision": form.get("decision", ""),
                "reason": form.get("reason", ""),
                "change": form.get("change") or None,
            }
            return api.decide(contest.id, case_id, DecisionRequest.model_validate(decision))
        steps = {"note": api.add_note, "appeal": api.appeal, "close": api.close}
        if step not in steps:
            raise NotFound(f"there is no step {step!r}; use note, decision, appeal or close")
        request = NoteRequest.model_validate({"text": form.get(f"{step}_text", "")})
        return steps[step](contest.id, case_id, request)

    return act(
        add,
        following=addresses.desk(contest.id, "cases", case_id),
        otherwise=lambda error: case(visit, error=error),
    )


def _evidence(visit: Visit, contest: Contest, finding: Mapping[str, Any]) -> Iterator[CaseEvidence]:
    """Yield the records that a finding is based on, by table."""
    for refs in finding["records"]:
        table, ids = refs["table"], [str(name) for name in refs["ids"]]
        records = [
            record
            for name in ids[:_EVIDENCE]
            for record in islice(
                visit.api.records.list(contest.id, table=table, record=name or None), 1
            )
        ]
        others = tuple(ids[_EVIDENCE : _EVIDENCE + _LISTED])
        yield CaseEvidence(table, refs["count"], tuple(records), others)


def _names(
    visit: Visit, contest: Contest, findings: Iterable[Mapping[str, Any]]
) -> Mapping[str, str]:
    """Return the names that boards show of those whom findings are about, by id."""
    subjects = [str(each) for item in findings for each in item["subjects"][:_NAMED]]
    with visit.service.store.read() as session:
        stored = session.contests.get(contest.id)
        return shown_names(session, stored, tuple({*subjects}), at=stored.seq) or {}


def _same(case: Any, finding: Mapping[str, Any]) -> bool:
    """Return whether a case was opened about a finding of the same check and subjects."""
    stored = case.finding
    return stored is not None and all(
        stored[name] == finding[name] for name in ("code", "subjects")
    )
