"""Test leases: a job ends together with its effects, and only by the worker with its lease."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from agon.app.queue import leases
from agon.app.queue.leases import Commit, InvalidOutcome, Retry, StoreResult
from agon.app.queue.source import LeaseLost
from agon.app.service import Service
from agon.entities.jobs import Job, JobKind, NewJob
from agon.errors import Conflict, NotScorable, Unavailable
from agon.store.session import Session


def claimed(service: Service, **more: Any) -> Job:
    """Add a job and claim it."""
    with service.store.write() as session:
        session.queue.add(NewJob(id="j1", kind="find", payload={}, **more), now=service.clock())
    job = leases.claim(service, ["find"], worker="w1")
    assert job is not None
    return job


def handlers_of(store_result: StoreResult) -> Mapping[JobKind, StoreResult]:
    """Return handlers that store results of kind ``find`` by a function."""
    return {"find": store_result}


def raising(error: Exception) -> StoreResult:
    """Return a handler that raises an error."""

    def store_result(_: Service, __: Job, ___: Mapping[str, Any]) -> Commit | Retry:
        raise error

    return store_result


def storing(after: Exception | None = None) -> StoreResult:
    """Return a handler that pauses the queue (a visible effect), then may fail."""

    def finish(session: Session) -> Mapping[str, Any]:
        session.queue.pause(paused=True)
        if after is not None:
            raise after
        return {"stored": True}

    return lambda _, __, ___: finish


def complete(service: Service, job: Job, store_result: StoreResult) -> Job:
    """Complete a job."""
    return leases.complete(
        service, job.id, lease=job.lease or "", outcome={}, handlers=handlers_of(store_result)
    )


def state_of(service: Service) -> tuple[str, bool]:
    """Return the job's state, and whether something was stored."""
    with service.store.read() as session:
        return session.queue.get("j1").state, session.queue.is_paused()


def test_the_effects_of_an_outcome_are_stored_with_the_end_of_the_job(service: Service) -> None:
    """Both are stored in one transaction."""
    job = complete(service, claimed(service), storing())
    assert (job.state, job.result) == ("done", {"stored": True})
    assert state_of(service) == ("done", True)


def test_a_handler_that_fails_stores_nothing_and_does_not_end_the_job(service: Service) -> None:
    """A crash between the effect and the end must undo both."""
    job = claimed(service)
    with pytest.raises(RuntimeError):
        complete(service, job, storing(after=RuntimeError("power cut")))
    assert state_of(service) == ("leased", False)


def test_a_conflict_while_storing_fails_the_job(service: Service) -> None:
    """The contest became final meanwhile: another attempt would be rejected as well."""
    failed = complete(service, claimed(service), storing(after=Conflict("it is final; …")))
    assert (failed.state, failed.causes[-1]["cause"]) == ("failed", "it is final; …")
    assert state_of(service) == ("failed", False)


def test_an_invalid_lease_does_not_complete_the_job(service: Service) -> None:
    """The handler of a worker that lost its lease is not called."""
    job = claimed(service)
    with pytest.raises(LeaseLost):
        leases.complete(
            service, job.id, lease="forged", outcome={}, handlers=handlers_of(storing())
        )
    assert state_of(service) == ("leased", False)


def test_a_cancelled_job_is_not_completed(service: Service) -> None:
    """A cancelled job must have no effects afterwards."""
    job = claimed(service)
    with service.store.write() as session:
        session.queue.cancel(job.id, now=service.clock())
    with pytest.raises(LeaseLost):
        complete(service, job, storing())
    with pytest.raises(LeaseLost):
        leases.heartbeat(service, job.id, lease=job.lease or "")
    assert state_of(service) == ("cancelled", False)


@pytest.mark.parametrize(
    ("store_result", "state", "raised"),
    [
        (lambda *_: Retry("sandbox_error: lost"), "queued", None),
        (raising(NotScorable("no stake")), "failed", None),
        (raising(InvalidOutcome("no run; send one")), "queued", InvalidOutcome),
        (raising(Unavailable("locked; later")), "leased", Unavailable),
    ],
    ids=["unexpected error", "invalid input", "invalid outcome", "retry later"],
)
def test_an_outcome_that_is_not_stored_determines_the_state_of_the_job(
    service: Service, store_result: StoreResult, state: str, raised: type[Exception] | None
) -> None:
    """It is tried again, failed, given to another worker, or tried again soon."""
    job = claimed(service)
    if raised is None:
        complete(service, job, store_result)
    else:
        with pytest.raises(raised):
            complete(service, job, store_result)
    assert state_of(service) == (state, False)


def test_a_returned_job_waits_longer_each_time(service: Service) -> None:
    """A machine that is down must not get a thousand attempts a second."""
    job = claimed(service, max_attempts=3)
    back = leases.fail(service, job.id, lease=job.lease or "", cause="x" * 5000, retry=True)
    assert back.state == "queued"
    assert back.not_before - service.clock() <= leases.FIRST_PAUSE
    assert len(back.causes[0]["cause"]) == 2000
    assert leases.pause_after(7) == timedelta(seconds=64)


def test_a_claim_shows_that_the_worker_is_active(service: Service) -> None:
    """Operators see active workers; an idle worker's claims write nothing."""
    assert leases.claim(service, ["find"], worker="w1", announce=False) is None
    with service.store.read() as session:
        assert session.queue.workers(since=service.clock() - timedelta(hours=1)) == []
    assert leases.claim(service, ["find"], worker="w2") is None
    with service.store.read() as session:
        (worker,) = session.queue.workers(since=service.clock() - timedelta(hours=1))
    assert (worker.name, worker.kinds) == ("w2", ("find",))
