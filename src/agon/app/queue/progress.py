"""Keep a job's lease alive while it is worked on, and tell how far it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from agon.app.queue.source import Assignment, JobSource
from agon.errors import AgonError, Conflict

_BEATS_PER_LEASE: Final = 3
"""One lost heartbeat must not lose the job."""


class LeaseLost(Conflict):
    """Say that a job is somebody else's by now, or nobody's; stop, and keep nothing."""


class Progress:
    """Tell how far a job is; the next heartbeat carries it.

    Example:
        >>> progress = Progress()
        >>> progress.tell(0.5)
        >>> progress.done
        0.5
    """

    def __init__(self) -> None:
        self._lost = Event()
        self.done: float | None = None

    def tell(self, done: float) -> None:
        """Say how far the job is, 0 to 1.

        Raises:
            LeaseLost: the job is no longer this worker's.
        """
        self.check()
        self.done = min(max(done, 0.0), 1.0)

    def check(self) -> None:
        """Go on only while the job is this worker's.

        Raises:
            LeaseLost: it is not.
        """
        if self._lost.is_set():
            raise LeaseLost("the job's lease went to somebody else; stop working on it")

    def lose(self) -> None:
        """Note that the job is no longer this worker's."""
        self._lost.set()


@contextmanager
def beating(source: JobSource, assignment: Assignment) -> Iterator[Progress]:
    """Send heartbeats from a thread of their own while the block works on a job.

    A heartbeat that cannot be delivered is tried again; one that is refused ends them, and the
    block hears of it when it next tells its progress.
    """
    progress = Progress()
    over = Event()

    def beat() -> None:
        while not over.wait(assignment.lease_seconds / _BEATS_PER_LEASE):
            try:
                source.heartbeat(assignment, progress.done)
            except Conflict:
                progress.lose()
                return
            except AgonError:
                continue

    heart = Thread(target=beat, name="heartbeat", daemon=True)
    heart.start()
    try:
        yield progress
    finally:
        over.set()
        heart.join()
