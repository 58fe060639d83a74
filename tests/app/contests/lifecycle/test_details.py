"""Test editing a contest, and its start and end."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.api.models.contests import ContestUpdate
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import AgonError, Conflict, Forbidden, NotFound, Unauthenticated, Unreadable
from agon.ledger.entry import read_line
from agon.store.maintenance.verify import verify
from fakes.service import JUDGE, ORGANISER, PARTICIPANT, VIEWER, Clock, service_at

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)  # the clock of a new service
HOUR = timedelta(hours=1)
VOTE = ("votes", {"match_id": "m1", "judge_id": "judy", "shown_first": "a", "vote": "A",
                  "voted_at": "2026-11-22T09:00:00Z"}, None)  # fmt: skip


@pytest.fixture
def spring(service: Service) -> Service:
    """Open an arena that has a match and neither a start nor an end."""
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    record(
        service,
        "spring",
        [
            *(("bots", {"id": name, "name": name}, None) for name in ("x", "y")),
            ("matches", {"id": "m1", "played_at": "2026-11-22T00:00:00Z", "bot_a": "x",
                         "bot_b": "y", "kind": "rated"}, None),
        ],
        by=ORGANISER,
    )  # fmt: skip
    return service


def _entries(service: Service) -> list[Any]:
    with service.store.read() as session:
        contest = session.contests.get("spring")
        return [read_line(entry.line) for entry in session.entries.after(contest.no, 0)]


def test_an_edit_is_one_entry_with_all_details_and_leaves_the_others(spring: Service) -> None:
    """A reader of the ledger knows who changed what and when; the audit log names the fields."""
    before = _entries(spring)
    edited = edit(spring, "spring", {"title": "Cup", "ends_at": NOW + HOUR}, by=ORGANISER)
    assert (edited.title, edited.description, edited.visibility) == ("Cup", "", "public")
    assert (edited.starts_at, edited.ends_at) == (None, NOW + HOUR)
    with spring.store.read() as session:
        assert session.contests.get("spring") == edited
        [logged] = session.access.audit_entries(limit=1)
        [event] = session.events.after(0, contest_no=edited.no, until=None, limit=100)[-1:]
    [entry] = _entries(spring)[len(before) :]
    assert (entry.kind, entry.by) == ("contest-edited", "user:olga")
    assert entry.body == {
        "title": "Cup", "description": "", "visibility": "public", "starts_at": None,
        "ends_at": "2026-11-22T10:00:00.000000Z",
    }  # fmt: skip
    assert (logged.action, logged.detail["changed"]) == ("contest.edit", ["title", "ends_at"])
    assert (event.kind, event.staff, event.body["title"]) == ("contest-edited", False, "Cup")


def test_an_edit_that_changes_nothing_and_a_dry_run_add_no_entry(spring: Service) -> None:
    """A request that is sent twice has the effect of one."""
    first = edit(spring, "spring", {"title": "Cup"}, by=ORGANISER)
    assert edit(spring, "spring", {"title": "Cup"}, by=ORGANISER) == first
    tried = edit(spring, "spring", {"title": "League"}, by=ORGANISER, dry_run=True)
    assert (tried.title, tried.seq) == ("League", first.seq)
    with spring.store.read() as session:
        assert session.contests.get("spring") == first


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": " "}, "the title has 0 characters; give 1 to 200"),
        ({"title": "a\u202eb"}, "the title has the character U+202E, which is not printable"),
        ({"description": "\x00"}, "NUL"),
        ({"description": "a" * 20_001}, "at most 20,000"),
        ({"visibility": "secret"}, "give public or private"),
        ({"starts_at": NOW, "ends_at": NOW}, "is not after the start"),
    ],
)
def test_invalid_details_are_rejected_by_edits_and_at_creation(
    spring: Service, changes: dict[str, Any], message: str
) -> None:
    """Both write the same fields."""
    entries = len(_entries(spring))
    with pytest.raises(Unreadable, match=re.escape(message)):
        edit(spring, "spring", changes, by=ORGANISER)
    new = NewContest(**{"id": "cup", "discipline": "arena", "title": "Cup", **changes})
    with pytest.raises(Unreadable, match=re.escape(message)):
        create(spring, new, by=ORGANISER)
    assert len(_entries(spring)) == entries


def test_an_end_is_compared_with_the_start_that_stays(spring: Service) -> None:
    """An edit may name one of the two."""
    edit(spring, "spring", {"starts_at": NOW}, by=ORGANISER)
    with pytest.raises(Unreadable, match="give a later end"):
        edit(spring, "spring", {"ends_at": NOW - HOUR}, by=ORGANISER)
    edit(spring, "spring", {"ends_at": NOW - HOUR, "starts_at": None}, by=ORGANISER)


@pytest.mark.exhaustive
def test_a_final_contest_keeps_its_times_and_can_be_described(spring: Service) -> None:
    """Its result depends on the times; a title can have a spelling error."""
    freeze(spring, "spring", by=ORGANISER)
    edit(spring, "spring", {"ends_at": NOW + HOUR}, by=ORGANISER)
    finalize(spring, "spring", by=ORGANISER)
    for changes in ({"ends_at": None}, {"starts_at": NOW}, {"title": "Cup", "starts_at": NOW}):
        with pytest.raises(Conflict, match="spring is final and takes nothing more; leave start"):
            edit(spring, "spring", changes, by=ORGANISER)
    edited = edit(spring, "spring", {"title": "Cup", "ends_at": NOW + HOUR}, by=ORGANISER)
    assert (edited.title, edited.state) == ("Cup", "final")


@pytest.mark.parametrize("caller", [JUDGE, PARTICIPANT])
def test_participants_add_from_the_start_until_before_the_end(spring: Service, caller: Any) -> None:
    """Organizers still can: they load and correct records."""

    def add(by: Any, judge: str = "judy") -> None:
        record(spring, "spring", [(VOTE[0], {**VOTE[1], "judge_id": judge}, None)], by=by)

    edit(spring, "spring", {"starts_at": NOW + HOUR}, by=ORGANISER)
    with pytest.raises(Conflict, match=r"spring starts at 2026-11-22T10:00:00\.000000Z; send it"):
        add(caller)
    with pytest.raises(Conflict, match="spring starts at"):
        submit(spring, "spring", SubmissionContent(user="ada", content={}), by=PARTICIPANT)
    edit(spring, "spring", {"starts_at": NOW, "ends_at": NOW + timedelta(days=1)}, by=ORGANISER)
    add(JUDGE)
    edit(spring, "spring", {"ends_at": NOW + timedelta(seconds=1)}, by=ORGANISER)
    with pytest.raises(Conflict, match=r"spring ended at 2026-11-22T09:00:01\.000000Z; only its"):
        add(caller)
    with pytest.raises(Conflict, match="spring ended at"):
        submit(spring, "spring", SubmissionContent(user="ada", content={}), by=PARTICIPANT)
    add(ORGANISER, "jim")


def test_the_first_instant_is_inside_and_the_end_is_outside(tmp_path: Path) -> None:
    """A deadline of 18:00 is over at 18:00."""
    clock = Clock(at=NOW, step=timedelta(0))
    service = service_at(tmp_path, clock=clock)
    new = NewContest(id="spring", discipline="arena", title="S", starts_at=NOW,
                     ends_at=NOW + HOUR)  # fmt: skip
    create(service, new, by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    assert record(service, "spring", [], by=JUDGE).added == 0
    clock.at = NOW + HOUR - timedelta(microseconds=1)
    record(service, "spring", [], by=JUDGE)
    clock.at = NOW + HOUR
    with pytest.raises(Conflict, match="ended at"):
        record(service, "spring", [], by=JUDGE)
    service.store.close()


def test_a_private_contest_is_gone_for_others_at_once(spring: Service) -> None:
    """Visibility is decided at every request."""
    anyone = Local(spring, by=ANONYMOUS)
    assert anyone.contests.get("spring").visibility == "public"
    Local(spring, by=ORGANISER).contests.edit("spring", ContestUpdate(visibility="private"))
    with pytest.raises(NotFound):
        anyone.contests.get("spring")


@pytest.mark.parametrize(
    ("caller", "error"),
    [
        (ANONYMOUS, Unauthenticated),
        (VIEWER, Forbidden),
        (JUDGE, Forbidden),
        (PARTICIPANT, Forbidden),
        (replace(ORGANISER, contests=("autumn",)), Forbidden),
    ],
)
def test_only_organizers_of_the_contest_edit_it(
    spring: Service, caller: Any, error: type[AgonError]
) -> None:
    """An organizer's token may be limited to other contests."""
    with pytest.raises(error):
        Local(spring, by=caller).contests.edit("spring", ContestUpdate(title="Mine"))


def test_an_edited_ledger_is_exported_imported_and_verified(
    spring: Service, tmp_path: Path
) -> None:
    """Another server derives the same details from the entries."""
    edit(spring, "spring", {"starts_at": NOW, "visibility": "private"}, by=ORGANISER)
    edited = edit(spring, "spring", {"title": "Cup", "starts_at": None}, by=ORGANISER)
    export(spring, "spring", tmp_path / "ledger")
    (tmp_path / "other").mkdir()
    other = service_at(tmp_path / "other")
    imported = import_contest(other, tmp_path / "ledger", by=ORGANISER)
    other.store.close()
    assert (imported.title, imported.visibility) == ("Cup", "private")
    assert (imported.starts_at, imported.head) == (None, edited.head)
    result = verify(f"sqlite:///{tmp_path}/other/agon.db")
    assert (result.contests, result.issues) == (1, ())
