"""Jobs, workers and the queue. A job's payload is returned to its worker only."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from agon.api.models.base import JsonObject, PlainText, Request, Resource
from agon.app.queue import source
from agon.entities import jobs as entities
from agon.entities.jobs import JobKind, JobState, WaitEstimate

Lease = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!-~]+$")]
WorkerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$")]


class JobCause(Resource):
    """Why an earlier attempt of a job ended."""

    at: str
    worker: str | None
    cause: str


class Job(Resource):
    """A job, without its payload and its lease."""

    id: str
    kind: JobKind
    state: JobState
    contest: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    not_before: datetime = Field(description="When a queued job may start at the earliest.")
    attempts: int
    max_attempts: int
    by: str
    worker: str | None
    progress: float | None
    causes: tuple[JobCause, ...]
    position: int | None = Field(description="Number of jobs before it in the queue.")
    eta_seconds: float | None = Field(description="Expected wait, from the time others took.")

    @classmethod
    def of(
        cls, job: entities.Job, *, contest: str | None, waiting: WaitEstimate | None = None
    ) -> "Job":
        """Return the resource of a job."""
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
            causes=tuple(
                JobCause(
                    at=str(cause.get("at", "")),
                    worker=cause.get("worker"),
                    cause=str(cause.get("cause")),
                )
                for cause in job.causes
            ),
            position=None if waiting is None else waiting.position,
            eta_seconds=None if waiting is None else waiting.eta_seconds,
        )


class ClaimRequest(Request):
    """A worker's request for a job."""

    kinds: tuple[JobKind, ...] = Field(
        min_length=1, max_length=10, description="Kinds of jobs the worker can do."
    )
    worker: WorkerName = Field(examples=["gpu-7"])
    version: PlainText = Field(default="", max_length=40)


class Assignment(Resource, source.Assignment):
    """A claimed job with its payload and its lease."""


class HeartbeatRequest(Request):
    """A sign that a worker still works on a job."""

    lease: Lease
    progress: float | None = Field(default=None, ge=0, le=1)


class CompleteRequest(Request):
    """The outcome of a job."""

    lease: Lease
    outcome: JsonObject


class FailRequest(Request):
    """Why a worker could not do a job."""

    lease: Lease
    cause: PlainText = Field(min_length=1, max_length=2000)
    retry: bool = Field(default=True, description="Whether another attempt may succeed.")


class QueueCount(Resource):
    """Number of jobs of one kind in one state."""

    kind: JobKind
    state: JobState
    jobs: int


class Worker(Resource, entities.WorkerInfo):
    """A worker that was seen within the last minute."""


class Queue(Resource):
    """The state of the queue."""

    paused: bool
    leased: int = Field(description="Jobs in work; a paused queue with 0 of them is drained.")
    counts: tuple[QueueCount, ...]
    workers: tuple[Worker, ...]


class QueueUpdate(Request):
    """Whether the queue is paused."""

    paused: bool
