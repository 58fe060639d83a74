"""Test the queue: a request is queued once, and operators see and control jobs."""

import pytest

from agon.app.queue import jobs, leases
from agon.app.queue.jobs import deliver_job, publish_job, service_job
from agon.app.service import Service
from agon.entities.jobs import NewJob
from agon.errors import Conflict
from app.worker.contests import dojo


def added(service: Service, job: NewJob) -> str:
    """Add a job and return the id of the queued one."""
    with service.store.write() as session:
        return session.queue.add(job, now=service.clock()).id


def test_boards_requested_twice_are_published_once(service: Service) -> None:
    """A thousand records a second must not queue a thousand boards."""
    contest = dojo(service)
    first = added(service, publish_job(contest, id="p1"))
    assert added(service, publish_job(contest, id="p2")) == first == "p1"


def test_boards_requested_during_publication_are_published_again(service: Service) -> None:
    """Records that arrive after the job began are not on its boards."""
    contest = dojo(service)
    added(service, publish_job(contest, id="p1"))
    assert leases.claim(service, ["publish"], worker="w") is not None
    assert added(service, publish_job(contest, id="p2")) == "p2"


def test_service_jobs_differ_by_their_payload(service: Service) -> None:
    """Two change sets have two jobs; one requested twice has one."""
    contest = dojo(service)
    one = service_job("dry-run", contest, id="d1", payload={"change": "a"}, dedupe="a")
    other = service_job("dry-run", contest, id="d2", payload={"change": "b"}, dedupe="b")
    again = service_job("dry-run", contest, id="d3", payload={"change": "a"}, dedupe="a")
    assert [added(service, job) for job in (one, other, again)] == ["d1", "d2", "d1"]
    assert one.payload == {"change": "a", "contest": "autumn"}


def test_a_paused_queue_gives_no_jobs_and_is_drained_when_none_is_leased(
    service: Service,
) -> None:
    """Before an upgrade an operator waits only for the leased jobs."""
    for name in ("a", "b"):
        added(service, deliver_job(None, name, id=name))
    job = leases.claim(service, ["deliver"], worker="w")
    assert job is not None
    paused = jobs.pause(service)
    assert (paused.paused, paused.leased) == (True, 1)
    assert leases.claim(service, ["deliver"], worker="w") is None
    leases.fail(service, job.id, lease=job.lease or "", cause="over", retry=False)
    assert jobs.state(service).leased == 0
    resumed = jobs.resume(service)
    assert (resumed.paused, [one.name for one in resumed.workers]) == (False, ["w"])
    assert leases.claim(service, ["deliver"], worker="w") is not None


def test_a_cancelled_job_can_be_queued_again_and_a_queued_one_cannot(service: Service) -> None:
    """An operator can undo a mistake; to queue a job twice is an error."""
    added(service, deliver_job(None, "a", id="a"))
    assert jobs.cancel(service, "a").state == "cancelled"
    with pytest.raises(Conflict):
        jobs.cancel(service, "a")
    assert jobs.retry(service, "a").state == "queued"
    with pytest.raises(Conflict):
        jobs.retry(service, "a")
