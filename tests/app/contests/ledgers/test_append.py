"""Test appending: the stored contest is equal to the fold of its ledger."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.app.access.permissions import ANONYMOUS, view_of
from agon.app.contests.ledgers.append import append
from agon.app.contests.ledgers.past import contest_as_of
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.editions import editions
from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unreadable
from agon.ledger.entry import Draft
from agon.ledger.fold import ContestState, LedgerState, empty_ledger, fold
from agon.records import InvalidRecords
from fakes.service import ORGANISER
from sizes import size

SHA = "0" * 64
EDITION = editions("arena")[0]


def _adopted(change: str | None, k_new: int) -> tuple[str, dict[str, Any]]:
    return "edition-adopted", {
        "edition": EDITION, "overrides": {"k_new": k_new}, "rules_sha256": SHA, "change": change,
        "reason": "why",
    }  # fmt: skip


STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "open": ("contest-opened", {}),
    "freeze": ("contest-frozen", {"boards": {}}),
    "unfreeze": ("contest-unfrozen", {"reason": "why"}),
    "finalise": ("contest-finalised", {"boards": {}}),
    "adopt": _adopted(None, 16),
    "change-1": _adopted("c1", 24),
    "change-2": _adopted("c2", 64),
    "back-1": ("change-rolled-back", {"change": "c1", "reason": "why"}),
    "back-2": ("change-rolled-back", {"change": "c2", "reason": "why"}),
    "edit": (
        "contest-edited",
        {
            "title": "Cup",
            "description": "",
            "visibility": "private",
            "starts_at": None,
            "ends_at": "2026-12-24T18:00:00.000000Z",
        },
    ),
    "decide": ("decision-made", {"case": None, "decision": "d", "subjects": [], "reason": "r"}),
}
FOLLOWS: dict[str, Callable[[str, set[str]], bool]] = {
    "open": lambda state, _: state == "draft",
    "freeze": lambda state, _: state == "open",
    "unfreeze": lambda state, _: state == "frozen",
    "finalise": lambda state, _: state in {"open", "frozen"},
    "change-1": lambda _, done: "back-1" not in done,
    "change-2": lambda _, done: "back-2" not in done,
    "back-1": lambda _, done: "change-1" in done and "back-1" not in done,
    "back-2": lambda _, done: "change-2" in done and "back-2" not in done,
}


def _enter(service: Service, contest: str, kind: str, body: dict[str, Any]) -> Contest:
    with service.store.write() as session:
        draft = Draft(kind=kind, body=body, at=service.clock(), by="user:olga")
        return append(service, session, session.contests.lock(contest), [draft])


def _folded(service: Service, contest: Contest) -> LedgerState:
    with service.store.read() as session:
        lines = [one.line for one in session.entries.after(contest.no)]
    return fold(lines, start=empty_ledger(contest.id))


def _values(contest: ContestState, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(contest, name) for name in names}


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=12))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=size(40),
    deadline=None,
)
def test_a_contest_after_any_entries_is_the_fold_of_its_ledger(
    service: Service, steps: list[str]
) -> None:
    """The row in the database is derived from the ledger."""
    name = service.new_id()
    contest = create(service, NewContest(id=name, discipline="arena", title="S"), by=ORGANISER)
    done: set[str] = set()
    for step in steps:
        if step not in FOLLOWS or FOLLOWS[step](contest.state, done):
            contest = _enter(service, name, *STEPS[step])
            done.add(step)
    ledger = _folded(service, contest)
    shared = {field.name for field in fields(Contest)} & {
        field.name for field in fields(ContestState)
    }
    assert _values(contest, shared) == _values(ledger.contest, shared)
    with service.store.read() as session:
        assert session.contests.get(name) == contest
        view = view_of(contest, ORGANISER)
        for seq in range(1, contest.seq + 1):
            past = contest_as_of(session, view, str(seq))
            assert past.seq == seq
            names = shared - {"seq", "head"}
            assert _values(past, names) == _values(ledger.contest_at(seq), names)
        with pytest.raises(NotFound, match="did not exist by 0"):
            contest_as_of(session, view, "0")


def test_the_public_sees_no_title_from_before_a_contest_was_public(service: Service) -> None:
    """What was private stays private when the contest is opened to all."""
    hidden = NewContest(id="cup", discipline="arena", title="For us", visibility="private")
    create(service, hidden, by=ORGANISER)
    for title, visibility in (("Still for us", "private"), ("Cup", "public"), ("New", "public")):
        body = {**STEPS["edit"][1], "title": title, "visibility": visibility}
        contest = _enter(service, "cup", "contest-edited", body)
    with service.store.read() as session:
        titles = {
            caller.name: [
                contest_as_of(session, view_of(contest, caller), str(seq)).title
                for seq in range(1, contest.seq + 1)
            ]
            for caller in (ORGANISER, ANONYMOUS)
        }
    assert titles == {
        ORGANISER.name: ["For us", "Still for us", "Cup", "New"],
        ANONYMOUS.name: ["Cup", "Cup", "Cup", "New"],
    }


def test_drafts_older_than_the_newest_entry_get_its_time(service: Service) -> None:
    """Times never decrease, also if clocks do."""
    contest = create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    with service.store.write() as session:
        early = contest.created_at - timedelta(days=1)
        drafts = [Draft(kind="contest-opened", body={}, at=early, by="x")]
        append(service, session, session.contests.lock("spring"), drafts)
        assert session.entries.time_of(contest.no, 2) == contest.created_at


def test_a_record_that_its_table_does_not_allow_is_not_appended(service: Service) -> None:
    """A ledger with such a row could not be scored."""
    create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    with pytest.raises(InvalidRecords):
        _enter(service, "spring", "record-added", {"table": "bots", "row": {"id": "x"}})
    with pytest.raises(NotFound, match="did you mean bots"):
        _enter(service, "spring", "record-added", {"table": "bot", "row": {}})
    with pytest.raises(Unreadable):
        _enter(service, "spring", "contest-paused", {})
    with service.store.read() as session:
        assert session.contests.get("spring").seq == 1


def test_public_events_have_no_staff_fields(service: Service) -> None:
    """Terms, points and names are only for staff."""
    create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    _enter(service, "spring", "problem-published", {"problem": "p", "package": {"terms": ["42"]}})
    _enter(service, "spring", "adjustment-made", {"board": "bots", "id": "x", "points": 1.5,
                                                  "change": None, "reason": "r"})  # fmt: skip
    with service.store.read() as session:
        events = session.events.after(0)
    assert [(one.kind, one.staff) for one in events] == [
        ("contest-created", True), ("problem-published", False), ("adjustment-made", True),
    ]  # fmt: skip
    assert events[1].body == {"problem": "p"}


def test_an_entry_that_the_state_does_not_allow_is_rejected_and_nothing_is_stored(
    service: Service,
) -> None:
    """Not every caller of append checks first; the ledger must remain valid."""
    contest = create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    for kind, body in (STEPS["freeze"], STEPS["unfreeze"], STEPS["finalise"]):
        with pytest.raises(Conflict, match="spring is draft and cannot be"):
            _enter(service, "spring", kind, body)
    with service.store.read() as session:
        assert session.contests.get("spring") == contest
