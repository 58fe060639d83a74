"""Test cases: steps, decisions and appeals."""

import orjson
import pytest

from agon.api.models.cases import NoteRequest
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.cases import (
    appeal,
    case,
    cases,
    close,
    decide,
    note,
    open_case,
    own_cases,
)
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import propose
from agon.app.contests.lifecycle.transitions import freeze, unfreeze
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.access import Caller
from agon.entities.contests import Case
from agon.errors import AgonError, Conflict, Forbidden, NotFound, Unauthenticated, Unreadable
from fakes.service import ORGANISER, PARTICIPANT
from fakes.spring import spring, view

J1 = Caller(name="user:j1", user="j1", role="judge")
J2 = Caller(name="user:j2", user="j2", role="judge")


@pytest.fixture
def opened(service: Service) -> Case:
    """Open a case about the judge ``j1``."""
    spring(service)
    return open_case(
        service, "spring", title="Votes in a second", subjects=["j1"], text="look", by=ORGANISER
    )


def test_a_case_has_every_step_with_its_author(service: Service, opened: Case) -> None:
    """An appeal is decided by authors, texts and times of the steps."""
    note(service, "spring", opened.id, text="asked them", by=ORGANISER)
    decide(service, "spring", opened.id, decision="votes stand", reason="slow net", by=ORGANISER)
    appeal(service, "spring", opened.id, text="but", by=J1)
    decide(service, "spring", opened.id, decision="votes void", reason="logs", by=ORGANISER)
    closed = close(service, "spring", opened.id, text="done", by=ORGANISER)
    assert [(step["kind"], step["by"]) for step in closed.steps] == [
        ("opened", "user:olga"),
        ("note", "user:olga"),
        ("decision", "user:olga"),
        ("appeal", "user:j1"),
        ("decision", "user:olga"),
        ("closed", "user:olga"),
    ]
    stored = case(service, view(service, ORGANISER), opened.id)
    assert (stored.state, list(stored.steps)) == ("closed", list(closed.steps))
    assert cases(service, view(service, ORGANISER)) == [stored]


@pytest.mark.exhaustive
def test_a_decision_is_an_entry_and_changes_no_score(service: Service, opened: Case) -> None:
    """The ledger has the decision; only a change set changes scores."""
    before = [snapshot.board_sha256 for snapshot in publish(service, "spring").snapshots]
    change = propose(
        service, "spring", kind="void", params={"people": ["j1"]}, reason="r", by=ORGANISER
    )
    decided = decide(
        service, "spring", opened.id, decision="votes void", reason="logs", change=change.id,
        by=ORGANISER,
    )  # fmt: skip
    step = decided.steps[-1]
    with service.store.read() as session:
        (entry,) = session.entries.after(1, step["seq"] - 1)
    assert orjson.loads(entry.line)["body"] == {
        "case": opened.id, "decision": "votes void", "subjects": ["j1"], "reason": "logs",
    }  # fmt: skip
    assert step["change"] == change.id
    assert [snapshot.board_sha256 for snapshot in publish(service, "spring").snapshots] == before
    with pytest.raises(NotFound):
        decide(service, "spring", opened.id, decision="d", reason="r", change="x", by=ORGANISER)


def test_a_case_is_opened_from_a_finding(service: Service) -> None:
    """The finding in the case does not change with later scans."""
    spring(service)
    finding = scan(service, "spring").findings[0]
    opened = open_case(service, "spring", finding=0, text="look", by=ORGANISER)
    assert (opened.finding, opened.title) == (finding, str(finding["message"])[:200])
    with pytest.raises(NotFound, match="no finding 99"):
        open_case(service, "spring", finding=99, text="look", by=ORGANISER)


def test_its_subjects_may_appeal_and_other_participants_do_not_see_it(
    service: Service, opened: Case
) -> None:
    """For other participants the case does not exist."""
    decide(service, "spring", opened.id, decision="d", reason="r", by=ORGANISER)
    for caller in (J2, PARTICIPANT):
        with pytest.raises(NotFound):
            appeal(service, "spring", opened.id, text="but", by=caller)
        with pytest.raises(Forbidden):
            Local(service, by=caller).cases.get("spring", opened.id)
    with pytest.raises(Unauthenticated):
        Local(service, by=ANONYMOUS).cases.appeal("spring", opened.id, NoteRequest(text="but"))
    assert appeal(service, "spring", opened.id, text="but", by=J1).state == "appealed"
    with pytest.raises(Conflict, match="is appealed"):
        appeal(service, "spring", opened.id, text="again", by=J1)


def test_a_closed_case_takes_no_step(service: Service, opened: Case) -> None:
    """Its subjects were notified of the end."""
    close(service, "spring", opened.id, text="done", by=ORGANISER)
    with pytest.raises(Conflict, match="is closed"):
        note(service, "spring", opened.id, text="more", by=ORGANISER)
    with pytest.raises(Conflict, match="is closed"):
        decide(service, "spring", opened.id, decision="d", reason="r", by=ORGANISER)


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", ["", "  ", "x" * 10_001])
def test_a_step_without_text_is_rejected(service: Service, opened: Case, text: str) -> None:
    """A decision without a text cannot be appealed."""
    error: type[AgonError] = Unreadable
    with pytest.raises(error):
        note(service, "spring", opened.id, text=text, by=ORGANISER)
    with pytest.raises(error):
        decide(service, "spring", opened.id, decision="d", reason=text, by=ORGANISER)
    with pytest.raises(error):
        open_case(service, "spring", title="t", text=text, by=ORGANISER)


def test_a_subject_sees_the_decisions_about_them_and_nothing_else(
    service: Service, opened: Case
) -> None:
    """Who does not know of a decision cannot appeal."""
    other = open_case(
        service, "spring", title="Others", subjects=["J1", 'j"1%'], text="x", by=ORGANISER
    )
    decide(service, "spring", other.id, decision="d", reason="r", by=ORGANISER)
    note(service, "spring", opened.id, text="asked the reporter", by=ORGANISER)
    assert own_cases(service, view(service, J1)) == []
    decide(service, "spring", opened.id, decision="votes stand", reason="slow", by=ORGANISER)
    appeal(service, "spring", opened.id, text="but", by=J1)
    [own] = own_cases(service, view(service, J1))
    assert (own.id, own.state, own.finding) == (opened.id, "appealed", None)
    assert [step["kind"] for step in own.steps] == ["decision", "appeal"]
    for caller in (J2, ORGANISER, ANONYMOUS):
        assert own_cases(service, view(service, caller)) == []
    odd = Caller(name="user:odd", user='j"1%', role="judge")
    assert [each.id for each in own_cases(service, view(service, odd))] == [other.id]
    freeze(service, "spring", by=ORGANISER)
    decide(service, "spring", opened.id, decision="votes void", reason="logs", by=ORGANISER)
    close(service, "spring", opened.id, text="done", by=ORGANISER)
    assert own_cases(service, view(service, J1)) == [own]
    unfreeze(service, "spring", reason="end", by=ORGANISER)
    [own] = own_cases(service, view(service, J1))
    assert (own.state, len(own.steps)) == ("closed", 3)
