"""Every operation that leads to records is listed, and every table says who writes it."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.api.record_ways import TIMES_SET_BY
from agon.app.access.permissions import ACTIONS, LOCAL
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.service import Service
from agon.disciplines import BUILT_IN, discipline
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.entities.access import Caller
from agon.errors import AgonError, Conflict
from agon.ledger.drafts import submission_draft
from fakes.arena import league
from fakes.service import JUDGE, OPERATOR, ORGANISER, service_at

WAYS = {each.id: each.records for each in all_operations() if each.records is not None}
PACKAGE = Path(__file__).parents[2] / "src" / "agon"
WRITERS = {
    "app/arena/live/entrants/bots.py": "protocol",
    "app/arena/live/entrants/people.py": "protocol",
    "app/arena/live/settlement.py": "protocol",
    "app/arena/live/entrants/versions.py": "protocol",
    "app/contests/changes/proposals.py": "change-set",
    "app/contests/ingest/records.py": "sent",
    "app/contests/lifecycle/transfer.py": "import",
    "app/contests/submissions/agents.py": "protocol",
    "app/dojo/lifecycle.py": "protocol",
    "app/dojo/season.py": "none",  # a season in a folder, without a service
    "app/worker/outcome_records.py": "protocol",
    "app/worker/submissions.py": "protocol",
    "app/worker/trials.py": "protocol",
}
"""The modules that add records to ledgers, each with the way as in ``agon.api.record_ways``."""

_ADDING = {"RecordImporter", "record_draft", "record_once"}
_KINDS = {"record-added", "record-replaced"}
"""Kinds of entries that hold a record; a module that makes a draft of one names it."""


def test_every_operation_that_changes_something_is_a_listed_door() -> None:
    """A new operation has to say whether it leads to records, and who sets their times."""
    for each in all_operations():
        assert (each.records is not None) is each.changes, each.id
    assert TIMES_SET_BY.keys() == set(WAYS.values()) - {"none"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_table_says_who_writes_it(name: str) -> None:
    """A new table has to say whether senders or a protocol write it, and at which operations."""
    of = discipline(name)
    assert sorted(of.written_by) == sorted(table.name for table in of.schema)
    for owner in of.written_by.values():
        operations = owner.also if owner.protocol is None else owner.protocol.operations
        assert {WAYS[operation] for operation in operations} <= {"protocol"}
        if owner.protocol is not None:
            assert owner.protocol.begins
            assert operations


def test_every_door_of_a_protocol_is_that_of_a_table() -> None:
    """One that writes no table would be listed by mistake."""
    owners = [owner for name in BUILT_IN for owner in discipline(name).written_by.values()]
    named = {operation for owner in owners for operation in owner.also}
    named |= {each for owner in owners if owner.protocol for each in owner.protocol.operations}
    assert {name for name, way in WAYS.items() if way == "protocol"} == named


def test_only_staff_send_records_that_are_not_their_own_votes() -> None:
    """Who may use a door is said by the permission of its operation alone."""
    permissions = {each.id: each.permission for each in all_operations()}
    roles = {name: ACTIONS[str(permissions[name])] for name, way in WAYS.items()
             if way not in {"none", "protocol"}}  # fmt: skip
    assert roles.pop("addVotes") == {"organiser", "operator", "judge"}
    assert set(roles.values()) == {frozenset({"organiser", "operator"})}


def test_every_module_that_adds_records_is_listed() -> None:
    """A new one would be a door that asks nothing."""
    adding = set()
    for file in PACKAGE.rglob("*.py"):
        name = str(file.relative_to(PACKAGE))
        if not name.startswith("app/"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            called = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
            if called in _ADDING or (
                isinstance(node, ast.Call)
                and called in {"Draft", "Body", "NewRecords"}
                and any(
                    isinstance(each, ast.Constant) and each.value in _KINDS
                    for each in ast.walk(node)
                )
            ):
                adding.add(name)
    expected = set(WRITERS) - {"app/contests/lifecycle/transfer.py"}  # whole ledgers
    assert adding == expected


def arena(folder: Path) -> tuple[Service, str]:
    """Return an arena whose first round was played, and its service."""
    played = league(folder)
    open_contest(played.service, "autumn", by=LOCAL)
    assert played.play() == []
    return played.service, "autumn"


def with_submission(name: str) -> Callable[[Path], tuple[Service, str]]:
    """Return a function that opens a contest with a submission."""

    def opened(folder: Path) -> tuple[Service, str]:
        service = replace(service_at(folder), tasks=lambda: ("fix-script",))
        create(service, NewContest(id="autumn", discipline=name, title="A"), by=ORGANISER)
        open_contest(service, "autumn", by=ORGANISER)
        if name == "challenge":
            stake = {"id": SERVICE_VALIDATOR, "stake": 1.0}
            record(service, "autumn", [("validators", stake, None)], by=ORGANISER)
            agent = {"command": "sh run.sh", "files": {}}
            content = {"miner_uid": 7, "agent": agent}
            submit(service, "autumn", SubmissionContent(user="7", content=content), by=ORGANISER)
        else:
            receive(service)
        return service, "autumn"

    return opened


def receive(service: Service) -> None:
    """Enter a program as the operation does, without the sandbox that its problem needs."""
    from agon.app.contests.ledgers.append import append

    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        draft = submission_draft(
            "s1", user="ada", problem="p1", content={"source": "x"}, at=service.clock(),
            by="user:ada", external_id="e1",
        )  # fmt: skip
        append(service, session, contest, [draft])


LIVE: dict[str, Callable[[Path], tuple[Service, str]]] = {
    "arena": arena,
    "dojo": with_submission("dojo"),
    "challenge": with_submission("challenge"),
}
"""How a contest becomes live; community has no protocol."""


@pytest.fixture(scope="module", params=sorted(LIVE))
def live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, str, str]]:
    """Share one live contest of each discipline: refused records change nothing."""
    service, contest = LIVE[request.param](tmp_path_factory.mktemp(request.param))
    yield service, contest, request.param
    service.store.close()


def test_disciplines_with_protocols_are_tried_live() -> None:
    """A new protocol needs a live contest here."""
    assert set(LIVE) == {name for name in BUILT_IN if discipline(name).protocols}


@pytest.mark.exhaustive
@pytest.mark.parametrize("caller", [ORGANISER, OPERATOR, LOCAL], ids=lambda each: each.name)
@pytest.mark.parametrize("options", [{}, {"replace": True}, {"dry_run": True}], ids=str)
def test_senders_add_to_a_live_contest_exactly_what_no_protocol_owns(
    live: tuple[Service, str, str], caller: Caller, options: dict[str, bool]
) -> None:
    """The table of owners decides, for every table and for rows of any form."""
    service, contest, name = live
    of = discipline(name)
    for table in of.schema:
        owner = of.owner(table.name)
        row = {owner.column or "id": owner.value or "x", "odd": "row"}
        other = {**row, owner.column or "id": "another"}
        is_owned = owner.protocol is not None
        for sent, owned in ((row, is_owned), (other, is_owned and owner.column is None)):
            message = error_of(service, contest, table.name, sent, caller, options)
            refused = f"{contest} is live, and {table.name}" in message
            assert refused is owned, (table.name, sent, message)


def test_judges_add_nothing_to_a_live_contest(live: tuple[Service, str, str]) -> None:
    """Not even their own votes: the protocol asks them."""
    service, contest, name = live
    for table in discipline(name).schema:
        row = {"match_id": "r1-1", "judge_id": "judy", "shown_first": "a", "vote": "A"}
        assert error_of(service, contest, table.name, row, JUDGE, {})


def error_of(
    service: Service, contest: str, table: str, row: Any, by: Caller, options: dict[str, Any]
) -> str:
    """Return the message of the error that a row gives; empty: it was added."""
    try:
        record(service, contest, [(table, row, None)], by=by, **options)
    except AgonError as error:
        return str(error)
    return ""


def test_a_plugin_takes_all_its_tables_at_any_time() -> None:
    """A discipline that says nothing works as it did."""
    of = replace(discipline("arena"), written_by={})
    assert of.protocols == ()
    assert {of.owner(table.name).protocol for table in of.schema} == {None}


def test_an_invented_verdict_of_a_received_submission_is_refused(tmp_path: Path) -> None:
    """It would stand in for that of the judge, who records a verdict once."""
    service, contest = with_submission("dojo")(tmp_path)
    row = {"id": "s1", "problem_id": "p1", "user_id": "ada", "created_at": "2026-01-01T00:00:00Z",
           "source": "x", "verdict": "ok"}  # fmt: skip
    rows = [("problems", {"id": "p1"}, None), ("submissions", row, None)]
    with pytest.raises(Conflict, match="submissions are written by its judging alone; send"):
        record(service, contest, rows, by=ORGANISER)
    service.store.close()
