"""Say what jobs need of a database."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from agon.app.jobs.values import Job, JobKind, JobState, NewJob, Waiting, WorkerSeen


class Queue(Protocol):
    """Keep jobs on leases.

    A job is claimed by one worker at a time. A lease that ran out frees the job for another
    attempt; the late worker's lease token is then worth nothing, so no job is completed twice.
    Completing happens in the session of what it changes: both are stored, or neither.
    """

    def add(self, job: NewJob, *, now: datetime) -> Job:
        """Add a job; while one with the same ``dedupe`` is queued, return that one instead."""

    def claim(
        self,
        kinds: Sequence[JobKind],
        *,
        worker: str,
        lease: str,
        now: datetime,
        span: timedelta,
        contests: Sequence[int] | None = None,
    ) -> Job | None:
        """Claim the next job of these kinds: highest priority, then oldest; None for none.

        A job whose lease ran out is claimed with its cause noted, or failed when it has been begun
        ``max_attempts`` times. While the queue is paused there is nothing to claim.

        Args:
            kinds: what the worker can do.
            worker: the worker's name.
            lease: a fresh token that nobody can guess.
            now: the time.
            span: how long the lease lasts without a heartbeat.
            contests: numbers of the contests the worker may work for; None: all.
        """

    def heartbeat(
        self,
        job_id: str,
        *,
        lease: str,
        now: datetime,
        span: timedelta,
        progress: float | None = None,
    ) -> Job:
        """Extend a lease.

        Raises:
            Conflict: the lease is no longer the job's (it ran out and another worker has it, or
                the job was cancelled): stop working on it.
        """

    def complete(self, job_id: str, *, lease: str, result: Mapping[str, Any], now: datetime) -> Job:
        """Finish a job.

        Raises:
            Conflict: the lease is no longer the job's; what the session did must not be kept.
        """

    def fail(
        self, job_id: str, *, lease: str, cause: str, now: datetime, retry_at: datetime | None
    ) -> Job:
        """Give a job back with the cause; ``retry_at`` None: it failed for good.

        A job begun ``max_attempts`` times fails for good whatever ``retry_at`` says.

        Raises:
            Conflict: the lease is no longer the job's.
        """

    def cancel(self, job_id: str, *, now: datetime) -> Job:
        """Cancel a queued or leased job.

        Raises:
            Conflict: it has ended already.
        """

    def retry(self, job_id: str, *, now: datetime) -> Job:
        """Queue a failed or cancelled job again, with its attempts forgiven.

        Raises:
            Conflict: it is not failed or cancelled.
        """

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFound: there is none of that id.
        """

    def page(
        self,
        *,
        contest_no: int | None = None,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        after: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """List jobs, newest first, those after (older than) a job."""

    def last_done(self, kind: JobKind, *, contest_no: int, since: datetime) -> Job | None:
        """Return the job of a kind and contest that was done last, if that was after a time."""

    def waiting(self, job_id: str, *, now: datetime) -> Waiting | None:
        """Say how long a queued job will wait; None for one that is not queued."""

    def counts(self) -> dict[tuple[JobKind, JobState], int]:
        """Count jobs by kind and state."""

    def pause(self, *, paused: bool) -> None:
        """Pause or resume the queue: while it is paused nothing is claimed."""

    def paused(self) -> bool:
        """Say whether the queue is paused."""

    def seen(self, worker: WorkerSeen) -> None:
        """Note that a worker is there."""

    def workers(self, *, since: datetime) -> list[WorkerSeen]:
        """List the workers seen since a time."""

    def sweep(self, *, before: datetime, limit: int) -> int:
        """Forget jobs that ended before a time, at most so many; return how many."""
