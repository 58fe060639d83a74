"""Jobs, leases and workers, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

JobKind: TypeAlias = Literal[
    "publish",
    "rebuild",
    "dry-run",
    "judge",
    "gate",
    "trial",
    "round",
    "deliver",
    "find",
    "robustness",
]
"""What a job does.

``judge`` and ``trial`` run submitted programs and may go to untrusted workers. ``gate`` runs a
setter's program, which is a hidden answer, and runs on the service's own workers only.
"""

JobState: TypeAlias = Literal["queued", "leased", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job to be added to the queue.

    Attributes:
        contest_no: the contest it is for; None: no contest.
        payload: what the worker needs; nothing that has to stay on the server.
        dedupe: while a job with this key is queued, another is not added.
        not_before: earliest time it may be claimed.
        max_attempts: number of attempts after which it fails.
    """

    id: str
    kind: JobKind
    payload: Mapping[str, Any]
    contest_no: int | None = None
    dedupe: str | None = None
    priority: int = 0
    not_before: datetime | None = None
    max_attempts: int = 5
    by: str = "system"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job in the queue.

    Attributes:
        lease: the token of the present lease; needed to complete or fail the job.
        leased_until: when the lease expires and any worker may claim the job.
        attempts: number of attempts so far.
        causes: why earlier attempts ended, oldest first: ``at``, ``worker``, ``cause``.
        progress: the part that is done, from 0 to 1, as last reported.
    """

    id: str
    kind: JobKind
    state: JobState
    payload: Mapping[str, Any]
    contest_no: int | None
    created_at: datetime
    not_before: datetime
    priority: int
    attempts: int
    max_attempts: int
    by: str
    dedupe: str | None = None
    worker: str | None = None
    lease: str | None = None
    leased_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    progress: float | None = None
    causes: tuple[Mapping[str, Any], ...] = ()
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class WaitEstimate:
    """How long a queued job will wait: number of jobs before it, and expected seconds."""

    position: int
    eta_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class WorkerInfo:
    """A worker, as it was last recorded by the queue."""

    name: str
    kinds: tuple[str, ...]
    seen_at: datetime
    version: str
