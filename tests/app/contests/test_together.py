"""Test that publishers, recorders and readers do not disturb each other, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import boards, page
from agon.app.contests.boards.proofs import proof
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, dry_run, propose, roll_back
from agon.app.contests.lifecycle import transitions
from agon.app.contests.lifecycle.transitions import freeze
from agon.app.replay.replay import replay
from agon.app.replay.replica_cache import ReplicaCache
from agon.app.service import Service
from fakes.service import ORGANISER
from fakes.spring import BOTS, play, spring, view

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""

if TYPE_CHECKING:
    from agon.entities.contests import Contest

_FIRST = "26bc30e0455c30475995b81299da9d42599d3ed9d0dc557e06d478d359accb60"
"""The hash of the bots' board of these records, on any database."""


@pytest.fixture
def service(either: Service) -> Service:
    """Return a service on a fresh database of each kind."""
    return either


@pytest.mark.exhaustive
def test_publishing_while_records_arrive_ends_at_the_replayed_board(service: Service) -> None:
    """Publishers, recorders and readers run at once; nothing is lost, blocked or published twice.

    Every publisher has separate replicas, like processes.
    """
    spring(service)
    publish(service, "spring")

    def recording(first: int) -> None:
        for number in range(first, first + 6):
            play(service, number, number)

    def publishing(_: int) -> None:
        own = replace(service, replicas=ReplicaCache())
        for _ in range(6):
            publish(own, "spring")

    def reading(_: int) -> None:
        for _ in range(20):
            seen = view(service, ANONYMOUS)
            shown = page(service, seen, "bots")
            assert len(shown.lines) == shown.snapshot.rows
            explain(service, seen, "bots", "a", as_of=str(shown.snapshot.seq))
            proof(service, seen, "bots", "b")

    with ThreadPoolExecutor(6) as pool:
        work = [pool.submit(recording, first) for first in (100, 200)]
        work += [pool.submit(publishing, item) for item in range(2)]
        work += [pool.submit(reading, item) for item in range(2)]
        for item in work:
            item.result(timeout=120)
    published = publish(service, "spring").snapshots
    with service.store.read() as session:
        lines = [item.line for item in session.entries.after(1)]
        stored = session.snapshots.page(1, limit=1000)
    assert len({(item.board, item.seq) for item in stored}) == len(stored)
    for snapshot in (*published, *stored[::7]):
        result = replay(lines, contest="spring", at=snapshot.seq, board=snapshot.board)
        assert result.board_sha256 == snapshot.board_sha256
        result.live.close()
    rows = page(service, view(service, ANONYMOUS), "bots").lines
    for bot in BOTS:
        step = history(service, view(service, ANONYMOUS), "bots", bot, limit=1000)[-1]
        assert any(f'"id":"{bot}"' in str(row) and str(step.score) in str(row) for row in rows)


def test_a_contest_has_equal_boards_on_both_databases(service: Service) -> None:
    """Publish, change, roll back, freeze: hashes of boards do not depend on the database."""
    spring(service)
    first = [snapshot.board_sha256 for snapshot in publish(service, "spring").snapshots]
    proposal = propose(
        service, "spring", kind="void", params={"people": ["j2"]}, reason="r", by=ORGANISER
    )
    dry_run(service, "spring", proposal.id)
    apply(service, "spring", proposal.id, by=ORGANISER)
    voided = [snapshot.board_sha256 for snapshot in publish(service, "spring").snapshots]
    roll_back(service, "spring", proposal.id, reason="r", by=ORGANISER)
    assert [snapshot.board_sha256 for snapshot in publish(service, "spring").snapshots] == first
    assert voided[1] != first[1]
    freeze(service, "spring", by=ORGANISER)
    play(service, 9, 20)
    publish(service, "spring")
    snapshots = boards(service, view(service, ANONYMOUS))
    assert [snapshot.board_sha256 for snapshot in snapshots] == first
    assert first[0] == _FIRST


@pytest.mark.exhaustive
def test_a_freeze_makes_writers_wait_and_records_the_hashes_that_it_stores(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others record and publish all the time, with these replicas and with separate ones."""
    monkeypatch.setattr(transitions, "_ATTEMPTS", 0)  # use the lock at once
    spring(service)
    frozen = Event()

    def recording(first: int) -> None:
        for number in range(first, first + 900):
            play(service, number, number)
            if frozen.is_set():
                return

    def publishing(own: Service) -> None:
        while not frozen.is_set():
            publish(own, "spring")

    def freezing() -> "Contest":
        try:
            return freeze(service, "spring", by=ORGANISER)
        finally:
            frozen.set()

    with ThreadPoolExecutor() as pool:
        others = [pool.submit(recording, first) for first in (1000, 2000)]
        others += [
            pool.submit(publishing, item)
            for item in (service, replace(service, replicas=ReplicaCache()))
        ]
        contest = pool.submit(freezing).result()
        for item in others:
            item.result()
    publish(service, "spring")
    with service.store.read() as session:
        [entry] = session.entries.of_kind(contest.no, ["contest-frozen"])
        stored = session.snapshots.latest(contest.no, "bots", until=entry.seq - 1)
    assert stored is not None
    assert (stored.seq, contest.frozen_at) == (entry.seq - 1, entry.seq)
    assert stored.board_sha256 == orjson.loads(entry.line)["body"]["boards"]["bots"]["sha256"]
