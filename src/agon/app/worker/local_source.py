"""Reach the queue with direct database access."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.queue import leases
from agon.app.queue.source import Assignment
from agon.app.worker.cleanup import clean_up
from agon.app.worker.handlers import RESULT_HANDLERS
from agon.entities.jobs import JobKind

if TYPE_CHECKING:
    from agon.app.service import Service

_ANNOUNCE_EVERY: Final = timedelta(seconds=10)
_CLEAN_UP_EVERY: Final = timedelta(hours=1)


class LocalSource:
    """A :class:`JobSource` that claims and completes jobs in this process's own store.

    Args:
        service: the service.
        worker: this worker's name.
        contests: numbers of the contests it may work for; None: all.
        wait: waits for at most a number of seconds, or until something was stored.
    """

    def __init__(
        self,
        service: "Service",
        *,
        worker: str,
        contests: Sequence[int] | None = None,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._service = service
        self._worker = worker
        self._contests = contests
        self._wait = wait
        self._announced: datetime | None = None
        self._cleaned_up: datetime | None = None

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job; see :meth:`JobSource.claim`.

        An idle worker is recorded as active every ten seconds only: every write wakes the other
        workers.
        """
        service = self._service
        now = service.clock()
        announce = self._announced is None or now - self._announced >= _ANNOUNCE_EVERY
        job = leases.claim(
            service, kinds, worker=self._worker, contests=self._contests, announce=announce
        )
        if announce or job is not None:
            self._announced = now
        if job is None:
            self._clean_up(now)
            return None
        return Assignment.of(job, lease_seconds=service.lease_span.total_seconds())

    def _clean_up(self, now: datetime) -> None:
        """Delete expired jobs and responses, once an hour, while there is no job."""
        if self._cleaned_up is None or now - self._cleaned_up >= _CLEAN_UP_EVERY:
            self._cleaned_up = now
            clean_up(self._service)

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Extend a lease; see :meth:`JobSource.heartbeat`."""
        leases.heartbeat(self._service, assignment.id, lease=assignment.lease, progress=progress)

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Store what follows from an outcome; see :meth:`JobSource.complete`."""
        leases.complete(
            self._service,
            assignment.id,
            lease=assignment.lease,
            outcome=outcome,
            handlers=RESULT_HANDLERS,
        )

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Return a job to the queue; see :meth:`JobSource.fail`."""
        leases.fail(self._service, assignment.id, lease=assignment.lease, cause=cause, retry=retry)

    def wait(self, seconds: float) -> None:
        """Wait until something was stored; see :meth:`JobSource.wait`."""
        self._wait(seconds)
