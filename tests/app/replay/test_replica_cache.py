"""Check that contests in memory are lent to one thread at a time, few of them, and never stale."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Barrier, Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from agon.app.replay.replica import ContestReplica
from agon.app.replay.replica_cache import ReplicaCache
from agon.errors import NotFound
from app.replay.test_replica import SUBMISSIONS, Writer


@dataclass
class Shelf:
    """Stand for a store that holds one ledger for every contest, and counts what is read."""

    lines: list[tuple[int, bytes]]
    asked: list[int] = field(default_factory=list)

    @contextmanager
    def read(self) -> Iterator[Any]:
        """Begin to read."""
        yield SimpleNamespace(entries=self)

    def after(self, _contest: int, seq: int) -> Iterator[Any]:
        """Return the entries behind a position."""
        self.asked.append(seq)
        return (SimpleNamespace(seq=at, line=line) for at, line in self.lines if at > seq)


@pytest.fixture
def writer() -> Writer:
    """Begin a ledger of a problem and a submission: three entries."""
    writer = Writer()
    writer.record("problems", {"id": "p"})
    writer.record("submissions", SUBMISSIONS[0])
    return writer


def _contest(name: str = "c") -> Any:
    return SimpleNamespace(id=name, no=1)


def _lend(replicas: ReplicaCache, shelf: Shelf, name: str = "c") -> ContestReplica:
    with replicas.current(shelf, _contest(name)) as replica:  # type: ignore[arg-type]  # a stand-in
        return replica


def test_a_contest_is_read_on_from_where_it_was(writer: Writer) -> None:
    """Reading a million entries for one more would be a replay."""
    replicas, shelf = ReplicaCache(), Shelf(writer.lines)
    first = _lend(replicas, shelf)
    writer.record("submissions", SUBMISSIONS[1])
    assert _lend(replicas, shelf) is first
    assert (first.seq, shelf.asked) == (4, [0, 3])


def test_one_thread_at_a_time_has_a_contest(writer: Writer) -> None:
    """Two threads on one connection to the columns would give each other's answers."""
    replicas, shelf = ReplicaCache(), Shelf(writer.lines)
    inside: list[int] = []
    most: list[int] = []
    boards: list[str] = []
    start = Barrier(2)

    def work() -> None:
        start.wait()
        for _ in range(20):
            with replicas.current(shelf, _contest()) as replica:  # type: ignore[arg-type]  # a stand-in
                inside.append(1)
                most.append(len(inside))
                boards.append(replica.result().board().sha256)
                inside.pop()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert (len(boards), max(most), len(set(boards))) == (40, 1, 1)
    assert shelf.asked[:2] == [0, 3]


def test_another_contest_does_not_wait() -> None:
    """A long scoring of one contest must not stop the instance."""
    replicas = ReplicaCache()
    lent, other = Event(), Event()

    def hold() -> None:
        with replicas.current(Shelf(Writer().lines), _contest("a")):  # type: ignore[arg-type]  # a stand-in
            lent.set()
            assert other.wait(60)

    thread = Thread(target=hold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ContestReplica, "catch_up", lambda _replica, _lines: None)
        thread.start()
        assert lent.wait(60)
        assert _lend(replicas, Shelf([]), "b").contest == "b"
        other.set()
        thread.join(60)
    assert not thread.is_alive()


def test_the_one_not_used_for_longest_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is for the contests people look at."""
    monkeypatch.setattr(ContestReplica, "catch_up", lambda _replica, _lines: None)
    replicas, shelf = ReplicaCache(size=2), Shelf([])
    one, two = (_lend(replicas, shelf, name) for name in ("one", "two"))
    assert _lend(replicas, shelf, "one") is one
    _lend(replicas, shelf, "three")
    assert _lend(replicas, shelf, "one") is one
    assert _lend(replicas, shelf, "two") is not two


def test_one_left_by_a_bug_of_ours_is_forgotten(writer: Writer) -> None:
    """Nobody knows in what state it is; the ledger does."""
    replicas, shelf = ReplicaCache(), Shelf(writer.lines)
    first = _lend(replicas, shelf)
    with pytest.raises(ZeroDivisionError), replicas.current(shelf, _contest()):  # type: ignore[arg-type]  # a stand-in
        raise ZeroDivisionError
    second = _lend(replicas, shelf)
    assert second is not first
    assert second.result().board().sha256 == first.result().board().sha256


def test_one_left_by_a_refusal_stays(writer: Writer) -> None:
    """Who asks for an unknown id must not make the instance read everything anew."""
    replicas, shelf = ReplicaCache(), Shelf(writer.lines)
    first = _lend(replicas, shelf)
    with pytest.raises(NotFound), replicas.current(shelf, _contest()) as replica:  # type: ignore[arg-type]  # a stand-in
        replica.result().explain("nobody")
    assert _lend(replicas, shelf) is first


def test_forgetting_what_is_not_here_does_nothing() -> None:
    """A contest may be forgotten twice."""
    ReplicaCache().discard("c")
