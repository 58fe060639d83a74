"""Sessions: all or nothing, one state, one job for one worker; with real threads and processes."""

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.ledger.entry import chain, genesis
from agon.store import open_store
from agon.store.session import Store
from fakes.round_trips import round_trips
from postgresql_server import Postgresql
from sizes import ALL
from store.factories import chained, contest, created, job, later, new, vote

WRITERS, ROUNDS = 8, 12


class StepError(Exception):
    """The error by which a test leaves a session."""


def test_a_session_left_by_an_error_leaves_nothing(store: Store) -> None:
    """No reader may see half a step."""
    with pytest.raises(StepError), store.write() as session:  # noqa: PT012 - it ends the session
        spring = session.contests.add(contest())
        session.entries.append(spring.no, [new(1)])
        session.queue.add(job("j1"), now=later(0))
        raise StepError
    with store.read() as session:
        assert session.contests.page() == []
        assert session.queue.page() == []
        assert list(session.entries.after(1)) == []
    with store.write() as session:  # and the next session begins afresh
        session.contests.add(contest())


def test_a_reading_session_sees_one_state(store: Store, spring: Contest) -> None:
    """A page and its count must be of the same state."""
    with store.read() as reading:
        before = reading.contests.get("spring")
        with store.write() as writing:
            writing.contests.save(replace(spring, seq=1))
            writing.entries.append(spring.no, [new(1)])
        assert reading.contests.get("spring") == before
        assert list(reading.entries.after(spring.no)) == []
    with store.read() as reading:
        assert reading.contests.get("spring").seq == 1


def test_a_session_adds_two_round_trips_to_those_of_its_queries(postgresql: Postgresql) -> None:
    """Each request opens two sessions; on a busy machine a round trip takes milliseconds."""
    store = open_store(postgresql.service())
    with store.read() as session:
        session.queue.is_paused()  # the first session checks the revision, too
    with round_trips(store) as reading, store.read() as session:
        session.queue.is_paused()
    with round_trips(store) as writing, store.write() as session:
        session.queue.is_paused()
    with round_trips(store) as repeating, store.read() as session:
        for _ in range(4):  # the operations of a page look up the same board
            session.snapshots.latest(1, "bots")
    store.close()
    assert (len(reading), len(writing), len(repeating)) == (3, 3, 3)


def test_connections_that_the_server_closed_are_replaced(postgresql: Postgresql) -> None:
    """PostgreSQL was restarted while nobody used it; no request may fail for that."""
    store = open_store(postgresql.service())
    for begin in (store.read, store.write):
        with store.read() as first, store.read() as second, store.read() as third:
            for session in (first, second, third):
                session.queue.is_paused()  # three connections
        postgresql.run(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND application_name = 'agon'"
        )
        for _ in range(4):
            with begin() as session:
                session.queue.is_paused()
    store.close()


def test_all_that_reads_in_a_block_sees_one_state(store: Store, spring: Contest) -> None:
    """A page is read by several operations, and what it shows must fit together."""
    with store.read_one_state():
        with store.read() as first:
            before = first.contests.get("spring")
        with ThreadPoolExecutor(1) as pool:  # another client
            pool.submit(_save, store, replace(spring, seq=1)).result()
        with store.read() as second:
            assert second is first
            assert second.contests.get("spring") == before
        with pytest.raises(NotFound), store.read() as third:
            third.contests.get("autumn")
        with store.read() as third, store.read() as nested:
            assert third is first
            assert nested is not first
        _save(store, replace(spring, seq=2))  # after its own write it sees that
        with store.read() as last, store.read_one_state(), store.read() as nested:
            assert nested.contests.get("spring") == last.contests.get("spring")
            assert last.contests.get("spring").seq == 2
    with store.read() as later_one:
        assert later_one is not last


