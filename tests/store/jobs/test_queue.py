"""Jobs on leases in a database."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from agon.entities.contests import Contest
from agon.entities.jobs import Job, JobKind, WaitEstimate, WorkerInfo
from agon.errors import Conflict, NotFound
from agon.store.jobs.queue import Queue
from agon.store.session import Store
from store.factories import job, later

SPAN = timedelta(seconds=30)


def _claim(
    queue: Queue,
    *,
    at: float = 10,
    lease: str = "lease",
    worker: str = "w1",
    kinds: Sequence[JobKind] = ("judge",),
    contests: Sequence[int] | None = None,
) -> Job | None:
    return queue.claim(
        kinds, worker=worker, lease=lease, now=later(at), span=SPAN, contests=contests
    )


def _ids(store: Store, **arguments: Any) -> list[str]:
    """Claim until there is nothing more."""
    result: list[str] = []
    with store.write() as session:
        while one := _claim(session.queue, lease=f"l{len(result)}", **arguments):
            result.append(one.id)
    return result


@pytest.mark.exhaustive
def test_a_job_is_read_as_it_was_added(store: Store, spring: Contest) -> None:
    """What the worker gets is what the asker gave."""
    expected_job = job("j1", payload={"n": [1, None]}, contest_no=spring.no, priority=-3,
                not_before=later(5), max_attempts=2, by="user:ada", dedupe="d")  # fmt: skip
    with store.write() as session:
        made = session.queue.add(expected_job, now=later(1))
    assert made == Job(
        id="j1", kind="judge", state="queued", payload={"n": [1, None]}, contest_no=spring.no,
        created_at=later(1), not_before=later(5), priority=-3, attempts=0, max_attempts=2,
        by="user:ada", dedupe="d",
    )  # fmt: skip
    with store.read() as session:
        assert session.queue.get("j1") == made
        with pytest.raises(NotFound, match="'j2'"):
            session.queue.get("j2")


def test_an_id_is_taken_once(store: Store) -> None:
    """Two jobs under one id could be completed for each other."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        with pytest.raises(Conflict, match="'j1' exists"):
            session.queue.add(job("j1", dedupe="d"), now=later(0))


