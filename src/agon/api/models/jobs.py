"""Jobs, workers and the queue. A job's payload is returned to its worker only."""

from datetime import datetime
from typing import Annotated, Final

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


_OWN_OF_THE_QUEUE: Final = (
    "payload",
    "contest_no",
    "priority",
    "dedupe",
    "lease",
    "leased_until",
    "result",
)


class Job(Resource, entities.Job, hide=_OWN_OF_THE_QUEUE):
    """A job, without its payload and its lease."""

    contest: str | None
    not_before: datetime = Field(description="When a queued job may start at the earliest.")
    # The queue stores them as JSON objects of these keys.
    causes: tuple[JobCause, ...] = Field(  # type: ignore[assignment]
        description="Why earlier attempts ended, oldest first."
    )
    position: int | None = Field(description="Number of jobs before it in the queue.")
    eta_seconds: float | None = Field(description="Expected wait, from the time others took.")

    @classmethod
    def of(
        cls, job: entities.Job, *, contest: str | None, waiting: WaitEstimate | None = None
    ) -> "Job":
        """Return the resource of a job."""
        wait = {"position": None, "eta_seconds": None} if waiting is None else vars(waiting)
        return cls.model_validate({**vars(job), "contest": contest, **wait})


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
