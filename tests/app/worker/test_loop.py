"""Test the worker loop: it reports the end of each job once and continues."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from agon.app.queue.source import Assignment, JobProgress, LeaseLost, heartbeats
from agon.app.worker.loop import JobWorker, Run, WorkerStopped, WorkResult
from agon.entities.jobs import JobKind
from agon.errors import AgonError, Conflict, NotScorable, Unavailable

ONE = Assignment(id="j1", kind="judge", payload={"n": 1}, lease="l1", lease_seconds=30, attempt=1)


class FakeSource:
    """A source of jobs that records calls and raises the errors of a test."""

    def __init__(
        self,
        *jobs: Assignment,
        claims: Sequence[Exception] = (),
        completes: Sequence[Exception] = (),
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.jobs = list(jobs)
        self.claims, self.completes = list(claims), list(completes)
        self.beat = beat
        self.calls: list[tuple[Any, ...]] = []
        self.waited = 0

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Return the next job, or raise the next error."""
        if self.claims:
            raise self.claims.pop(0)
        job = next((job for job in self.jobs if job.kind in kinds), None)
        if job is not None:
            self.jobs.remove(job)
        return job

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Record a heartbeat."""
        self.calls.append(("beat", assignment.id, progress))
        self.beat()

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Record an outcome, or raise the next error."""
        if self.completes:
            raise self.completes.pop(0)
        self.calls.append(("complete", assignment.id, dict(outcome)))

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Record a failed job."""
        self.calls.append(("fail", assignment.id, cause, retry))

    def wait(self, seconds: float) -> None:
        """Count the waits."""
        assert seconds > 0
        self.waited += 1


def runner(give: Any) -> Mapping[JobKind, Run]:
    """Return runners of judge jobs that return or raise a value."""

    def run(_: Assignment, progress: JobProgress) -> Mapping[str, Any]:
        progress.check()
        if isinstance(give, BaseException):
            raise give
        return {"gave": give}

    return {"judge": run}


def test_a_job_is_run_and_its_result_sent() -> None:
    """Claim, run, complete; nothing happens without a job."""
    source, results = FakeSource(ONE), list[WorkResult]()
    worker = JobWorker(source, runner(7), on_result=results.append)
    assert worker.work_once()
    assert not worker.work_once()
    assert source.calls == [("complete", "j1", {"gave": 7})]
    assert [(result.assignment.id, result.end) for result in results] == [("j1", "done")]


def test_kinds_without_a_runner_are_not_claimed() -> None:
    """A worker without containers must leave trials to other workers."""
    assert not JobWorker(FakeSource(ONE), {}).work_once()


@pytest.mark.parametrize(
    ("raised", "cause", "retry"),
    [
        (NotScorable("no stake"), "no stake", False),
        (Unavailable("no engine"), "no engine", True),
        (KeyError("source"), "KeyError: 'source'", True),
    ],
    ids=["invalid input", "a missing part", "an unexpected error"],
)
def test_a_job_that_fails_is_returned_with_its_cause(
    raised: Exception, cause: str, *, retry: bool
) -> None:
    """Invalid input would fail again; after any other error the job is tried again."""
    source = FakeSource(ONE)
    assert JobWorker(source, runner(raised)).work_once()
    assert source.calls == [("fail", "j1", cause, retry)]


def test_a_job_whose_lease_is_lost_is_not_reported() -> None:
    """Another worker has the job, and reports it."""
    source, results = FakeSource(ONE, completes=[LeaseLost("gone")]), list[WorkResult]()
    assert JobWorker(source, runner(1), on_result=results.append).work_once()
    assert source.calls == []
    assert results[0].end == "lost"


def test_an_outcome_is_sent_again_while_the_server_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A restart of the server must not lose a verdict that took minutes."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    source = FakeSource(ONE, completes=[Unavailable("restarting")] * 3)
    assert JobWorker(source, runner(1)).work_once()
    assert source.calls == [("complete", "j1", {"gave": 1})]


@pytest.mark.parametrize("error", [Unavailable("away"), Conflict("two at once")])
def test_a_claim_is_sent_again_until_the_queue_responds(
    monkeypatch: pytest.MonkeyPatch, error: AgonError
) -> None:
    """A worker survives the server's restart, and a conflict with another session."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    source = FakeSource(ONE, claims=[error] * 5)
    JobWorker(source, runner(1)).work(idle=False)
    assert source.calls == [("complete", "j1", {"gave": 1})]