def test_a_claim_leases_the_job(store: Store) -> None:
    """From then on only the owner of the lease may change its state."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        claimed = _claim(session.queue, at=10)
        assert claimed is not None
        assert claimed == session.queue.get("j1")
        assert (claimed.state, claimed.worker, claimed.lease) == ("leased", "w1", "lease")
        assert (claimed.leased_until, claimed.started_at) == (later(40), later(10))
        assert claimed.attempts == 1
        assert _claim(session.queue, at=11) is None


def test_the_most_urgent_then_the_oldest_is_next(store: Store) -> None:
    """Fair among equals, and a board comes before a rejudgement."""
    with store.write() as session:
        for name, at, priority in [
            ("d", 3, 0),
            ("c", 3, 0),
            ("a", 4, 0),
            ("u", 9, 5),
            ("l", 0, -1),
        ]:
            session.queue.add(job(name, priority=priority), now=later(at))
    assert _ids(store) == ["u", "c", "d", "a", "l"]


def test_a_clock_that_ran_ahead_delays_no_job_once_it_is_right_again(store: Store) -> None:
    """A publication that a wrong clock queued would wait until that time came."""
    with store.write() as session:
        session.queue.add(job("board", kind="publish", dedupe="b"), now=later(9000))
        session.queue.add(job("timer", not_before=later(9500)), now=later(9000))
        session.queue.add(job("board-2", kind="publish", dedupe="b"), now=later(1))  # is the same
    assert _ids(store, at=2, kinds=["publish", "judge"]) == ["board"]
    assert _ids(store, at=501) == []
    assert _ids(store, at=502) == ["timer"], "it was to wait for 500 s"


def test_a_retry_that_a_clock_set_ahead_runs_once_the_clock_is_right_again(store: Store) -> None:
    """A job that failed while the clock ran ahead waits for its pause, not for the wrong time."""
    with store.write() as session:
        session.queue.add(job("board", kind="publish", dedupe="b"), now=later(0))
        session.queue.add(job("judged"), now=later(0))
    with store.write() as session:
        for lease, kind in (("p", "publish"), ("j", "judge")):
            assert _claim(session.queue, at=86_400, lease=lease, kinds=[kind])  # type: ignore[list-item]
        session.queue.fail(
            "board", lease="p", cause="full", now=later(86_400), retry_at=later(86_404)
        )
        session.queue.heartbeat("judged", lease="j", now=later(86_420), span=SPAN)
    assert _ids(store, at=100, kinds=["publish", "judge"]) == []
    assert _ids(store, at=104, kinds=["publish", "judge"]) == ["board"], "after its 4 s"
    assert _ids(store, at=131, kinds=["judge"]) == ["judged"], "its lease has expired"


def test_only_what_the_worker_can_and_may_do_is_claimed(store: Store, spring: Contest) -> None:
    """A worker from outside gets foreign programs of its contests, and nothing else."""
    with store.write() as session:
        session.queue.add(job("trial"), now=later(0))
        session.queue.add(job("mine", contest_no=spring.no), now=later(1))
        session.queue.add(job("board", kind="publish", contest_no=spring.no), now=later(0))
        session.queue.add(job("tomorrow", not_before=later(99)), now=later(0))
    assert _ids(store, kinds=[]) == _ids(store, contests=[]) == []
    assert _ids(store, contests=[spring.no, 99]) == ["mine"]
    assert _ids(store, kinds=["trial", "judge"]) == ["trial"]
    assert _ids(store, kinds=["publish"]) == ["board"]
    with store.write() as session:
        for name in ("trial", "mine", "board"):
            session.queue.cancel(name, now=later(11))
    assert _ids(store, at=99) == ["tomorrow"]


def test_a_lease_that_ran_out_frees_the_job_with_its_cause(store: Store) -> None:
    """A worker killed by kill -9 says nothing; the next one must know that it was there."""
    with store.write() as session:
        session.queue.add(job("j1", max_attempts=2), now=later(0))
        _claim(session.queue, at=0, lease="first", worker="dead")
        assert _claim(session.queue, at=29.9, lease="second") is None
        again = _claim(session.queue, at=30, lease="second")
        assert again is not None
        assert (again.attempts, again.lease, again.worker) == (2, "second", "w1")
        assert again.causes == (
            {"at": later(30).isoformat(), "worker": "dead", "cause": "lease expired (worker dead)"},
        )
        with pytest.raises(Conflict, match="no longer on this lease"):
            session.queue.complete("j1", lease="first", result={}, now=later(31))
        with pytest.raises(Conflict, match="no longer on this lease"):
            session.queue.heartbeat("j1", lease="first", now=later(31), span=SPAN)
        with pytest.raises(Conflict, match="no longer on this lease"):
            session.queue.fail("j1", lease="first", cause="x", now=later(31), retry_at=None)
        done = session.queue.complete("j1", lease="second", result={"ok": 1}, now=later(32))
    assert (done.state, done.result, done.lease, done.ended_at) == (
        "done", {"ok": 1}, None, later(32),
    )  # fmt: skip


def test_a_job_begun_too_often_fails_for_good(store: Store) -> None:
    """A program that kills its workers must not go round for ever."""
    with store.write() as session:
        session.queue.add(job("lost", max_attempts=1), now=later(0))
        _claim(session.queue, at=0, worker="w7")
        assert _claim(session.queue, at=30) is None
        lost = session.queue.get("lost")
        assert (lost.state, lost.ended_at, lost.lease) == ("failed", later(30), None)
        assert lost.causes[-1]["cause"] == "lease expired (worker w7)"
        session.queue.add(job("other", max_attempts=1), now=later(0))
        _claim(session.queue, at=40, lease="l2")
        result = session.queue.fail(
            "other", lease="l2", cause="no disk", now=later(41), retry_at=later(50)
        )
    assert (result.state, result.causes[0]["cause"]) == ("failed", "no disk")


@pytest.mark.exhaustive
def test_a_heartbeat_extends_the_lease(store: Store) -> None:
    """A long job stays claimed while the worker runs."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        _claim(session.queue, at=0)
        beaten = session.queue.heartbeat(
            "j1", lease="lease", now=later(29), span=SPAN, progress=0.25
        )
        assert (beaten.leased_until, beaten.progress) == (later(59), 0.25)
        again = session.queue.heartbeat("j1", lease="lease", now=later(40), span=SPAN)
        assert again.progress == 0.25
        assert _claim(session.queue, at=58, lease="other") is None
        with pytest.raises(NotFound):
            session.queue.heartbeat("j9", lease="lease", now=later(0), span=SPAN)


