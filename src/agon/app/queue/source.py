"""Say how a worker reaches the queue: the same way beside the database and over HTTP.

What goes between them is plain: an :class:`Assignment` as JSON, and outcomes as JSON objects. What
a worker over HTTP sends back is believed only after :mod:`agon.app.queue.leases` looked at it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from agon.entities.jobs import Job, JobKind

REMOTE_KINDS: Final[frozenset[JobKind]] = frozenset({"judge", "trial"})
"""What workers outside the house may do: they see programs and tasks, never an answer."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Hold what a worker is given of a job.

    Attributes:
        id: the job.
        kind: what to do.
        payload: what is needed to do it.
        lease: the token the worker comes back with.
        lease_seconds: how long it is good for without a heartbeat.
        attempt: which attempt this is, from 1.
    """

    id: str
    kind: JobKind
    payload: Mapping[str, Any]
    lease: str
    lease_seconds: float
    attempt: int

    @classmethod
    def of(cls, job: Job, *, lease_seconds: float) -> "Assignment":
        """Make one of a job that was just claimed."""
        return cls(
            id=job.id,
            kind=job.kind,
            payload=job.payload,
            lease=job.lease or "",
            lease_seconds=lease_seconds,
            attempt=job.attempts,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON carries it."""
        return asdict(self) | {"payload": dict(self.payload)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Assignment":
        """Read what :meth:`to_dict` made."""
        return cls(**given)


class JobSource(Protocol):
    """Give a worker its jobs, and take what came of them.

    Methods may be called from two threads, the worker's and its heartbeat's.
    """

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job of these kinds; None: there is none.

        Raises:
            Unavailable: the queue cannot be reached; try again later.
        """

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Keep a job's lease alive, and say how far it is (0 to 1).

        Raises:
            Conflict: the lease is no longer the job's: stop working on it.
        """

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Hand in what came of a job.

        Raises:
            Conflict: the lease is no longer the job's, or the outcome was refused.
        """

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Give a job back with the cause.

        Args:
            assignment: the job.
            cause: why it ended, in one line.
            retry: whether another attempt may end otherwise.

        Raises:
            Conflict: the lease is no longer the job's.
        """

    def wait(self, seconds: float) -> None:
        """Wait for at most so long, or until there may be something to claim."""
