"""Working: whatever becomes of a job, the worker says so once and goes on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Timer
from typing import Any

import pytest

from agon.app.queue.source import Assignment, LeaseLost, Progress, heartbeats
from agon.app.worker.loop import Run, Worker, WorkerStopped, WorkResult
from agon.entities.jobs import JobKind
from agon.errors import AgonError, Conflict, NotScorable, Unavailable

ONE = Assignment(id="j1", kind="judge", payload={"n": 1}, lease="l1", lease_seconds=30, attempt=1)


class Told:
    """A source of jobs that notes what it is told, and refuses as tests ask it to."""

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
        self.said: list[tuple[Any, ...]] = []
        self.waited = 0

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Give the next job, or fail as asked."""
        if self.claims:
            raise self.claims.pop(0)
        found = next((one for one in self.jobs if one.kind in kinds), None)
        if found is not None:
            self.jobs.remove(found)
        return found

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Note a heartbeat."""
        self.said.append(("beat", assignment.id, progress))
        self.beat()

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Note an outcome, or fail as asked."""
        if self.completes:
            raise self.completes.pop(0)
        self.said.append(("complete", assignment.id, dict(outcome)))

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Note a job given back."""
        self.said.append(("fail", assignment.id, cause, retry))

    def wait(self, seconds: float) -> None:
        """Count the waits."""
        assert seconds > 0
        self.waited += 1


def runner(give: Any) -> Mapping[JobKind, Run]:
    """Return runners of judge jobs that give or raise something."""

    def run(_: Assignment, progress: Progress) -> Mapping[str, Any]:
        progress.check()
        if isinstance(give, BaseException):
            raise give
        return {"gave": give}

    return {"judge": run}


def test_a_job_is_run_and_handed_in() -> None:
    """Claim, run, complete; nothing when there is no job."""
    source, told = Told(ONE), list[WorkResult]()
    worker = Worker(source, runner(7), on_result=told.append)
    assert worker.work_once()
    assert not worker.work_once()
    assert source.said == [("complete", "j1", {"gave": 7})]
    assert [(one.assignment.id, one.end) for one in told] == [("j1", "done")]


def test_kinds_without_a_runner_are_not_claimed() -> None:
    """A worker without containers must leave trials to others."""
    assert not Worker(Told(ONE), {}).work_once()


@pytest.mark.parametrize(
    ("raised", "cause", "retry"),
    [
        (NotScorable("no stake"), "no stake", False),
        (Unavailable("no engine"), "no engine", True),
        (KeyError("source"), "KeyError: 'source'", True),
    ],
    ids=["the input's own fault", "a part that is missing now", "a bug of ours"],
)
def test_a_job_that_fails_goes_back_with_its_cause(
    raised: Exception, cause: str, *, retry: bool
) -> None:
    """What the input is to blame for would fail again; everything else is worth another attempt."""
    source = Told(ONE)
    assert Worker(source, runner(raised)).work_once()
    assert source.said == [("fail", "j1", cause, retry)]


def test_a_job_whose_lease_is_lost_is_left_alone() -> None:
    """Another worker has it; a word more about it would be a lie."""
    source, told = Told(ONE, completes=[LeaseLost("gone")]), list[WorkResult]()
    assert Worker(source, runner(1), on_result=told.append).work_once()
    assert source.said == []
    assert told[0].end == "lost"


def test_an_outcome_is_sent_again_while_the_server_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A restart of the server must not cost a verdict that took minutes."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    source = Told(ONE, completes=[Unavailable("restarting")] * 3)
    assert Worker(source, runner(1)).work_once()
    assert source.said == [("complete", "j1", {"gave": 1})]


@pytest.mark.parametrize("refused", [Unavailable("away"), Conflict("two at once")])
def test_a_queue_that_gives_no_answer_is_asked_until_it_does(
    monkeypatch: pytest.MonkeyPatch, refused: AgonError
) -> None:
    """A worker outlives the server's restart, and a claim that met another session's."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    source = Told(ONE, claims=[refused] * 5)
    Worker(source, runner(1)).work(idle=False)
    assert source.said == [("complete", "j1", {"gave": 1})]