def test_what_comes_before_the_first_job_is_tried_until_the_queue_can_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A database that is away for a moment as a worker starts does not end it."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    steps: list[str] = []
    errors = [Unavailable("away"), Conflict("two at once")]

    def prepare() -> None:
        steps.append("prepared" if not errors else str(errors[0]))
        if errors:
            raise errors.pop(0)

    source = FakeSource(ONE, replace(ONE, id="j2"))
    JobWorker(source, runner(1), prepare=prepare).work(idle=False)
    assert steps == ["away", "two at once", "prepared"]
    assert [call[1] for call in source.calls] == ["j1", "j2"]


def test_a_repeated_error_is_reported_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An operator must see why a worker gets no jobs, without the same line at each attempt."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    away, newer = Unavailable("away"), Unavailable("of revision 9999")
    source = FakeSource(ONE, claims=[away, away, newer, newer, away])
    errors: list[str] = []
    worker = JobWorker(source, runner(1), on_error=lambda error: errors.append(str(error)))
    worker.work(idle=False)
    assert errors == ["away", "of revision 9999", "away"]


def test_a_stopped_job_is_returned_and_ends_the_worker() -> None:
    """A worker that is stopped must not hold its job until the lease expires."""
    source = FakeSource(ONE)
    worker = JobWorker(source, runner(WorkerStopped()))
    with pytest.raises(WorkerStopped):
        worker.work()
    assert source.calls == [("fail", "j1", "the worker was stopped", True)]


def test_a_stopping_worker_completes_its_job_and_claims_no_other() -> None:
    """After SIGTERM, work that was begun counts."""
    source = FakeSource(ONE, ONE)
    stopping = Event()

    def run(_: Assignment, __: JobProgress) -> Mapping[str, Any]:
        stopping.set()
        return {}

    JobWorker(source, {"judge": run}, stopping=stopping).work()
    assert [call[0] for call in source.calls] == ["complete"]
    assert len(source.jobs) == 1


def test_no_kind_of_job_blocks_other_kinds() -> None:
    """A steady stream of records requests boards all the time; verdicts must come nevertheless."""
    board, verdict = replace(ONE, kind="publish"), ONE
    source, worked = FakeSource(board, board, board, *[verdict] * 5), list[str]()
    seconds = [0.0]

    def run(assignment: Assignment, _: JobProgress) -> Mapping[str, Any]:
        worked.append(assignment.kind)
        seconds[0] += 2.0 if assignment.kind == "publish" else 1.0
        return {}

    runners: dict[JobKind, Run] = {"publish": run, "judge": run}
    JobWorker(source, runners, clock=lambda: seconds[0]).work(idle=False)
    assert worked == ["publish", "judge", "judge", "publish", "judge", "judge", "publish", "judge"]


def test_an_idle_worker_waits_for_a_notification() -> None:
    """Each claim from an empty queue costs a write lock."""
    stopping = Event()

    class Idle(FakeSource):
        """A source without jobs that stops its worker at the third wait."""

        def wait(self, seconds: float) -> None:
            """Count the waits, and stop the worker."""
            super().wait(seconds)
            if self.waited == 3:
                stopping.set()

    source = Idle()
    JobWorker(source, runner(1), stopping=stopping).work()
    assert source.waited == 3


def test_heartbeats_carry_the_progress_until_the_block_ends() -> None:
    """Operators see the progress of a long job; an ended job sends no heartbeats."""
    beaten = Event()

    def beat() -> None:
        if source.calls[-1] == ("beat", "j2", 0.5):
            beaten.set()

    source = FakeSource(beat=beat)
    quick = Assignment(id="j2", kind="judge", payload={}, lease="l", lease_seconds=0.03, attempt=1)
    with heartbeats(source, quick) as progress:
        progress.report(0.5)
        assert beaten.wait(60)
    count = len(source.calls)
    assert not Event().wait(0.05)
    assert len(source.calls) == count


def test_a_rejected_heartbeat_stops_the_work_at_its_next_report() -> None:
    """The job was cancelled or has another worker: to continue would waste CPU time."""

    def reject() -> None:
        raise LeaseLost("cancelled")

    quick = Assignment(id="j2", kind="judge", payload={}, lease="l", lease_seconds=0.03, attempt=1)
    with heartbeats(FakeSource(beat=reject), quick) as progress, pytest.raises(LeaseLost):  # noqa: PT012 - the first reports may precede the heartbeat
        for _ in range(6000):
            progress.report(0.9)
            time.sleep(0.01)


def test_a_heartbeat_that_cannot_be_delivered_is_sent_again() -> None:
    """One lost packet must not lose the job."""
    tries: list[int] = []
    twice = Event()

    def away() -> None:
        tries.append(1)
        if len(tries) > 1:
            twice.set()
        raise Unavailable("no route")

    quick = Assignment(id="j2", kind="judge", payload={}, lease="l", lease_seconds=0.03, attempt=1)
    with heartbeats(FakeSource(beat=away), quick) as progress:
        assert twice.wait(60)
        progress.check()
