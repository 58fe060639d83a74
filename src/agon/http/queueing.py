"""Queue a job and answer with it: 202, where it is, and how long it will wait."""

from starlette.responses import Response

from agon.app.service import Service
from agon.entities.jobs import Job, NewJob
from agon.http.models.jobs import JobTold


def queued(service: Service, response: Response, job: NewJob, *, contest: str) -> JobTold:
    """Queue a job (the one that waits already, if there is an equal one) and tell of it."""
    with service.store.write() as session:
        added = session.queue.add(job, now=service.clock())
    told = waiting(service, added, contest=contest)
    response.headers["location"] = f"/api/v1/jobs/{added.id}"
    return told


def waiting(service: Service, job: Job, *, contest: str | None) -> JobTold:
    """Tell of a job with its place in the queue."""
    with service.store.read() as session:
        place = session.queue.waiting(job.id, now=service.clock())
    return JobTold.of(job, contest=contest, waiting=place)
