"""Test the states draft, open, frozen and final, and what each transition records."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Any, TypeAlias

import pytest

from agon.api.models.base import ReasonRequest
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import (
    finalize,
    freeze,
    open_contest,
    unfreeze,
)
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.jobs import NewJob
from agon.errors import Conflict, Forbidden, NotFound, Unauthenticated, Unreadable
from agon.ledger.entry import read_line
from fakes.service import JUDGE, OPERATOR, ORGANISER, VIEWER

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""

Step: TypeAlias = Callable[..., object]

TIME = "2026-11-22T00:00:00Z"
ROWS = [
    *(("bots", {"id": name, "name": name}, None) for name in ("x", "y")),
    ("matches", {"id": "m1", "played_at": TIME, "bot_a": "x", "bot_b": "y", "kind": "rated"}, None),
    ("votes", {"match_id": "m1", "judge_id": "j", "shown_first": "a", "vote": "A",
               "voted_at": TIME}, None),
]  # fmt: skip


@pytest.fixture
def spring(service: Service) -> Service:
    """Open an arena with one decided match."""
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    record(service, "spring", ROWS, by=ORGANISER)
    return service


def test_a_freeze_holds_the_hashes_of_the_boards_published_at_its_position(
    spring: Service,
) -> None:
    """The board that the public sees can be proved by it."""
    contest = freeze(spring, "spring", by=ORGANISER)
    assert (contest.state, contest.frozen_at, contest.seq) == ("frozen", 7, 7)
    with spring.store.read() as session:
        [last] = session.entries.after(contest.no, 6)
        boards = read_line(last.line).body["boards"]
        for name, proof in boards.items():
            snapshot = session.snapshots.latest(contest.no, name, until=6)
            assert snapshot is not None
            assert (snapshot.seq, snapshot.board_sha256) == (6, proof["sha256"])
            assert snapshot.manifest["merkle_root"] == proof["merkle_root"]
    assert "bots" in boards


@pytest.mark.exhaustive
def test_records_that_arrive_while_boards_are_published_are_in_the_frozen_boards(
    spring: Service, monkeypatch: Any
) -> None:
    """The entry has only hashes of the newest boards."""
    arriving = [("bots", {"id": f"late{n}", "name": "late"}, None) for n in range(2)]

    def publish_meanwhile(service: Service, contest: str) -> Any:
        publication = publish(service, contest)
        if arriving:
            record(service, contest, [arriving.pop()], by=ORGANISER)
        return publication

    monkeypatch.setattr("agon.app.contests.boards.publish.publish", publish_meanwhile)
    contest = freeze(spring, "spring", by=ORGANISER)
    assert contest.frozen_at == 9
    with spring.store.read() as session:
        snapshot = session.snapshots.latest(contest.no, "bots", until=9)
    assert snapshot is not None
    assert snapshot.seq == 8


@pytest.fixture
def busy(spring: Service, monkeypatch: Any) -> Service:
    """Add a record whenever boards are published."""

    def publish_meanwhile(service: Service, contest: str) -> Any:
        publication = publish(service, contest)
        name = service.new_id()
        record(service, contest, [("bots", {"id": name, "name": "late"}, None)], by=ORGANISER)
        return publication

    monkeypatch.setattr("agon.app.contests.boards.publish.publish", publish_meanwhile)
    return spring


def _vouched(service: Service, position: int) -> None:
    """Check that the newest entry's hashes are those of the stored boards before it."""
    with service.store.read() as session:
        contest = session.contests.get("spring")
        assert contest.seq == position
        [entry] = session.entries.after(contest.no, position - 1, until=position)
        boards = read_line(entry.line).body["boards"]
        assert "bots" in boards
        for name, proof in boards.items():
            snapshot = session.snapshots.latest(contest.no, name, until=position - 1)
            assert snapshot is not None
            assert (snapshot.seq, snapshot.board_sha256) == (position - 1, proof["sha256"])
            assert (snapshot.rows, snapshot.manifest["merkle_root"]) == (
                proof["rows"], proof["merkle_root"],
            )  # fmt: skip


@pytest.mark.parametrize("step", [freeze, finalize])
def test_a_contest_with_constant_writers_can_be_frozen_and_finalized(
    busy: Service, step: Step
) -> None:
    """Writers have to wait in the end; a busy contest must not stay open."""
    contest: Any = step(busy, "spring", by=ORGANISER)
    assert (contest.finalized_at or contest.frozen_at) == contest.seq == 10
    _vouched(busy, 10)