def test_a_failed_attempt_waits_before_the_next(store: Store) -> None:
    """A job that has just failed would fail again at once."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        _claim(session.queue, at=0)
        back = session.queue.fail(
            "j1", lease="lease", cause="no disk", now=later(1), retry_at=later(20)
        )
        assert (back.state, back.not_before, back.lease) == ("queued", later(20), None)
        assert _claim(session.queue, at=19) is None
        assert _claim(session.queue, at=20) is not None
        ended = session.queue.fail("j1", lease="lease", cause="bad", now=later(21), retry_at=None)
    assert (ended.state, len(ended.causes), ended.ended_at) == ("failed", 2, later(21))


def test_equal_work_is_queued_once(store: Store) -> None:
    """A thousand new votes ask for one board; votes during its making ask for one more."""
    with store.write() as session:
        first = session.queue.add(job("a", dedupe="publish:1"), now=later(0))
        assert session.queue.add(job("b", dedupe="publish:1"), now=later(1)) == first
        assert session.queue.add(job("c", dedupe="publish:2"), now=later(1)).id == "c"
        _claim(session.queue, lease="l1")
        assert session.queue.add(job("d", dedupe="publish:1"), now=later(2)).id == "d"
        assert session.queue.add(job("e", dedupe="publish:1"), now=later(2)).id == "d"
        back = session.queue.fail("a", lease="l1", cause="x", now=later(3), retry_at=later(4))
        assert (back.state, back.dedupe) == ("queued", None)


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["its lease ran out", "its worker failed", "it is retried"])
def test_equal_jobs_added_at_the_same_time_are_no_error(store: Store, how: str) -> None:
    """A job comes back to the queue while another session, not yet done, queues its like.

    On PostgreSQL neither sees the other before it has ended; one ended the worker that claimed.
    """
    with store.write() as session:
        session.queue.add(job("a", dedupe="publish:1"), now=later(0))
        _claim(session.queue, at=0, lease="first")
        if how == "it is retried":
            session.queue.cancel("a", now=later(1))

    def come_back() -> Job | None:
        with store.write() as session:
            if how == "its lease ran out":
                return _claim(session.queue, at=40, lease="second")
            if how == "it is retried":
                return session.queue.retry("a", now=later(40))
            return session.queue.fail(
                "a", lease="first", cause="x", now=later(40), retry_at=later(41)
            )

    with ThreadPoolExecutor() as threads:
        with store.write() as session:
            assert session.queue.add(job("b", dedupe="publish:1"), now=later(2)).id == "b"
            coming = threads.submit(come_back)
            time.sleep(0.3)  # long enough to meet what is not committed yet
        back = coming.result()
    assert back is not None
    with store.read() as session:
        page = {one.id: one.dedupe for one in session.queue.page()}
    assert page == {"a": None, "b": "publish:1"}


@pytest.mark.exhaustive
def test_a_job_is_queued_for_a_contest_that_another_session_has_locked(
    store: Store, spring: Contest
) -> None:
    """A recorder has the contest and asks for the board that another asks for as well.

    On PostgreSQL each of the two waited for the other, and the request of one failed.
    """
    board = job("board", kind="publish", contest_no=spring.no, dedupe="publish:1")
    again = job("again", kind="publish", contest_no=spring.no, dedupe="publish:1")

    def ask() -> Job:
        with store.write() as session:
            return session.queue.add(again, now=later(1))

    with ThreadPoolExecutor() as threads:
        with store.write() as session:
            session.contests.lock(spring.id)
            asking = threads.submit(ask)
            time.sleep(0.3)  # long enough to have begun
            one = session.queue.add(board, now=later(1))
        assert asking.result() == one


def test_ended_jobs_are_cancelled_or_retried_only_where_that_means_something(
    store: Store,
) -> None:
    """A result must not be taken back by a late click."""
    with store.write() as session:
        queue = session.queue
        queue.add(job("j1", max_attempts=1, dedupe="d"), now=later(0))
        with pytest.raises(Conflict, match="is queued"):
            queue.retry("j1", now=later(0))
        _claim(queue, at=0)
        cancelled = queue.cancel("j1", now=later(5))
        assert (cancelled.state, cancelled.lease) == ("cancelled", None)
        with pytest.raises(Conflict, match="no longer on this lease"):
            queue.complete("j1", lease="lease", result={}, now=later(6))
        with pytest.raises(Conflict, match="is cancelled"):
            queue.cancel("j1", now=later(6))
        again = queue.retry("j1", now=later(7))
        assert (again.state, again.attempts, again.ended_at) == ("queued", 0, None)
        assert (again.not_before, again.dedupe) == (later(7), "d")
        _claim(queue, at=8)
        queue.complete("j1", lease="lease", result={}, now=later(9))
        for late in (queue.cancel, queue.retry):
            with pytest.raises(Conflict, match="is done"):
                late("j1", now=later(10))


def test_a_paused_queue_gives_nothing(store: Store) -> None:
    """Draining: what runs may end, nothing new begins."""
    with store.write() as session:
        session.queue.add(job("j1"), now=later(0))
        session.queue.add(job("j2"), now=later(1))
        _claim(session.queue, at=2)
        assert not session.queue.is_paused()
        session.queue.pause(paused=True)
        session.queue.pause(paused=True)
        assert session.queue.is_paused()
        assert _claim(session.queue, at=3) is None
        session.queue.complete("j1", lease="lease", result={}, now=later(4))
        session.queue.pause(paused=False)
        assert _claim(session.queue, at=5) is not None


def test_the_wait_follows_from_how_long_the_last_ones_took(store: Store) -> None:
    """Median of the last fifty x those before it / workers that take the kind."""
    with store.write() as session:
        queue = session.queue
        for place, seconds in enumerate([1, 4, 100]):
            queue.add(job(f"old{place}"), now=later(0))
            _claim(queue, at=1)
            queue.complete(f"old{place}", lease="lease", result={}, now=later(1 + seconds))
        for place in range(4):
            queue.add(job(f"j{place}"), now=later(200 + place))
        queue.add(job("urgent", priority=1), now=later(300))
        queue.add(job("board", kind="publish"), now=later(200))
        assert queue.waiting("j3", now=later(300)) == WaitEstimate(4, None)
        queue.record_worker(
            WorkerInfo(name="gone", kinds=("judge",), seen_at=later(239), version="1")
        )
        for name, kinds in [("a", ("judge",)), ("b", ("judge", "trial")), ("c", ("publish",))]:
            queue.record_worker(WorkerInfo(name=name, kinds=kinds, seen_at=later(240), version="1"))
        assert queue.waiting("j3", now=later(300)) == WaitEstimate(4, 8.0)
        assert queue.waiting("urgent", now=later(300)) == WaitEstimate(0, 0.0)
        assert queue.waiting("board", now=later(300)) == WaitEstimate(0, None)
        assert queue.waiting("old0", now=later(300)) is None


def test_jobs_are_listed_newest_first_and_filtered(store: Store, spring: Contest) -> None:
    """Operators need the latest failures first."""
    with store.write() as session:
        queue = session.queue
        queue.add(job("a", contest_no=spring.no), now=later(1))
        queue.add(job("b", kind="publish"), now=later(1))
        queue.add(job("c"), now=later(0))
        queue.cancel("a", now=later(2))

        def ids(**arguments: Any) -> list[str]:
            return [one.id for one in queue.page(**arguments)]

        assert ids() == ["b", "a", "c"]
        assert ids(after="b", limit=1) == ["a"]
        assert ids(contest_no=spring.no) == ids(states=["cancelled", "failed"]) == ["a"]
        assert ids(kinds=["judge"], states=["queued"]) == ["c"]
        assert queue.counts() == {
            ("judge", "cancelled"): 1, ("judge", "queued"): 1, ("publish", "queued"): 1,
        }  # fmt: skip


def test_workers_are_listed_while_they_are_there(store: Store) -> None:
    """One that is seen again is the same worker."""
    with store.write() as session:
        for at in (1, 5):
            seen = WorkerInfo(name="w1", kinds=("judge", "trial"), seen_at=later(at), version="2")
            session.queue.record_worker(seen)
        session.queue.record_worker(WorkerInfo(name="w0", kinds=(), seen_at=later(2), version="2"))
        assert session.queue.workers(since=later(3)) == [seen]
        assert [one.name for one in session.queue.workers(since=later(2))] == ["w0", "w1"]


@pytest.mark.exhaustive
def test_sweeping_forgets_what_ended_long_ago(store: Store) -> None:
    """The table stays as small as the work under way."""
    with store.write() as session:
        queue = session.queue
        for name in ("old", "older", "new", "queued", "leased"):
            queue.add(job(name), now=later(0))
        for name in ("old", "older"):
            queue.cancel(name, now=later(1))
        queue.cancel("new", now=later(5))
        _claim(queue)
        assert [queue.delete_ended(before=later(5), limit=1) for _ in range(3)] == [1, 1, 0]
        assert {one.id for one in queue.page()} == {"new", "queued", "leased"}


def test_the_last_one_done_is_found_among_the_recent(store: Store, spring: Contest) -> None:
    """A repeated job waits after its last end, not after its last request."""
    with store.write() as session:
        queue = session.queue
        for number, ended in enumerate((30, 20, 10)):
            name = f"f{number}"
            queue.add(job(name, kind="find", contest_no=spring.no), now=later(0))
            queue.claim(["find"], worker="w", lease=name, now=later(1), span=SPAN)
            queue.complete(name, lease=name, result={}, now=later(ended))
        queue.add(job("waits", kind="find", contest_no=spring.no), now=later(0))

        def last(**arguments: Any) -> str | None:
            options: dict[str, Any] = {"contest_no": spring.no, "since": later(5), **arguments}
            result = queue.last_done("find", **options)
            return None if result is None else result.id

        assert last() == "f0"
        assert last(since=later(30)) is None
        assert last(contest_no=spring.no + 1) is None
        assert queue.last_done("judge", contest_no=spring.no, since=later(0)) is None
