"""Work: claim a job, run it, hand in what came of it, and begin again."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Literal, TypeAlias

from agon.app.queue.progress import LeaseLost, Progress, beating
from agon.app.queue.source import Assignment, JobSource
from agon.entities.jobs import JobKind
from agon.errors import AgonError, Conflict, TooMany, Unavailable

Run: TypeAlias = Callable[[Assignment, Progress], Mapping[str, Any]]
"""Run a job and return its outcome; long, and outside of any transaction."""

End: TypeAlias = Literal["done", "failed", "lost", "stopped"]
"""How work on a job ended: handed in, given back with a cause, no longer ours, given back."""

IDLE_SECONDS: Final = 1.0
"""An idle worker looks for jobs at least so often: jobs come due, leases run out, queues resume."""

_REFUSED_PAUSE: Final = 0.5
_HANDED_IN_AGAIN: Final = 20
_LATELY_SECONDS: Final = 10.0
_TEMPORARY: Final = (Unavailable, TooMany)


class Stopped(BaseException):
    """Say that the worker has to end now, in the middle of a job.

    No Exception, so that nothing that handles a program's failures takes it for one.
    """


@dataclass(frozen=True)
class Worked:
    """Hold what a worker tells its owner of a job it was done with."""

    assignment: Assignment
    end: End
    cause: str = ""


class Worker:
    """Work on jobs, one at a time.

    Args:
        source: where jobs come from.
        runners: how each kind of job is run; the worker claims these kinds and no others.
        stopping: set when the worker is to end after its job.
        told: called after every job.
        refused: called when the queue cannot be reached, once for as long as it says the same.
        clock: tells seconds, for giving every kind its turn.

    Attributes:
        running: whether a job is being run, and may be stopped by raising :class:`Stopped`.
    """

    def __init__(
        self,
        source: JobSource,
        runners: Mapping[JobKind, Run],
        *,
        stopping: Event | None = None,
        told: Callable[[Worked], None] = lambda _: None,
        refused: Callable[[AgonError], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._runners = runners
        self._told = told
        self._refused = refused
        self._clock = clock
        self._spent: dict[JobKind, float] = {}
        self.running = False
        self.stopping = stopping or Event()

    def work_once(self) -> bool:
        """Work on one job; False when there is none.

        Raises:
            Unavailable: the queue cannot be reached.
            Stopped: raised into the job, which was given back.
        """
        assignment = self._next()
        if assignment is None:
            self._spent.clear()
            return False
        began = self._clock()
        worked = self._work(assignment)
        self._took(assignment.kind, self._clock() - began)
        self._told(worked)
        return True

    def work(self, *, idle: bool = True) -> None:
        """Work until :attr:`stopping` is set.

        While the queue cannot be reached, or contradicts itself, it is tried again and again.

        Args:
            idle: whether to wait for jobs when there are none; else that is the end.
        """
        said = ""
        while not self.stopping.is_set():
            try:
                worked = self.work_once()
            except (*_TEMPORARY, Conflict) as refused:
                if str(refused) != said:
                    self._refused(refused)
                said = str(refused)
                self.stopping.wait(_REFUSED_PAUSE)
                continue
            said = ""
            if worked:
                continue
            if not idle:
                return
            self._source.wait(IDLE_SECONDS)

    def _next(self) -> Assignment | None:
        """Claim a job, first of the kinds but the one that had the most time lately.

        Records that never cease ask for boards without end; verdicts have their turn all the same.
        """
        kinds = tuple(self._runners)
        if self._spent and len(kinds) > 1:
            most = max(self._spent, key=self._spent.__getitem__)
            found = self._source.claim(tuple(kind for kind in kinds if kind != most))
            if found is not None:
                return found
        return self._source.claim(kinds)

    def _took(self, kind: JobKind, seconds: float) -> None:
        """Count a job's time; what was longer ago weighs less (1/e after ten seconds of work)."""
        left = math.exp(-seconds / _LATELY_SECONDS)
        self._spent = {one: spent * left for one, spent in self._spent.items()}
        self._spent[kind] = self._spent.get(kind, 0.0) + seconds

    def _work(self, assignment: Assignment) -> Worked:
        """Work on a claimed job, whatever becomes of it."""
        try:
            with beating(self._source, assignment) as progress:
                outcome = self._run(assignment, progress)
                progress.check()
                return self._hand_in(assignment, outcome)
        except LeaseLost as lost:
            return Worked(assignment, "lost", str(lost))
        except Stopped:
            self._give_back(assignment, "the worker was stopped", retry=True)
            raise
        except AgonError as failed:
            return self._give_back(assignment, str(failed), retry=isinstance(failed, _TEMPORARY))
        except Exception as bug:  # noqa: BLE001 - a bug in a handler must not end the worker
            return self._give_back(assignment, f"{type(bug).__name__}: {bug}", retry=True)

    def _run(self, assignment: Assignment, progress: Progress) -> Mapping[str, Any]:
        self.running = True
        try:
            return self._runners[assignment.kind](assignment, progress)
        finally:
            self.running = False

    def _hand_in(self, assignment: Assignment, outcome: Mapping[str, Any]) -> Worked:
        """Hand in an outcome; when the house cannot take it now, a few times more."""
        for attempt in range(_HANDED_IN_AGAIN + 1):
            try:
                self._source.complete(assignment, outcome)
                break
            except _TEMPORARY:
                if attempt == _HANDED_IN_AGAIN or self.stopping.wait(_REFUSED_PAUSE):
                    raise
        return Worked(assignment, "done")

    def _give_back(self, assignment: Assignment, cause: str, *, retry: bool) -> Worked:
        try:
            self._source.fail(assignment, cause, retry=retry)
        except AgonError as lost:
            return Worked(assignment, "lost", f"{cause}; {lost}")
        return Worked(assignment, "failed", cause)
