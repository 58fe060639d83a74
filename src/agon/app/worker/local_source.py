"""Reach the queue beside the database."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.queue import leases
from agon.app.queue.source import Assignment
from agon.app.worker.cleanup import tidy
from agon.app.worker.handlers import SETTLERS
from agon.entities.jobs import JobKind

if TYPE_CHECKING:
    from agon.app.service import Service

_ANNOUNCED_EVERY: Final = timedelta(seconds=10)
_TIDIED_EVERY: Final = timedelta(hours=1)


class LocalSource:
    """Claim and complete jobs in this process's own store; a :class:`JobSource`.

    Args:
        service: the house.
        worker: this worker's name.
        contests: numbers of the contests it may work for; None: all.
        wait: waits for at most so many seconds, or until something was stored.
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
        self._tidied: datetime | None = None

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job; see :meth:`JobSource.claim`.

        An idle worker says only now and then that it is there: to say so is to write, and what is
        written wakes the others.
        """
        service = self._service
        now = service.clock()
        announce = self._announced is None or now - self._announced >= _ANNOUNCED_EVERY
        job = leases.claim(
            service, kinds, worker=self._worker, contests=self._contests, announce=announce
        )
        if announce or job is not None:
            self._announced = now
        if job is None:
            self._tidy(now)
            return None
        return Assignment.of(job, lease_seconds=service.lease_span.total_seconds())

    def _tidy(self, now: datetime) -> None:
        """Tidy the house now and then, while there is nothing else to do."""
        if self._tidied is None or now - self._tidied >= _TIDIED_EVERY:
            self._tidied = now
            tidy(self._service)

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Keep a lease alive; see :meth:`JobSource.heartbeat`."""
        leases.heartbeat(self._service, assignment.id, lease=assignment.lease, progress=progress)

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Settle an outcome; see :meth:`JobSource.complete`."""
        leases.complete(
            self._service,
            assignment.id,
            lease=assignment.lease,
            outcome=outcome,
            settlers=SETTLERS,
        )

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Give a job back; see :meth:`JobSource.fail`."""
        leases.fail(self._service, assignment.id, lease=assignment.lease, cause=cause, retry=retry)

    def wait(self, seconds: float) -> None:
        """Wait until something was stored; see :meth:`JobSource.wait`."""
        self._wait(seconds)