def test_a_broken_session_is_not_shared_further(store: Store, spring: Contest) -> None:
    """On PostgreSQL a transaction ends with its first error."""
    with store.read_one_state():
        with pytest.raises(Unavailable), store.read() as session:
            session.contests.add(replace(spring, id="autumn"))
        with pytest.raises(StepError), store.read():
            raise StepError
        with store.read() as session:
            assert session.contests.get("spring") == spring


def test_a_shared_session_ends_after_the_last_block_that_uses_it(store: Store) -> None:
    """A generator may read on after the operation that returned it."""

    def ids() -> Iterator[str]:
        with store.read() as session:
            yield from ("first", "second")
            yield session.contests.get("spring").id

    with store.write() as session:
        session.contests.add(contest())
    with store.read_one_state():
        rest = ids()
        assert next(rest) == "first"
    assert list(rest) == ["second", "spring"]
    assert store._engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # of its pool


def _save(store: Store, contest: Contest) -> None:
    with store.write() as session:
        session.contests.save(contest)


def test_a_reading_session_cannot_write(store: Store) -> None:
    """An error in a route that reads must not change records."""
    with pytest.raises(Unavailable), store.read() as session:
        session.contests.add(contest())
    with store.write() as session:
        session.contests.add(contest())


def _append_votes(url: str, writer: int) -> None:
    """Append as the service does: lock, chain after the newest entry, store, save the head."""
    store = open_store(url, create=False)
    for number in range(ROUNDS):
        with store.write() as session:
            locked = session.contests.lock("spring")
            drafts = [vote(writer * 1000 + number * 2 + more) for more in (0, 1)]
            entries, head, seq = chained(drafts, previous=locked.head, seq=locked.seq)
            session.entries.append(locked.no, entries)
            session.contests.save(replace(locked, seq=seq, head=head))
    store.close()


def _began(url: str) -> None:
    with (store := open_store(url)).write() as session:
        spring = session.contests.add(contest())
        entries, head, seq = chained([created("spring")], previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head))
    store.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["threads", "processes"])
def test_many_writers_extend_one_complete_chain(url: str, way: str) -> None:
    """Every position once, every hash over the previous one, for any writers."""
    _began(url)
    if way == "threads":
        with ThreadPoolExecutor(WRITERS) as pool:
            for done in [pool.submit(_append_votes, url, writer) for writer in range(WRITERS)]:
                done.result()
    else:
        context = multiprocessing.get_context("spawn")
        with context.Pool(4 if ALL else 2) as processes:
            processes.starmap(_append_votes, [(url, writer) for writer in range(WRITERS)])
    store = open_store(url)
    with store.read() as session:
        head = genesis("spring")
        entries = list(session.entries.after(1))
        for entry in entries:
            head = chain(head, entry.line)
            assert entry.sha256 == head
        assert [entry.seq for entry in entries] == list(range(1, 2 + 2 * WRITERS * ROUNDS))
        assert session.contests.get("spring").head == head
    store.close()


@pytest.mark.exhaustive
def test_no_two_workers_get_the_same_job(store: Store) -> None:
    """A program that is judged twice would have two verdicts."""
    with store.write() as session:
        for number in range(60):
            session.queue.add(job(f"j{number:02}"), now=later(number))

    def work(worker: int) -> list[str]:
        mine: list[str] = []
        while True:
            with store.write() as session:
                claimed = session.queue.claim(
                    ["judge"], worker=f"w{worker}", lease=f"{worker}.{len(mine)}",
                    now=later(100), span=timedelta(seconds=30),
                )  # fmt: skip
            if claimed is None:
                return mine
            mine.append(claimed.id)

    with ThreadPoolExecutor(6) as pool:
        claimed = [name for mine in pool.map(work, range(6)) for name in mine]
    assert Counter(claimed) == Counter(f"j{number:02}" for number in range(60))


