"""Jobs over HTTP: those who look after them, and those who work on them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agon import __version__
from agon.app.queue.source import Assignment
from agon.client.values import JobTold, QueueTold
from agon.client.wire import Wire
from agon.entities.jobs import JobKind, JobState


class RemoteJobs:
    """Look after jobs and the queue; see :class:`agon.client.ports.Jobs`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(
        self, *, contest: str | None = None, state: JobState | None = None
    ) -> Iterator[JobTold]:
        """Yield jobs, newest first."""
        yield from map(_told, self._wire.pages("jobs", contest=contest, state=state))

    def get(self, job: str) -> JobTold:
        """Return a job."""
        return _told(self._wire.get("jobs", job))

    def cancel(self, job: str) -> JobTold:
        """Cancel a job."""
        return _told(self._wire.send("POST", "jobs", job, "cancel"))

    def retry(self, job: str) -> JobTold:
        """Queue a job that failed or was cancelled once more."""
        return _told(self._wire.send("POST", "jobs", job, "retry"))

    def queue(self) -> QueueTold:
        """Return how the queue is."""
        return QueueTold.model_validate(self._wire.get("queue"))

    def pause(self, *, paused: bool = True) -> QueueTold:
        """Let nothing more be claimed, or (False) go on."""
        return QueueTold.model_validate(self._wire.send("POST", "queue", body={"paused": paused}))


class RemoteSource:
    """Give a worker its jobs over HTTP; an :class:`agon.app.queue.source.JobSource`.

    A claim whose answer is lost is asked for again under the same key, so that no job is claimed
    twice by one request.

    Args:
        wire: the connection; it shows a token of role worker.
        worker: this worker's name.
        wait: waits for at most so many seconds.
    """

    def __init__(
        self, wire: Wire, *, worker: str, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._wire = wire
        self._worker = worker
        self._wait = wait

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job of these kinds; None: there is none."""
        asked = {"kinds": list(kinds), "worker": self._worker, "version": __version__}
        given = self._wire.send("POST", "jobs", "claim", body=asked)
        return None if given is None else Assignment.from_dict(given)

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Keep a job's lease alive."""
        self._about(assignment, "heartbeat", {"progress": progress})

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Hand in what came of a job."""
        self._about(assignment, "complete", {"outcome": dict(outcome)})

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Give a job back with the cause."""
        self._about(assignment, "fail", {"cause": _tellable(cause), "retry": retry})

    def wait(self, seconds: float) -> None:
        """Wait; over HTTP nothing tells earlier that there is something to claim."""
        self._wait(seconds)

    def _about(self, assignment: Assignment, step: str, said: Mapping[str, Any]) -> None:
        body = {"lease": assignment.lease, **said}
        self._wire.send("POST", "jobs", assignment.id, step, body=body)


def _tellable(cause: str) -> str:
    """Bring a cause into what the server takes: 1 to 2,000 characters without NUL."""
    return cause.replace("\0", "�")[:2000] or "no cause was given"


def _told(value: Any) -> JobTold:
    return JobTold.model_validate(value)
