"""Check that replicas are lent to one thread at a time, are few, and are never out of date."""

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
class FakeStore:
    """A store with one ledger for every contest that records the positions read from."""

    lines: list[tuple[int, bytes]]
    positions: list[int] = field(default_factory=list)

    @contextmanager
    def read(self) -> Iterator[Any]:
        """Begin a reading session."""
        yield SimpleNamespace(entries=self)

    def after(self, _contest: int, seq: int) -> Iterator[Any]:
        """Return the entries after a position."""
        self.positions.append(seq)
        return (SimpleNamespace(seq=at, line=line) for at, line in self.lines if at > seq)


@pytest.fixture
def writer() -> Writer:
    """Return a ledger with a problem and a submission: three entries."""
    writer = Writer()
    writer.record("problems", {"id": "p"})
    writer.record("submissions", SUBMISSIONS[0])
    return writer


def _contest(name: str = "c") -> Any:
    return SimpleNamespace(id=name, no=1, seq=0)


def _lend(replicas: ReplicaCache, store: FakeStore, name: str = "c") -> ContestReplica:
    with replicas.current(store, _contest(name)) as replica:  # type: ignore[arg-type]  # a stand-in
        return replica


def test_only_new_entries_of_a_contest_are_read(writer: Writer) -> None:
    """To read a million entries for one more would be a replay."""
    replicas, store = ReplicaCache(), FakeStore(writer.lines)
    first = _lend(replicas, store)
    writer.record("submissions", SUBMISSIONS[1])
    assert _lend(replicas, store) is first
    assert (first.seq, store.positions) == (4, [0, 3])


def test_one_thread_at_a_time_has_a_replica(writer: Writer) -> None:
    """Two threads on one connection would get each other's rows."""
    replicas, store = ReplicaCache(), FakeStore(writer.lines)
    inside: list[int] = []
    most: list[int] = []
    boards: list[str] = []
    start = Barrier(2)

    def work() -> None:
        start.wait()
        for _ in range(20):
            with replicas.current(store, _contest()) as replica:  # type: ignore[arg-type]  # a stand-in
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
    assert store.positions[:2] == [0, 3]


def test_another_contest_does_not_wait() -> None:
    """Scoring one contest for long must not stop the instance."""
    replicas = ReplicaCache()
    lent, other = Event(), Event()

    def hold() -> None:
        with replicas.current(FakeStore(Writer().lines), _contest("a")):  # type: ignore[arg-type]  # a stand-in
            lent.set()
            assert other.wait(60)

    thread = Thread(target=hold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ContestReplica, "catch_up", lambda _replica, _lines: None)
        thread.start()
        assert lent.wait(60)
        assert _lend(replicas, FakeStore([]), "b").contest == "b"
        other.set()
        thread.join(60)
    assert not thread.is_alive()


def test_the_replica_not_used_for_longest_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is for the contests in use."""
    monkeypatch.setattr(ContestReplica, "catch_up", lambda _replica, _lines: None)
    replicas, store = ReplicaCache(size=2), FakeStore([])
    first, second = (_lend(replicas, store, name) for name in ("one", "two"))
    assert _lend(replicas, store, "one") is first
    _lend(replicas, store, "three")
    assert _lend(replicas, store, "one") is first
    assert _lend(replicas, store, "two") is not second


@pytest.mark.exhaustive
def test_a_replica_is_discarded_after_an_unexpected_error(writer: Writer) -> None:
    """Its state is unknown; the ledger is read again."""
    replicas, store = ReplicaCache(), FakeStore(writer.lines)
    first = _lend(replicas, store)
    with pytest.raises(ZeroDivisionError), replicas.current(store, _contest()):  # type: ignore[arg-type]  # a stand-in
        raise ZeroDivisionError
    second = _lend(replicas, store)
    assert second is not first
    assert second.result().board().sha256 == first.result().board().sha256


def test_a_replica_stays_after_an_error_of_the_caller(writer: Writer) -> None:
    """A request for an unknown id must not make the instance read the ledger again."""
    replicas, store = ReplicaCache(), FakeStore(writer.lines)
    first = _lend(replicas, store)
    with pytest.raises(NotFound), replicas.current(store, _contest()) as replica:  # type: ignore[arg-type]  # a stand-in
        replica.result().explain("nobody")
    assert _lend(replicas, store) is first


def test_discarding_an_unknown_contest_does_nothing() -> None:
    """A contest may be discarded twice."""
    ReplicaCache().discard("c")
