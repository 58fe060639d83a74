"""Jobs of a worker, over HTTP."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agon.api.models.jobs import ClaimRequest, CompleteRequest, FailRequest, HeartbeatRequest
from agon.api.operations.jobs import Jobs
from agon.app.queue.source import Assignment
from agon.entities.jobs import JobKind
from agon.version import __version__


class HttpJobSource:
    """A worker's jobs over HTTP; an :class:`agon.app.queue.source.JobSource`.

    A claim whose response is lost is repeated under the same key, so that one request claims one
    job only.

    Args:
        jobs: the API's jobs; the token is of role worker or operator.
        worker: the worker's name.
        wait: waits at most a number of seconds.

    Attributes:
        is_claiming: whether a claim is under way.
    """

    def __init__(
        self, jobs: Jobs, *, worker: str, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._jobs = jobs
        self._worker = worker
        self._wait = wait
        self.is_claiming = False

    def claim(self, kinds: Sequence[JobKind]) -> Assignment | None:
        """Claim the next job of these kinds; None: no job is waiting."""
        request = ClaimRequest(kinds=tuple(kinds), worker=self._worker, version=__version__)
        self.is_claiming = True
        try:
            claimed = self._jobs.claim(request)
        finally:
            self.is_claiming = False
        return None if claimed is None else Assignment.from_dict(claimed.model_dump())

    def heartbeat(self, assignment: Assignment, progress: float | None = None) -> None:
        """Extend a job's lease."""
        request = HeartbeatRequest(lease=assignment.lease, progress=progress)
        self._jobs.heartbeat(assignment.id, request)

    def complete(self, assignment: Assignment, outcome: Mapping[str, Any]) -> None:
        """Send the outcome of a job."""
        request = CompleteRequest(lease=assignment.lease, outcome=dict(outcome))
        self._jobs.complete(assignment.id, request)

    def fail(self, assignment: Assignment, cause: str, *, retry: bool) -> None:
        """Report why a job could not be done."""
        request = FailRequest(lease=assignment.lease, cause=_storable(cause), retry=retry)
        self._jobs.fail(assignment.id, request)

    def wait(self, seconds: float) -> None:
        """Wait; over HTTP new jobs are not announced."""
        self._wait(seconds)


def _storable(cause: str) -> str:
    """Return a cause as the server accepts it: 1 to 2,000 characters without NUL."""
    return cause.replace("\0", "�")[:2000] or "no cause was reported"
