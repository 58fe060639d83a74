"""Open, decide, appeal and close integrity cases.

A finding decides nothing: an organizer does. A decision is an entry of the ledger and changes no
score by itself; it may name a change set that does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

import orjson

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import View, permits
from agon.app.contests.ledgers.append import append
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Case, Contest
from agon.errors import Conflict, NotFound, Unreadable
from agon.kernel.text.names import unfit_line
from agon.ledger.entry import Draft, timestamp
from agon.store.session import Session

MAX_TEXT_LENGTH: Final = 10_000
_SHOWN_TO_SUBJECTS: Final = frozenset({"decision", "appeal"})
_MAX_SUBJECTS: Final = 1000
_MAX_TITLE_LENGTH: Final = 200


def open_case(
    service: Service,
    contest_id: str,
    *,
    by: Caller,
    text: str,
    title: str | None = None,
    subjects: Sequence[str] = (),
    finding: int | None = None,
) -> Case:
    """Open a case, from a finding of the last scan or by hand.

    Args:
        service: the service.
        contest_id: the contest.
        by: the caller.
        text: why.
        title: what it is about; None: the finding's message.
        subjects: ids it is about, besides those of the finding.
        finding: index of the finding in the last scan, from 0; None: by hand.

    Raises:
        NotFound: there is no such contest or finding.
        Unreadable: title or text is missing or too long.
    """
    require_text(text)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        stored_finding = None if finding is None else _finding(session, contest, finding)
        all_subjects = [*(stored_finding or {}).get("subjects", ()), *subjects]
        title = (
            (stored_finding or {}).get("message", "")[:_MAX_TITLE_LENGTH]
            if title is None
            else title
        )
        if not 0 < len(title.strip()) <= _MAX_TITLE_LENGTH or len(all_subjects) > _MAX_SUBJECTS:
            raise Unreadable(
                f"a case has a title of 1 to {_MAX_TITLE_LENGTH} characters and at most "
                f"{_MAX_SUBJECTS} subjects; give them"
            )
        case = Case(
            id=service.new_id(),
            contest_no=contest.no,
            state="open",
            title=title.strip(),
            subjects=tuple(dict.fromkeys(map(str, all_subjects))),
            finding=stored_finding,
            steps=(),
            opened_at=service.clock(),
        )
        return _add_step(service, session, case, by, kind="opened", text=text)


def note(service: Service, contest_id: str, case_id: str, *, text: str, by: Caller) -> Case:
    """Add a note to a case that is not closed.

    Raises:
        NotFound: there is no such contest or case.
        Conflict: the case is closed.
        Unreadable: the text is missing or too long.
    """
    require_text(text)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        case = _require_open(session, contest, case_id)
        return _add_step(service, session, case, by, kind="note", text=text)


def decide(
    service: Service,
    contest_id: str,
    case_id: str,
    *,
    decision: str,
    reason: str,
    by: Caller,
    change: str | None = None,
) -> Case:
    """Decide a case; the decision is appended to the ledger.

    Args:
        service: the service.
        contest_id: the contest.
        case_id: the case.
        decision: the decision in a few words (``dismissed``, ``votes voided``).
        reason: why.
        by: the caller.
        change: the id of an existing change set by which it takes effect, if there is one.

    Raises:
        NotFound: no such contest, case or change set.
        Conflict: the case is closed.
        Unreadable: decision or reason is missing or too long.
    """
    require_text(reason)
    if (wrong := unfit_line(decision, longest=_MAX_TITLE_LENGTH)) is not None:
        raise Unreadable(f"the decision {wrong}")
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        case = _require_open(session, contest, case_id)
        if change is not None:
            session.changes.get(contest.no, change)
        body = {
            "case": case.id,
            "decision": decision.strip(),
            "subjects": list(case.subjects),
            "reason": reason,
        }
        draft = Draft(kind="decision-made", body=body, at=service.clock(), by=by.name)
        seq = append(service, session, contest, [draft]).seq
        return _add_step(
            service, session, replace(case, state="decided"), by, kind="decision", text=reason,
            more={"decision": decision.strip(), "change": change, "seq": seq},
        )  # fmt: skip


def appeal(service: Service, contest_id: str, case_id: str, *, text: str, by: Caller) -> Case:
    """Appeal against a decision, as one of its subjects or as an organizer for them.

    Raises:
        NotFound: there is no such contest or case, or it is not about ``by``.
        Conflict: the case is not decided.
        Unreadable: the text is missing or too long.
    """
    require_text(text)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        case = session.cases.get(contest.no, case_id)
        if not permits(by, "case.manage", contest=contest) and by.user not in case.subjects:
            raise NotFound(f"there is no case {case_id!r}; ask the organizers for its id")
        if case.state != "decided":
            raise Conflict(f"case {case.id} is {case.state}; only decided cases can be appealed")
        appealed = replace(case, state="appealed")
        return _add_step(service, session, appealed, by, kind="appeal", text=text)


def for_subjects(case: Case) -> Case:
    """Return a case as its subjects may see it: decisions and appeals only.

    Who opened it and why, the notes and the finding stay with the organizers: they may name
    the participant who reported it.
    """
    steps = tuple(step for step in case.steps if step["kind"] in _SHOWN_TO_SUBJECTS)
    return replace(case, finding=None, steps=steps)


def own_cases(service: Service, view: View) -> list[Case]:
    """Return the decided cases about a caller, oldest first, as subjects may see them.

    A case that has no decision yet is not shown, nor is a decision that was made while the
    contest is frozen: it shows the public what the boards hide.
    """
    if view.user is None:
        return []
    with service.store.read() as session:
        stored = session.cases.about(view.contest.no, view.user)
    own = [_until(for_subjects(case), last_readable_seq(view)) for case in stored]
    return [case for case in own if case.steps]


def _until(case: Case, last: int | None) -> Case:
    """Return a case as it was before the first decision after a position; None: all of it."""
    visible = tuple(takewhile(lambda step: last is None or step.get("seq", 0) <= last, case.steps))
    if len(visible) == len(case.steps):
        return case
    is_appealed = bool(visible) and visible[-1]["kind"] == "appeal"
    return replace(case, steps=visible, state="appealed" if is_appealed else "decided")


def close(service: Service, contest_id: str, case_id: str, *, text: str, by: Caller) -> Case:
    """Close a case; nothing is added to it any more.

    Raises:
        NotFound: there is no such contest or case.
        Conflict: the case is closed already.
        Unreadable: the text is missing or too long.
    """
    require_text(text)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        case = replace(_require_open(session, contest, case_id), state="closed")
        return _add_step(service, session, case, by, kind="closed", text=text)


def case(service: Service, view: View, case_id: str) -> Case:
    """Return a case.

    Raises:
        NotFound: the contest has none of that id.
    """
    with service.store.read() as session:
        return session.cases.get(view.contest.no, case_id)


def cases(
    service: Service, view: View, *, after: str | None = None, limit: int = 100
) -> list[Case]:
    """Return cases, oldest first, those after one."""
    with service.store.read() as session:
        return session.cases.page(view.contest.no, after=after, limit=limit)


def require_text(text: str) -> None:
    """Raise unless a text has an acceptable length.

    Raises:
        Unreadable: it is empty or too long.
    """
    if not 0 < len(text.strip()) <= MAX_TEXT_LENGTH:
        raise Unreadable(f"a text has 1 to {MAX_TEXT_LENGTH:,} characters; say why")


def _finding(session: Session, contest: Contest, index: int) -> dict[str, Any]:
    _, lines = session.cases.findings(contest.no)
    if not 0 <= index < len(lines):
        raise NotFound(
            f"there is no finding {index}; the last scan has {len(lines)}, numbered from 0"
        )
    stored: dict[str, Any] = orjson.loads(lines[index])
    return stored


def _require_open(session: Session, contest: Contest, case_id: str) -> Case:
    case = session.cases.get(contest.no, case_id)
    if case.state == "closed":
        raise Conflict(f"case {case_id} is closed; open another one")
    return case


def _add_step(
    service: Service,
    session: Session,
    case: Case,
    by: Caller,
    *,
    kind: str,
    text: str,
    more: Mapping[str, Any] | None = None,
) -> Case:
    """Store a case with one more step, and write the audit log."""
    step = {
        "at": timestamp(service.clock()),
        "by": by.name,
        "kind": kind,
        "text": text,
        **(more or {}),
    }
    stepped = replace(case, steps=(*case.steps, step))
    session.cases.save(stepped)
    add_audit_entry(service, session, by=by, action=f"case.{kind}", target=case.id)
    return stepped
