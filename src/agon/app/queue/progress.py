"""Send heartbeats and progress while a job runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from agon.app.queue.source import Assignment, JobSource
from agon.errors import AgonError, Conflict

_HEARTBEATS_PER_LEASE: Final = 3
"""More than one, so that a single lost heartbeat does not lose the job."""


class LeaseLost(Conflict):
    """The job is no longer on this worker's lease; it has to stop, and nothing is stored."""


class Progress:
    """The progress of a running job, sent with the next heartbeat.

    Example:
        >>> progress = Progress()
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
def heartbeats(source: JobSource, assignment: Assignment) -> Iterator[Progress]:
    """Send heartbeats from a separate thread while the block works on a job.

    A heartbeat that cannot be delivered is sent again. One that is rejected is the last, and the
    block gets a :class:`LeaseLost` when it next reports its progress.
    """
    progress = Progress()
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
