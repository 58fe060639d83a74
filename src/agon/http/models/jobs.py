"""Name the forms of jobs, workers and the queue. A job's payload is shown to its worker alone."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from agon.entities.jobs import Job, JobKind, JobState, WaitEstimate
from agon.http.models.base import Asked, PlainObject, PlainText, Told

Lease = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!-~]+$")]
PlaceText = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9_-]*$")]
WorkerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$")]


class CauseTold(Told):
    """Tell why an earlier attempt ended."""

    at: str
    worker: str | None
    cause: str


class JobTold(Told):
    """Tell of a job; neither its payload nor its lease."""

    id: str
    kind: JobKind
    state: JobState
    contest: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    not_before: datetime = Field(description="Queued, it is not begun earlier.")
    attempts: int
    max_attempts: int
    by: str
    worker: str | None
    progress: float | None
    causes: list[CauseTold]
    position: int | None = Field(description="How many are before it in the queue.")
    eta_seconds: float | None = Field(description="Expected wait, from how long others took.")

    @classmethod
    def of(cls, job: Job, *, contest: str | None, waiting: WaitEstimate | None = None) -> "JobTold":
        """Tell of a job."""
        return cls(
            id=job.id,
            kind=job.kind,
            state=job.state,
            contest=contest,
            created_at=job.created_at,
            started_at=job.started_at,
            ended_at=job.ended_at,
            not_before=job.not_before,
            attempts=job.attempts,
            max_attempts=job.max_attempts,
            by=job.by,
            worker=job.worker,
            progress=job.progress,
            causes=[
                CauseTold(
                    at=str(one.get("at", "")), worker=one.get("worker"), cause=str(one.get("cause"))
                )
                for one in job.causes
            ],
            position=None if waiting is None else waiting.position,
            eta_seconds=None if waiting is None else waiting.eta_seconds,
        )


class JobQuery(Asked):
    """Say which jobs are wanted."""

    contest: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")] | None = None
    state: JobState | None = Field(default=None, description="Only those in this state.")
    kind: JobKind | None = Field(default=None, description="Only those of this kind.")
    limit: int = Field(default=50, ge=1, le=500)
    cursor: PlaceText | None = None


class JobPage(Told):
    """Hold a page of jobs, newest first."""

    items: list[JobTold]
    next: str | None


class ClaimAsked(Asked):
    """Ask for work."""

    kinds: list[JobKind] = Field(min_length=1, max_length=10, description="What the worker can do.")
    worker: WorkerName = Field(examples=["gpu-7"])
    version: PlainText = Field(default="", max_length=40)


class AssignmentTold(Told):
    """Hand out a job with its payload and its lease."""

    id: str
    kind: JobKind
    lease: str = Field(description="Whoever holds it may complete or fail the job.")
    lease_seconds: float = Field(description="How long it lasts without a heartbeat.")
    attempt: int
    payload: dict[str, Any]


class HeartbeatAsked(Asked):
    """Say that a job is still worked on."""

    lease: Lease
    progress: float | None = Field(default=None, ge=0, le=1)


class CompleteAsked(Asked):
    """Hand in a job's outcome."""

    lease: Lease
    outcome: PlainObject


class FailAsked(Asked):
    """Give a job back."""

    lease: Lease
    cause: PlainText = Field(min_length=1, max_length=2000)
    retry: bool = Field(default=True, description="Whether another attempt may do better.")


class QueueTold(Told):
    """Tell how the queue is."""

    paused: bool
    leased: int = Field(description="Jobs worked on; 0 in a paused queue: it is drained.")
    counts: list["CountTold"]
    workers: list["WorkerTold"]


class CountTold(Told):
    """Count jobs of one kind in one state."""

    kind: JobKind
    state: JobState
    jobs: int


class WorkerTold(Told):
    """Tell of a worker that was seen within a minute."""

    name: str
    kinds: tuple[str, ...]
    seen_at: datetime
    version: str


class QueueAsked(Asked):
    """Pause or resume the queue."""

    paused: bool