@pytest.mark.exhaustive
def test_a_job_is_not_claimed_before_its_entries_are_stored(store: Store, spring: Contest) -> None:
    """A second request for a queued board must still get a board with its votes."""
    with store.write() as session:
        session.queue.add(job("a", dedupe="publish:1"), now=later(0))
    seen: list[int] = []
    started = threading.Event()

    def work() -> None:
        started.set()
        with store.write() as session:
            claimed = session.queue.claim(
                ["judge"], worker="w", lease="l", now=later(1), span=timedelta(seconds=30)
            )
            if claimed is not None:
                seen.append(len(list(session.entries.after(spring.no))))

    thread = threading.Thread(target=work)
    with store.write() as session:
        session.entries.append(spring.no, [new(1)])
        session.queue.add(job("b", dedupe="publish:1"), now=later(0))
        thread.start()
        started.wait()
        thread.join(0.2)
    thread.join()
    if not seen:
        work()
    assert seen == [1]


def test_the_result_of_a_lost_lease_is_not_stored(store: Store, spring: Contest) -> None:
    """Result and state change are stored together, or neither."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        session.queue.claim(["judge"], worker="w", lease="l", now=later(0), span=timedelta(1))
        session.queue.cancel("j1", now=later(1))
    with pytest.raises(Conflict), store.write() as session:  # noqa: PT012 - one session
        session.entries.append(spring.no, [new(1)])
        session.queue.complete("j1", lease="l", result={}, now=later(2))
    with store.read() as session:
        assert list(session.entries.after(spring.no)) == []


def test_a_writer_that_waits_too_long_gets_an_error(store: Store, tmp_path: Path) -> None:
    """A request must end, even when another session holds the database."""
    store.close()
    own = open_store(f"sqlite:///{tmp_path}/held.db", lock_timeout_s=0.1)
    with (
        own.write(),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(Unavailable, match="try again"),
    ):
        pool.submit(_enter, own.write).result()
    own.close()
    own.close()


def _enter(begin: Callable[[], AbstractContextManager[object]]) -> None:
    with begin():
        pass


@pytest.mark.parametrize(
    "url",
    ["mysql://h/x", "sqlite://", "sqlite:///:memory:", "nonsense", "sqlite:///a?mode=ro",
     "postgresql://ada:hunter2@h:port/x"],
)  # fmt: skip
def test_unsupported_addresses_are_rejected_without_their_password(url: str) -> None:
    """The message of a mistyped address is often pasted into a public page."""
    with pytest.raises(Unreadable, match="write sqlite:///agon") as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


def test_an_unreachable_server_is_named_without_its_password() -> None:
    """The message is logged."""
    with pytest.raises(Unavailable, match="the database agon on 127") as caught:
        open_store("postgresql://ada:hunter2@127.0.0.1:1/agon")
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_database_is_rejected(tmp_path: Path) -> None:
    """The file is not changed."""
    path = tmp_path / "letter.db"
    path.write_text("Dear Ada, " * 1000)
    with pytest.raises(Unavailable, match="not a database"):
        open_store(f"sqlite:///{path}")
    assert path.read_text() == "Dear Ada, " * 1000


def test_values_a_database_cannot_store_are_rejected_as_input(store: Store) -> None:
    """PostgreSQL has no NUL in text, and SQLite takes it: both reject it, on every path."""
    for title in ("a\x00b", "\ud800"):
        with pytest.raises(Unreadable, match="cannot be stored"), store.write() as session:
            session.contests.add(contest(title=title))
        with pytest.raises(Unreadable, match="looked up"), store.read() as session:
            session.contests.get(title)
        with pytest.raises(Unreadable, match="looked up"), store.read() as session:
            session.arena._transaction.query("SELECT id FROM contests WHERE id = ?", (title,))
        with pytest.raises(Unreadable, match="cannot be stored"), store.write() as session:
            session.arena._transaction.execute_many(
                "UPDATE contests SET title = ?", [("Spring",), (title,)]
            )
    with pytest.raises(Unreadable, match="64 bits"), store.write() as session:
        session.contests.add(contest("large", overrides={"k": 2**64}))
