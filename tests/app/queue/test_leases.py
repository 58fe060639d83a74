"""Leasing: a job ends with its effects or not at all, and only by who holds its lease."""

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


def settling(settle: StoreResult) -> Mapping[JobKind, StoreResult]:
    """Return handlers that store results of kind ``find`` by a function."""
    return {"find": settle}


def raising(error: Exception) -> StoreResult:
    """Return what settles by raising."""

    def settle(_: Service, __: Job, ___: Mapping[str, Any]) -> Commit | Retry:
        raise error

    return settle


def storing(after: Exception | None = None) -> StoreResult:
    """Return what settles by pausing the queue (something to see), then maybe failing."""

    def finish(session: Session) -> Mapping[str, Any]:
        session.queue.pause(paused=True)
        if after is not None:
            raise after
        return {"stored": True}

    return lambda _, __, ___: finish


def complete(service: Service, job: Job, settle: StoreResult) -> Job:
    """Complete a job."""
    return leases.complete(
        service, job.id, lease=job.lease or "", outcome={}, handlers=settling(settle)
    )


def state_of(service: Service) -> tuple[str, bool]:
    """Return the job's state, and whether something was stored."""
    with service.store.read() as session:
        return session.queue.get("j1").state, session.queue.paused()


def test_what_follows_from_an_outcome_is_stored_with_the_jobs_end(service: Service) -> None:
    """One transaction: done means stored."""
    done = complete(service, claimed(service), storing())
    assert (done.state, done.result) == ("done", {"stored": True})
    assert state_of(service) == ("done", True)


def test_what_fails_half_way_stores_nothing_and_ends_nothing(service: Service) -> None:
    """A crash between the effect and the end must leave neither."""
    job = claimed(service)
    with pytest.raises(RuntimeError):
        complete(service, job, storing(after=RuntimeError("power cut")))
    assert state_of(service) == ("leased", False)


def test_a_refusal_while_storing_fails_the_job(service: Service) -> None:
    """The contest became final meanwhile: another attempt would be refused as well."""
    failed = complete(service, claimed(service), storing(after=Conflict("it is final; …")))
    assert (failed.state, failed.causes[-1]["cause"]) == ("failed", "it is final; …")
    assert state_of(service) == ("failed", False)


def test_a_lease_that_is_not_the_jobs_completes_nothing(service: Service) -> None:
    """A stale worker's effects are not even tried."""
    job = claimed(service)
    with pytest.raises(LeaseLost):
        leases.complete(service, job.id, lease="forged", outcome={}, handlers=settling(storing()))
    assert state_of(service) == ("leased", False)


def test_a_cancelled_job_completes_nothing(service: Service) -> None:
    """Who cancels a job must not see its effects afterwards."""
    job = claimed(service)
    with service.store.write() as session:
        session.queue.cancel(job.id, now=service.clock())
    with pytest.raises(LeaseLost):
        complete(service, job, storing())
    with pytest.raises(LeaseLost):
        leases.heartbeat(service, job.id, lease=job.lease or "")
    assert state_of(service) == ("cancelled", False)


@pytest.mark.parametrize(
    ("settle", "state", "raised"),
    [
        (lambda *_: Retry("sandbox_error: lost"), "queued", None),
        (raising(NotScorable("no stake")), "failed", None),
        (raising(InvalidOutcome("no run; send one")), "queued", InvalidOutcome),
        (raising(Unavailable("locked; later")), "leased", Unavailable),
    ],
    ids=["our fault", "the input's fault", "no outcome", "not now"],
)
def test_an_outcome_from_which_nothing_follows_says_what_becomes_of_the_job(
    service: Service, settle: StoreResult, state: str, raised: type[Exception] | None
) -> None:
    """Again, for good, by another worker, or by the same one in a moment."""
    job = claimed(service)
    if raised is None:
        complete(service, job, settle)
    else:
        with pytest.raises(raised):
            complete(service, job, settle)
    assert state_of(service) == (state, False)


def test_a_job_given_back_waits_longer_each_time(service: Service) -> None:
    """A machine that is down must not be asked a thousand times a second."""
    job = claimed(service, max_attempts=3)
    back = leases.fail(service, job.id, lease=job.lease or "", cause="x" * 5000, retry=True)
    assert back.state == "queued"
    assert back.not_before - service.clock() <= leases.FIRST_PAUSE
    assert len(back.causes[0]["cause"]) == 2000
    assert leases.pause_after(7) == timedelta(seconds=64)


def test_a_claim_says_that_the_worker_is_there(service: Service) -> None:
    """Operators see who works; an idle worker's silent looks write nothing."""
    assert leases.claim(service, ["find"], worker="w1", announce=False) is None
    with service.store.read() as session:
        assert session.queue.workers(since=service.clock() - timedelta(hours=1)) == []
    assert leases.claim(service, ["find"], worker="w2") is None
    with service.store.read() as session:
        (seen,) = session.queue.workers(since=service.clock() - timedelta(hours=1))
    assert (seen.name, seen.kinds) == ("w2", ("find",))
