"""Lease jobs to workers and store their results together with the end of the job.

A worker runs a job and sends back an outcome: plain facts. The service validates the outcome
outside of any transaction, and then stores what follows from it in the session that completes the
job. So a job is done exactly when its effects are stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from agon.app.queue.source import LeaseLost
from agon.entities.jobs import Job, JobKind, WorkerInfo
from agon.errors import AgonError, CheckFailed, Conflict, Unavailable
from agon.store.session import Session
from agon.version import __version__

if TYPE_CHECKING:
    from agon.app.service import Service

FIRST_PAUSE: Final = timedelta(seconds=1)
MAX_PAUSE: Final = timedelta(minutes=5)
_MAX_CAUSE_CHARACTERS: Final = 2000

Commit: TypeAlias = Callable[[Session], Mapping[str, Any]]
"""Stores what follows from an outcome in the session that completes the job; returns its result."""


@dataclass(frozen=True)
class Retry:
    """The job has to run again, because the outcome is an error of this instance or its workers."""

    cause: str


StoreResult: TypeAlias = Callable[["Service", Job, Mapping[str, Any]], Commit | Retry]
"""Validates an outcome and returns how to store what follows from it.

It raises an AgonError if nothing can follow; the job then fails without a retry.
"""


class InvalidOutcome(CheckFailed):
    """The response of a worker is not a valid outcome of its job."""


def claim(
    service: "Service",
    kinds: Sequence[JobKind],
    *,
    worker: str,
    contests: Sequence[int] | None = None,
    announce: bool = True,
) -> Job | None:
    """Claim the next job for a worker, and record that the worker is active.

    Args:
        service: the service.
        kinds: the kinds of jobs the worker can run.
        worker: its name.
        contests: numbers of the contests it may work for; None: all.
        announce: whether to record the worker even if there is no job to claim.
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
            info = WorkerInfo(name=worker, kinds=tuple(kinds), seen_at=now, version=__version__)
            session.queue.record_worker(info)
        return job


def heartbeat(service: "Service", job_id: str, *, lease: str, progress: float | None = None) -> Job:
    """Extend a lease.

    Raises:
        LeaseLost: the job is no longer on this lease.
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
    handlers: Mapping[JobKind, StoreResult],
) -> Job:
    """Store what follows from an outcome and complete the job, in one transaction.

    An outcome from which nothing can follow fails the job with the cause.

    Args:
        service: the service.
        job_id: the job.
        lease: the worker's token.
        outcome: what the worker sent back.
        handlers: the function for each kind (``agon.app.worker.handlers.RESULT_HANDLERS``).

    Returns:
        The job as it is then: done, failed, or queued again.

    Raises:
        LeaseLost: the job is no longer on this lease; nothing was stored.
        InvalidOutcome: the outcome cannot be one of this job; the job is queued again.
        Unavailable: the outcome cannot be stored now; send it again.
    """
    job = _leased_job(service, job_id, lease=lease)
    try:
        effect = handlers[job.kind](service, job, outcome)
        if not isinstance(effect, Retry):
            return _commit(service, job, effect)
    except (LeaseLost, Unavailable):
        raise
    except InvalidOutcome as invalid:
        fail(service, job_id, lease=lease, cause=str(invalid), retry=True)
        raise
    except AgonError as failed:
        return fail(service, job_id, lease=lease, cause=str(failed), retry=False)
    return fail(service, job_id, lease=lease, cause=effect.cause, retry=True)


def fail(service: "Service", job_id: str, *, lease: str, cause: str, retry: bool) -> Job:
    """Return a job to the queue with the cause of its failure, or end it.

    The pause before attempt n + 1 is 2^(n - 1) seconds, at most five minutes.

    Raises:
        LeaseLost: the job is no longer on this lease.
    """
    job = _leased_job(service, job_id, lease=lease)
    now = service.clock()
    try:
        with service.store.write() as session:
            return session.queue.fail(
                job_id,
                lease=lease,
                cause=cause[:_MAX_CAUSE_CHARACTERS],
                now=now,
                retry_at=now + pause_after(job.attempts) if retry else None,
            )
    except Conflict as lost:
        raise LeaseLost(str(lost)) from None


def pause_after(attempts: int) -> timedelta:
    """Return how long a job waits after a number of attempts.

    Example:
        >>> [pause_after(n).total_seconds() for n in (1, 2, 3, 20)]
        [1.0, 2.0, 4.0, 300.0]
    """
    doublings = min(max(attempts, 1) - 1, 16)
    return min(FIRST_PAUSE * 2**doublings, MAX_PAUSE)


def _leased_job(service: "Service", job_id: str, *, lease: str) -> Job:
    """Return a job that is on this lease, or raise LeaseLost."""
    with service.store.read() as session:
        job = session.queue.get(job_id)
    if job.state != "leased" or job.lease != lease:
        raise LeaseLost(f"job {job_id} is {job.state} and not leased to you; claim another")
    return job


def _commit(service: "Service", job: Job, commit: Commit) -> Job:
    """Store what follows and complete the job in one session.

    The lease is checked first, so that nothing of a late worker is stored.
    """
    lease = job.lease or ""
    with service.store.write() as session:
        now = service.clock()
        try:
            session.queue.heartbeat(job.id, lease=lease, now=now, span=service.lease_span)
        except Conflict as lost:
            raise LeaseLost(str(lost)) from None
        result = commit(session)
        return session.queue.complete(job.id, lease=lease, result=result, now=now)