def test_a_worker_says_why_it_gets_no_jobs_and_not_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A database of another version never gives one; who waits for boards must learn of it."""
    monkeypatch.setattr("agon.app.worker.loop._RETRY_PAUSE_S", 0.001)
    away, newer = Unavailable("away"), Unavailable("of revision 9999")
    source = Told(ONE, claims=[away, away, newer, newer, away])
    said: list[str] = []
    worker = Worker(source, runner(1), on_error=lambda one: said.append(str(one)))
    worker.work(idle=False)
    assert said == ["away", "of revision 9999", "away"]


def test_a_stopped_job_is_given_back_and_ends_the_worker() -> None:
    """Asked to end at once, a worker must not keep its job till the lease runs out."""
    source = Told(ONE)
    worker = Worker(source, runner(WorkerStopped()))
    with pytest.raises(WorkerStopped):
        worker.work()
    assert source.said == [("fail", "j1", "the worker was stopped", True)]


def test_a_stopping_worker_finishes_its_job_and_takes_no_other() -> None:
    """SIGTERM lets work that was begun count."""
    source = Told(ONE, ONE)
    stopping = Event()

    def run(_: Assignment, __: Progress) -> Mapping[str, Any]:
        stopping.set()
        return {}

    Worker(source, {"judge": run}, stopping=stopping).work()
    assert [one[0] for one in source.said] == ["complete"]
    assert len(source.jobs) == 1


def test_no_kind_of_job_keeps_others_from_their_turn() -> None:
    """Records that never cease ask for boards without end; verdicts must come all the same."""
    board, verdict = replace(ONE, kind="publish"), ONE
    source, worked = Told(board, board, board, *[verdict] * 5), list[str]()
    seconds = [0.0]

    def run(assignment: Assignment, _: Progress) -> Mapping[str, Any]:
        worked.append(assignment.kind)
        seconds[0] += 2.0 if assignment.kind == "publish" else 1.0
        return {}

    runners: dict[JobKind, Run] = {"publish": run, "judge": run}
    Worker(source, runners, clock=lambda: seconds[0]).work(idle=False)
    assert worked == ["publish", "judge", "judge", "publish", "judge", "judge", "publish", "judge"]


def test_an_idle_worker_waits_for_word_instead_of_asking_without_end() -> None:
    """Each look at an empty queue costs a write lock."""
    stopping = Event()

    class Idle(Told):
        """A source that has nothing, and stops its worker at the third wait."""

        def wait(self, seconds: float) -> None:
            """Count, and stop."""
            super().wait(seconds)
            if self.waited == 3:
                stopping.set()

    source = Idle()
    Worker(source, runner(1), stopping=stopping).work()
    assert source.waited == 3


def test_heartbeats_carry_the_progress_until_the_block_ends() -> None:
    """Operators see how far a long job is; an ended one sends no more."""
    beaten = Event()
    source = Told(beat=beaten.set)
    quick = Assignment(id="j2", kind="judge", payload={}, lease="l", lease_seconds=0.03, attempt=1)
    with heartbeats(source, quick) as progress:
        progress.report(0.5)
        assert beaten.wait(5)
    count = len(source.said)
    assert source.said[0] == ("beat", "j2", 0.5)
    assert not Event().wait(0.05)
    assert len(source.said) == count


def test_a_rejected_heartbeat_stops_the_work_at_its_next_report() -> None:
    """The job was cancelled or went to another: going on would waste the machine."""

    def refused() -> None:
        raise LeaseLost("cancelled")

    quick = Assignment(id="j2", kind="judge", payload={}, lease="l", lease_seconds=0.03, attempt=1)
    with heartbeats(Told(beat=refused), quick) as progress:
        told = Event()
        Timer(0.2, told.set).start()
        assert told.wait(5)
        with pytest.raises(LeaseLost):
            progress.report(0.9)


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
    with heartbeats(Told(beat=away), quick) as progress:
        assert twice.wait(5)
        progress.check()
