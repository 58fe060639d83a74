"""Test how people look into findings and decide."""

import orjson
import pytest

from agon.api.models.cases import NoteRequest
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.cases import appeal, case, cases, close, decide, note, open_case
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import propose
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
    """Hold a case about the judge ``j1``."""
    spring(service)
    return open_case(
        service, "spring", title="Votes in a second", subjects=["j1"], text="look", by=ORGANISER
    )


def test_a_case_keeps_every_step_with_its_author(service: Service, opened: Case) -> None:
    """Who said what when is what an appeal is judged by."""
    note(service, "spring", opened.id, text="asked them", by=ORGANISER)
    decide(service, "spring", opened.id, decision="votes stand", reason="slow net", by=ORGANISER)
    appeal(service, "spring", opened.id, text="but", by=J1)
    decide(service, "spring", opened.id, decision="votes void", reason="logs", by=ORGANISER)
    done = close(service, "spring", opened.id, text="done", by=ORGANISER)
    assert [(one["kind"], one["by"]) for one in done.steps] == [
        ("opened", "user:olga"),
        ("note", "user:olga"),
        ("decision", "user:olga"),
        ("appeal", "user:j1"),
        ("decision", "user:olga"),
        ("closed", "user:olga"),
    ]
    kept = case(service, view(service, ORGANISER), opened.id)
    assert (kept.state, list(kept.steps)) == ("closed", list(done.steps))
    assert cases(service, view(service, ORGANISER)) == [kept]


def test_a_decision_is_an_entry_and_changes_no_score(service: Service, opened: Case) -> None:
    """The ledger holds what people decided; what it does to scores is a change set's work."""
    before = [one.board_sha256 for one in publish(service, "spring").snapshots]
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
    assert [one.board_sha256 for one in publish(service, "spring").snapshots] == before
    with pytest.raises(NotFound):
        decide(service, "spring", opened.id, decision="d", reason="r", change="x", by=ORGANISER)


def test_a_case_is_opened_from_a_finding(service: Service) -> None:
    """The finding stays in the case as it was, whatever a later look finds."""
    spring(service)
    found = scan(service, "spring").findings[0]
    opened = open_case(service, "spring", finding=0, text="look", by=ORGANISER)
    assert (opened.finding, opened.title) == (found, str(found["message"])[:200])
    with pytest.raises(NotFound, match="no finding 99"):
        open_case(service, "spring", finding=99, text="look", by=ORGANISER)


def test_those_it_is_about_may_appeal_and_nobody_else_learns_of_it(
    service: Service, opened: Case
) -> None:
    """To others, a case that is not about them is not there."""
    decide(service, "spring", opened.id, decision="d", reason="r", by=ORGANISER)
    for other in (J2, PARTICIPANT):
        with pytest.raises(NotFound):
            appeal(service, "spring", opened.id, text="but", by=other)
        with pytest.raises(Forbidden):
            Local(service, by=other).cases.get("spring", opened.id)
    with pytest.raises(Unauthenticated):
        Local(service, by=ANONYMOUS).cases.appeal("spring", opened.id, NoteRequest(text="but"))
    assert appeal(service, "spring", opened.id, text="but", by=J1).state == "appealed"
    with pytest.raises(Conflict, match="is appealed"):
        appeal(service, "spring", opened.id, text="again", by=J1)


def test_a_closed_case_takes_nothing_more(service: Service, opened: Case) -> None:
    """What was closed was told to people as the end."""
    close(service, "spring", opened.id, text="done", by=ORGANISER)
    with pytest.raises(Conflict, match="is closed"):
        note(service, "spring", opened.id, text="more", by=ORGANISER)
    with pytest.raises(Conflict, match="is closed"):
        decide(service, "spring", opened.id, decision="d", reason="r", by=ORGANISER)


@pytest.mark.parametrize("text", ["", "  ", "x" * 10_001])
def test_a_step_without_words_is_refused(service: Service, opened: Case, text: str) -> None:
    """A decision nobody can read cannot be appealed."""
    refused: type[AgonError] = Unreadable
    with pytest.raises(refused):
        note(service, "spring", opened.id, text=text, by=ORGANISER)
    with pytest.raises(refused):
        decide(service, "spring", opened.id, decision="d", reason=text, by=ORGANISER)
    with pytest.raises(refused):
        open_case(service, "spring", title="t", text=text, by=ORGANISER)
