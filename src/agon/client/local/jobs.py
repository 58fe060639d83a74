"""Jobs and the queue beside the database."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from agon.app.access.permissions import LOCAL, viewed
from agon.app.queue import jobs
from agon.app.queue.jobs import QueueState
from agon.app.service import Service
from agon.client.values import JobTold, QueueTold
from agon.entities.jobs import Job, JobState
from agon.store.session import Session

_PAGE = 100


class LocalJobs:
    """Look after jobs and the queue; see :class:`agon.client.ports.Jobs`."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def list(
        self, *, contest: str | None = None, state: JobState | None = None
    ) -> Iterator[JobTold]:
        """Yield jobs, newest first."""
        after = None
        while True:
            with self._service.store.read() as session:
                no = None if contest is None else viewed(session, contest, LOCAL).contest.no
                found = session.queue.page(
                    contest_no=no,
                    states=() if state is None else (state,),
                    after=after,
                    limit=_PAGE,
                )
                told = [self._told(session, one) for one in found]
            yield from told
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def get(self, job: str) -> JobTold:
        """Return a job."""
        with self._service.store.read() as session:
            return self._told(session, session.queue.get(job))

    def cancel(self, job: str) -> JobTold:
        """Cancel a job."""
        jobs.cancel(self._service, job)
        return self.get(job)

    def retry(self, job: str) -> JobTold:
        """Queue a job that failed or was cancelled once more."""
        jobs.retry(self._service, job)
        return self.get(job)

    def queue(self) -> QueueTold:
        """Return how the queue is."""
        return _queue(jobs.state(self._service))

    def pause(self, *, paused: bool = True) -> QueueTold:
        """Let nothing more be claimed, or (False) go on."""
        return _queue((jobs.pause if paused else jobs.resume)(self._service))

    def _told(self, session: Session, job: Job) -> JobTold:
        no = job.contest_no
        told: dict[str, Any] = {
            **job.__dict__,
            "contest": None if no is None else session.contests.by_no(no).id,
        }
        if job.state == "queued":
            waiting = session.queue.waiting(job.id, now=self._service.clock())
            told |= {} if waiting is None else asdict(waiting)
        return JobTold.model_validate(told)


def _queue(state: QueueState) -> QueueTold:
    counts: list[Mapping[str, Any]] = [
        {"kind": kind, "state": of, "jobs": many}
        for (kind, of), many in sorted(state.counts.items())
    ]
    return QueueTold(
        paused=state.paused,
        leased=state.leased,
        counts=tuple(counts),
        workers=tuple(asdict(one) for one in state.workers),
    )
