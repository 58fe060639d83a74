"""Findings and cases in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import Case, Contest
from agon.errors import NotFound
from agon.store.session import Store
from store.factories import later

pytestmark = pytest.mark.one_database


def _case(contest_no: int, name: str = "k1", *, at: float = 0) -> Case:
    step = {"at": "2026-11-22", "by": "user:ada", "kind": "opened", "text": "see"}
    return Case(
        id=name, contest_no=contest_no, state="open", title="Same machine", subjects=("a", "b"),
        finding={"check": "twins", "size": 2}, steps=(step,), opened_at=later(at),
    )  # fmt: skip


def test_a_case_is_saved_new_and_known(store: Store, spring: Contest) -> None:
    """Every step ever taken stays readable."""
    case = _case(spring.no)
    decided = replace(case, state="decided", steps=(*case.steps, {"kind": "decision"}))
    by_hand = replace(_case(spring.no, "k2"), finding=None, subjects=())
    with store.write() as session:
        session.cases.save(case)
        assert session.cases.get(spring.no, "k1") == case
        session.cases.save(decided)
        session.cases.save(by_hand)
    with store.read() as session:
        assert session.cases.get(spring.no, "k1") == decided
        assert session.cases.get(spring.no, "k2") == by_hand
        with pytest.raises(NotFound):
            session.cases.get(spring.no + 1, "k1")


def test_cases_are_listed_oldest_first(store: Store, spring: Contest) -> None:
    """Who waits longest is seen first."""
    with store.write() as session:
        for name, at in [("z", 0), ("a", 1), ("b", 1)]:
            session.cases.save(_case(spring.no, name, at=at))
    with store.read() as session:
        assert [one.id for one in session.cases.page(spring.no)] == ["z", "a", "b"]
        assert [one.id for one in session.cases.page(spring.no, after="z", limit=1)] == ["a"]


def test_findings_are_those_of_the_last_look(store: Store, spring: Contest) -> None:
    """A search without findings differs from no search."""
    with store.write() as session:
        assert (
            session.cases.findings(spring.no)
            == (session.cases.scan_position(spring.no), [])
            == (0, [])
        )
        session.cases.save_findings(spring.no, 5, [b'{"a":1}', b'{"b":"\xc3\xa4"}'])
        assert session.cases.findings(spring.no) == (5, [b'{"a":1}', b'{"b":"\xc3\xa4"}'])
        session.cases.save_findings(spring.no, 8, [])
    with store.read() as session:
        assert session.cases.findings(spring.no) == (8, [])
        assert session.cases.scan_position(spring.no) == 8