@pytest.mark.exhaustive
def test_boards_that_a_crash_left_out_are_stored_by_the_next_job(
    busy: Service, monkeypatch: Any
) -> None:
    """The entry has their hashes; without them the public would see older boards."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agon.app.contests.boards.snapshots.store_boards", crash)
    with pytest.raises(KeyboardInterrupt):
        freeze(busy, "spring", by=ORGANISER)
    with busy.store.read() as session:
        frozen = session.contests.get("spring").frozen_at
    assert frozen == 10
    publish(busy, "spring")
    _vouched(busy, 10)


@pytest.mark.exhaustive
def test_a_freeze_succeeds_while_others_write_all_the_time(spring: Service) -> None:
    """Threads record and publish as fast as they can, like servers and workers."""
    stop, errors = Event(), list[BaseException]()

    def write(name: str) -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                row = {"id": f"{name}{number}", "name": "late"}
                record(spring, "spring", [("bots", row, None)], by=ORGANISER)
                if number % 10 == 0:
                    publish(spring, "spring")
        except BaseException as error:  # noqa: BLE001 (handed to the test)
            errors.append(error)

    writers = [Thread(target=write, args=(name,)) for name in "pq"]
    for writer in writers:
        writer.start()
    try:
        contest = freeze(spring, "spring", by=ORGANISER)
    finally:
        stop.set()
        for writer in writers:
            writer.join(60)
    assert errors == []
    with spring.store.read() as session:
        [entry] = session.entries.of_kind(contest.no, ["contest-frozen"])
        snapshot = session.snapshots.latest(contest.no, "bots", until=entry.seq)
    assert snapshot is not None
    assert snapshot.board_sha256 == read_line(entry.line).body["boards"]["bots"]["sha256"]
    assert snapshot.seq in {entry.seq - 1, entry.seq}  # the freeze itself changes no board


@pytest.mark.exhaustive
def test_a_contest_without_anything_to_score_can_be_frozen(service: Service) -> None:
    """It has no boards with hashes."""
    create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    assert freeze(service, "spring", by=ORGANISER).frozen_at == 3


def test_only_the_documented_transitions_are_allowed(spring: Service) -> None:
    """A final contest stays final."""
    frozen = freeze(spring, "spring", by=ORGANISER)
    assert frozen.public_until == frozen.seq
    assert unfreeze(spring, "spring", reason="a mistake", by=ORGANISER).public_until is None
    freeze(spring, "spring", by=ORGANISER)
    final = finalize(spring, "spring", by=ORGANISER)
    assert (final.state, final.frozen_at, final.public_until) == ("final", None, None)
    attempts: list[Step] = [
        lambda: open_contest(spring, "spring", by=ORGANISER),
        lambda: freeze(spring, "spring", by=ORGANISER),
        lambda: unfreeze(spring, "spring", reason="why", by=ORGANISER),
        lambda: finalize(spring, "spring", by=ORGANISER),
    ]
    for attempt in attempts:
        with pytest.raises(Conflict, match="spring is final"):
            attempt()


def test_a_draft_can_only_be_opened(service: Service) -> None:
    """It was not public."""
    create(service, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    for transition in (freeze, finalize):
        with pytest.raises(Conflict, match="it has to be open"):
            transition(service, "spring", by=ORGANISER)


def test_a_contest_is_not_finalized_while_submissions_are_judged(spring: Service) -> None:
    """A verdict after the end would not count."""
    with spring.store.write() as session:
        no = session.contests.get("spring").no
        job = NewJob(id="j1", kind="judge", payload={}, contest_no=no)
        session.queue.add(job, now=spring.clock())
    with pytest.raises(Conflict, match="still to be judged"):
        finalize(spring, "spring", by=ORGANISER)
    assert finalize(spring, "spring", force=True, by=ORGANISER).state == "final"


@pytest.mark.exhaustive
@pytest.mark.parametrize("reason", ["", "  ", "x" * 2001])
def test_unfreezing_requires_a_reason(spring: Service, reason: str) -> None:
    """Participants want to know it."""
    freeze(spring, "spring", by=ORGANISER)
    with pytest.raises(Unreadable, match="say why"):
        unfreeze(spring, "spring", reason=reason, by=ORGANISER)


@pytest.mark.parametrize("step", ["open", "freeze", "unfreeze", "finalize"])
def test_only_staff_changes_the_state(spring: Service, step: str) -> None:
    """Each transition is forbidden for each other role."""
    arguments = [ReasonRequest(reason="why")] if step == "unfreeze" else []
    for caller, contest, error in (
        (VIEWER, "spring", Forbidden),
        (JUDGE, "spring", Forbidden),
        (ANONYMOUS, "spring", Unauthenticated),
        (OPERATOR, "autumn", NotFound),
    ):
        with pytest.raises(error):
            getattr(Local(spring, by=caller).contests, step)(contest, *arguments)


@pytest.mark.exhaustive
def test_every_transition_is_in_the_audit_log(spring: Service) -> None:
    """The line has the user and the position of the ledger."""
    freeze(spring, "spring", by=ORGANISER)
    with spring.store.read() as session:
        line = session.access.audit_entries()[0]
    assert (line.by, line.action, line.target) == ("user:olga", "contest.freeze", "spring")
    assert line.detail == {"seq": 7}
