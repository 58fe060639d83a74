"""The worker: claim a job, run it, send its outcome, and repeat."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Literal, TypeAlias

from agon.app.queue.source import Assignment, JobProgress, JobSource, LeaseLost, heartbeats
from agon.entities.jobs import JobKind
from agon.errors import AgonError, Conflict, TooMany, Unavailable

Run: TypeAlias = Callable[[Assignment, JobProgress], Mapping[str, Any]]
"""Runs a job and returns its outcome; it may take long and is outside of any transaction."""

End: TypeAlias = Literal["done", "failed", "lost", "stopped"]
"""How a job ended: completed, failed with a cause, lease lost, interrupted."""

IDLE_SECONDS: Final = 1.0
"""How often an idle worker asks for jobs: jobs become due, leases expire, queues are resumed."""

_RETRY_PAUSE_S: Final = 0.5
_COMPLETE_RETRIES: Final = 20
_RECENT_S: Final = 10.0
_TEMPORARY: Final = (Unavailable, TooMany)


class WorkerStopped(BaseException):
    """The worker has to end now, in the middle of a job, or while it asks for one.

    It is not an ``Exception``, so that no handler of a program's failures catches it.
    """


@dataclass(frozen=True)
class WorkResult:
    """How a worker ended its work on a job."""

    assignment: Assignment
    end: End
    cause: str = ""


class JobWorker:
    """Runs jobs, one at a time.

    Args:
        source: where jobs come from.
        runners: the function that runs each kind; the worker claims these kinds only.
        prepare: called once before the first job, like a claim: again until the queue can be
            reached.
        stopping: set when the worker has to end after its job.
        on_result: called after every job.
        on_error: called when the queue cannot be reached, once for each different message.
        clock: returns seconds, to share the time between kinds.

    Attributes:
        running: whether a job is running, which raising :class:`WorkerStopped` interrupts.
        claiming: whether it asks for a job, which that interrupts as well; a job that is granted
            then is claimed again once its lease has expired.
    """

    def __init__(
        self,
        source: JobSource,
        runners: Mapping[JobKind, Run],
        *,
        prepare: Callable[[], None] = lambda: None,
        stopping: Event | None = None,
        on_result: Callable[[WorkResult], None] = lambda _: None,
        on_error: Callable[[AgonError], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._runners = runners
        self._prepare: Callable[[], None] | None = prepare
        self._on_result = on_result
        self._on_error = on_error
        self._clock = clock
        self._spent: dict[JobKind, float] = {}
        self.running = False
        self.claiming = False
        self.stopping = stopping or Event()

    def work_once(self) -> bool:
        """Run one job; return False if there is none.

        Raises:
            Unavailable: the queue cannot be reached.
            Stopped: the job was interrupted and returned to the queue.
        """
        if self._prepare is not None:
            self._prepare()
            self._prepare = None
        self.claiming = True
        try:
            assignment = self._next()
        finally:
            self.claiming = False
        if assignment is None:
            self._spent.clear()
            return False
        began = self._clock()
        result = self._work(assignment)
        self._count_time(assignment.kind, self._clock() - began)
        self._on_result(result)
        return True

    def work(self, *, idle: bool = True) -> None:
        """Run jobs until :attr:`stopping` is set.

        While the queue cannot be reached, the worker tries again.

        Args:
            idle: whether to wait for jobs when there are none; otherwise return.
        """
        message = ""
        while not self.stopping.is_set():
            try:
                has_worked = self.work_once()
            except (*_TEMPORARY, Conflict) as error:
                if str(error) != message:
                    self._on_error(error)
                message = str(error)
                self.stopping.wait(_RETRY_PAUSE_S)
                continue
            message = ""
            if has_worked:
                continue
            if not idle:
                return
            self._source.wait(IDLE_SECONDS)

    def _next(self) -> Assignment | None:
        """Claim a job, preferably not of the kind that recently took the most time.

        A constant stream of records causes publish jobs all the time; other kinds must run too.
        """
        kinds = tuple(self._runners)
        if self._spent and len(kinds) > 1:
            most = max(self._spent, key=self._spent.__getitem__)
            assignment = self._source.claim(tuple(kind for kind in kinds if kind != most))
            if assignment is not None:
                return assignment
        return self._source.claim(kinds)

    def _count_time(self, kind: JobKind, seconds: float) -> None:
        """Count a job's time; earlier times decay (to 1/e after ten seconds of work)."""
        decay = math.exp(-seconds / _RECENT_S)
        self._spent = {name: spent * decay for name, spent in self._spent.items()}
        self._spent[kind] = self._spent.get(kind, 0.0) + seconds

    def _work(self, assignment: Assignment) -> WorkResult:
        """Run a claimed job and complete it or return it to the queue."""
        try:
            with heartbeats(self._source, assignment) as progress:
                outcome = self._run(assignment, progress)
                progress.check()
                return self._complete(assignment, outcome)
        except LeaseLost as error:
            return WorkResult(assignment, "lost", str(error))
        except WorkerStopped:
            self._fail(assignment, "the worker was stopped", retry=True)
            raise
        except AgonError as failed:
            return self._fail(assignment, str(failed), retry=isinstance(failed, _TEMPORARY))
        except Exception as bug:  # noqa: BLE001 - a bug in a handler must not end the worker
            return self._fail(assignment, f"{type(bug).__name__}: {bug}", retry=True)

    def _run(self, assignment: Assignment, progress: JobProgress) -> Mapping[str, Any]:
        self.running = True
        try:
            return self._runners[assignment.kind](assignment, progress)
        finally:
            self.running = False

    def _complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> WorkResult:
        """Send an outcome; retry if it cannot be stored now."""
        for attempt in range(_COMPLETE_RETRIES + 1):
            try:
                self._source.complete(assignment, outcome)
                break
            except _TEMPORARY:
                if attempt == _COMPLETE_RETRIES or self.stopping.wait(_RETRY_PAUSE_S):
                    raise
        return WorkResult(assignment, "done")

    def _fail(self, assignment: Assignment, cause: str, *, retry: bool) -> WorkResult:
        try:
            self._source.fail(assignment, cause, retry=retry)
        except AgonError as error:
            return WorkResult(assignment, "lost", f"{cause}; {error}")
        return WorkResult(assignment, "failed", cause)
