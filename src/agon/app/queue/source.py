"""Define how a worker reaches the queue, directly or over HTTP, and keeps a lease while it works.

Both exchange plain values: an :class:`Assignment` as JSON, and outcomes as JSON objects. What a
worker over HTTP sends back is validated first (:mod:`agon.app.queue.leases`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import Event, Thread
from typing import Any, Final, Protocol

from agon.entities.jobs import Job, JobKind
from agon.errors import AgonError, Conflict

REMOTE_KINDS: Final[frozenset[JobKind]] = frozenset({"judge", "trial"})
"""The kinds that remote workers may run: they get programs and tasks, never hidden answers."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A leased job, as a worker gets it.

    Attributes:
        lease: needed to complete or fail the job.
        lease_seconds: how long the lease lasts without a heartbeat.
        attempt: number of the attempt, from 1.
        payload: what is needed to run it.
    """

    id: str
    kind: JobKind
    lease: str
    lease_seconds: float
    attempt: int
    payload: Mapping[str, Any]

    @classmethod
    def of(cls, job: Job, *, lease_seconds: float) -> "Assignment":
        """Return the assignment of a job that was just claimed."""
        return cls(
            id=job.id,
            kind=job.kind,
            payload=job.payload,
            lease=job.lease or "",
            lease_seconds=lease_seconds,
            attempt=job.attempts,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self) | {"payload": dict(self.payload)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Assignment":
        """Return the assignment that :meth:`to_dict` wrote."""
        return cls(**value)


class JobSource(Protocol):
    """Where a worker gets its jobs from, and sends outcomes to.

    Methods may be called from two threads, the worker's and that of its heartbeats.
    """

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job of these kinds; return None if there is none.

        Raises:
            Unavailable: the queue cannot be reached; try again later.
        """

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Extend a job's lease, and report its progress (0 to 1).

        Raises:
            Conflict: the job is no longer on this lease: stop working on it.
        """

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Send the outcome of a job.

        Raises:
            Conflict: the job is no longer on this lease, or the outcome was rejected.
        """

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Return a job to the queue with the cause of its failure.

        Args:
            assignment: the job.
            cause: why it failed, in one line.
            retry: whether another attempt may succeed.

        Raises:
            Conflict: the job is no longer on this lease.
        """

    def wait(self, seconds: float) -> None:
        """Wait for at most that long, or until there may be a job to claim."""


_HEARTBEATS_PER_LEASE: Final = 3
"""More than one, so that a single lost heartbeat does not lose the job."""


class LeaseLost(Conflict):
    """The job is no longer on this worker's lease; it has to stop, and nothing is stored."""


class JobProgress:
    """The progress of a running job, sent with the next heartbeat.

    Example:
        >>> progress = JobProgress()
        >>> progress.report(0.5)
        >>> progress.done
        0.5
    """

    def __init__(self) -> None:
        self._lost = Event()
        self.done: float | None = None

    def report(self, part: float) -> None:
        """Set the part of the job that is done, from 0 to 1.

        Raises:
            LeaseLost: the job is no longer on this worker's lease.
        """
        self.check()
        self.done = min(max(part, 0.0), 1.0)

    def check(self) -> None:
        """Check that the job is still on this worker's lease.

        Raises:
            LeaseLost: it is not.
        """
        if self._lost.is_set():
            raise LeaseLost("the job is no longer on this lease; stop working on it")

    def lose(self) -> None:
        """Record that the job is no longer on this worker's lease."""
        self._lost.set()


@contextmanager
def heartbeats(source: JobSource, assignment: Assignment) -> Iterator[JobProgress]:
    """Send heartbeats from a separate thread while the block works on a job.

    A heartbeat that cannot be delivered is sent again. One that is rejected is the last, and the
    block gets a :class:`LeaseLost` when it next reports its progress.
    """
    progress = JobProgress()
    ended = Event()

    def send() -> None:
        while not ended.wait(assignment.lease_seconds / _HEARTBEATS_PER_LEASE):
            try:
                source.heartbeat(assignment, progress.done)
            except Conflict:
                progress.lose()
                return
            except AgonError:
                continue

    thread = Thread(target=send, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        ended.set()
        thread.join()
