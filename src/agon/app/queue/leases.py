"""Hand out jobs and take them back; what counts is stored together with the job's end.

A worker runs a job and sends back an outcome: plain facts. The house *settles* it: it looks at the
outcome, outside of any transaction, and then stores what follows from it in the session that
completes the job. So a job is done exactly when its effects are there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from agon import __version__
from agon.app.queue.progress import LeaseLost
from agon.entities.jobs import Job, JobKind, WorkerInfo
from agon.errors import AgonError, CheckFailed, Conflict, Unavailable
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

FIRST_PAUSE: Final = timedelta(seconds=1)
LONGEST_PAUSE: Final = timedelta(minutes=5)
_LONGEST_CAUSE: Final = 2000

Finish: TypeAlias = Callable[[Session], Mapping[str, Any]]
"""Store what follows from an outcome, in the completing session; return the job's result."""


@dataclass(frozen=True)
class Again:
    """Say that an outcome is our own fault and the job has to run once more."""

    cause: str


Settle: TypeAlias = Callable[["Service", Job, Mapping[str, Any]], Finish | Again]
"""Look at an outcome and say what follows from it; nothing is stored yet.

It raises an AgonError when nothing can follow, and the job fails for good.
"""


class Refused(CheckFailed):
    """Say that what a worker sent back cannot be an outcome of its job."""


def claim(
    service: "Service",
    kinds: Sequence[JobKind],
    *,
    worker: str,
    contests: Sequence[int] | None = None,
    announce: bool = True,
) -> Job | None:
    """Claim the next job for a worker, and note that the worker is there.

    Args:
        service: the house.
        kinds: what the worker can do.
        worker: its name.
        contests: numbers of the contests it may work for; None: all.
        announce: whether to note the worker even when there is nothing to claim.
    """
    now = service.clock()
    with service.store.write() as session:
        job = session.queue.claim(
            kinds,
            worker=worker,
            lease=service.new_id(),
            now=now,
            span=service.lease_span,
            contests=contests,
        )
        if announce or job is not None:
            seen = WorkerInfo(name=worker, kinds=tuple(kinds), seen_at=now, version=__version__)
            session.queue.record_worker(seen)
        return job


def heartbeat(service: "Service", job_id: str, *, lease: str, progress: float | None = None) -> Job:
    """Keep a lease alive.

    Raises:
        LeaseLost: it is no longer the job's.
    """
    try:
        with service.store.write() as session:
            return session.queue.heartbeat(
                job_id,
                lease=lease,
                now=service.clock(),
                span=service.lease_span,
                progress=progress,
            )
    except Conflict as lost:
        raise LeaseLost(str(lost)) from None


def complete(
    service: "Service",
    job_id: str,
    *,
    lease: str,
    outcome: Mapping[str, Any],
    settlers: Mapping[JobKind, Settle],
) -> Job:
    """Settle an outcome and finish its job, both or neither.

    An outcome from which nothing can follow fails the job with the cause.

    Args:
        service: the house.
        job_id: the job.
        lease: the worker's token.
        outcome: what the worker found.
        settlers: who settles which kind (``agon.app.worker.handlers.SETTLERS``).

    Returns:
        The job as it is then: done, failed, or queued again.

    Raises:
        LeaseLost: the lease is no longer the job's; nothing was stored.
        Refused: the outcome cannot be one of this job; the job is queued again.
        Unavailable: the house cannot settle it now; send it again.
    """
    job = _held(service, job_id, lease=lease)
    try:
        settled = settlers[job.kind](service, job, outcome)
        if not isinstance(settled, Again):
            return _finish(service, job, settled)
    except (LeaseLost, Unavailable):
        raise
    except Refused as refused:
        fail(service, job_id, lease=lease, cause=str(refused), retry=True)
        raise
    except AgonError as failed:
        return fail(service, job_id, lease=lease, cause=str(failed), retry=False)
    return fail(service, job_id, lease=lease, cause=settled.cause, retry=True)


def fail(service: "Service", job_id: str, *, lease: str, cause: str, retry: bool) -> Job:
    """Give a job back with the cause; it waits longer after every attempt.

    The pause before attempt n + 1 is 2^(n - 1) seconds, five minutes at most.

    Raises:
        LeaseLost: the lease is no longer the job's.
    """
    job = _held(service, job_id, lease=lease)
    now = service.clock()
    try:
        with service.store.write() as session:
            return session.queue.fail(
                job_id,
                lease=lease,
                cause=cause[:_LONGEST_CAUSE],
                now=now,
                retry_at=now + pause_after(job.attempts) if retry else None,
            )
    except Conflict as lost:
        raise LeaseLost(str(lost)) from None


def pause_after(attempts: int) -> timedelta:
    """Return how long a job waits after so many attempts.

    Example:
        >>> [pause_after(n).total_seconds() for n in (1, 2, 3, 20)]
        [1.0, 2.0, 4.0, 300.0]
    """
    doublings = min(max(attempts, 1) - 1, 16)
    return min(FIRST_PAUSE * 2**doublings, LONGEST_PAUSE)


def _held(service: "Service", job_id: str, *, lease: str) -> Job:
    """Return a job whose lease is this one."""
    with service.store.read() as session:
        job = session.queue.get(job_id)
    if job.state != "leased" or job.lease != lease:
        raise LeaseLost(f"job {job_id} is {job.state} and not leased to you; claim another")
    return job


def _finish(service: "Service", job: Job, finish: Finish) -> Job:
    """Store what follows and complete the job in one session.

    The lease is looked at first, so that a late worker's entries are not even tried.
    """
    lease = job.lease or ""
    with service.store.write() as session:
        now = service.clock()
        try:
            session.queue.heartbeat(job.id, lease=lease, now=now, span=service.lease_span)
        except Conflict as lost:
            raise LeaseLost(str(lost)) from None
        result = finish(session)
        return session.queue.complete(job.id, lease=lease, result=result, now=now)
