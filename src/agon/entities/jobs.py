"""Hold jobs, leases and those who work on them, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

JobKind: TypeAlias = Literal[
    "publish", "rebuild", "dry-run", "judge", "gate", "trial", "round", "deliver", "find"
]
"""What a job does.

``judge`` and ``trial`` run foreign programs and may go to untrusted workers. ``gate`` runs a
setter's program, which is an answer, and stays in the house.
"""

JobState: TypeAlias = Literal["queued", "leased", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """Ask for work.

    Attributes:
        contest_no: the contest it is for, None for the house's own.
        payload: what the worker needs; what must not leave the house is not in it.
        dedupe: while a job with this key is queued, another is not added.
        not_before: earliest time it may be claimed.
        max_attempts: how often it may be begun before it counts as failed.
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
    """Hold a job as it stands.

    Attributes:
        lease: the token of the present lease; only who holds it may complete or fail the job.
        leased_until: when the lease runs out and anybody may claim the job.
        attempts: how often it was begun.
        causes: why earlier attempts ended, oldest first: ``at``, ``worker``, ``cause``.
        progress: how far it is, 0 to 1, as the worker last said.
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
    """Hold how long a queued job will wait: how many are before it, and the expected seconds."""

    position: int
    eta_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class WorkerInfo:
    """Hold a worker as the queue saw it last."""

    name: str
    kinds: tuple[str, ...]
    seen_at: datetime
    version: str
