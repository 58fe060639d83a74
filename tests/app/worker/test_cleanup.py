"""Test that cleanup deletes only expired jobs and responses."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agon.app.access.sessions import sign_in_with_token
from agon.app.access.tokens import Grant, create_token, tokens
from agon.app.access.users import create_user
from agon.app.service import Service
from agon.app.worker.cleanup import RetentionSummary, clean_up
from agon.app.worker.local_source import LocalSource
from agon.entities.access import StoredResponse
from agon.entities.jobs import NewJob
from fakes.service import OPERATOR, service_at

DAY = timedelta(days=1)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open a service that stores jobs for ten days."""
    opened = service_at(tmp_path)
    yield replace(opened, jobs_kept=10 * DAY)
    opened.store.close()


def after(service: Service, days: float) -> Service:
    """Return the same service some days later."""
    then = service.clock() + days * DAY
    return replace(service, clock=lambda: then)


def fill(service: Service, *, jobs: int) -> None:
    """Store jobs that ended, one that did not, and a stored response."""
    now = service.clock()
    with service.store.write() as session:
        for number in range(jobs):
            session.queue.add(NewJob(id=f"j{number}", kind="judge", payload={}), now=now)
            session.queue.cancel(f"j{number}", now=now)
        session.queue.add(NewJob(id="waits", kind="judge", payload={}), now=now)
        session.access.add_response(answered(at=now))


def answered(*, at: datetime) -> StoredResponse:
    """Return a request with a response."""
    return StoredResponse(
        caller="t", key="k", request_sha256=bytes(32), status=200, headers={}, body=b"", at=at
    )


def test_jobs_that_ended_long_ago_are_deleted_in_batches(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers must not wait for the end of a million deletions."""
    monkeypatch.setattr("agon.app.worker.cleanup.BATCH", 2)
    fill(service, jobs=5)
    assert clean_up(after(service, 0.9)) == RetentionSummary(jobs=0, responses=0)
    assert clean_up(after(service, 1.1)) == RetentionSummary(jobs=0, responses=1)
    assert clean_up(after(service, 10.1)) == RetentionSummary(jobs=5, responses=0)
    with service.store.read() as session:
        assert [one.id for one in session.queue.page()] == ["waits"]


def test_sessions_that_expired_long_ago_are_deleted(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sign-in adds a token; other tokens stay, as the list of who had access."""
    monkeypatch.setattr("agon.app.worker.cleanup.BATCH", 2)
    create_user(service, user="ada", by=OPERATOR)
    grant = Grant(user="ada", role="viewer", days=0.5)
    _, text = create_token(service, grant, by=OPERATOR)
    for _ in range(3):
        sign_in_with_token(service, text)
    assert clean_up(after(service, 7.4)).sessions == 0
    assert clean_up(after(service, 7.6)).sessions == 3
    assert [token.label for token in tokens(service, user="ada")] == [grant.label]


def test_jobs_can_be_stored_permanently(service: Service) -> None:
    """An operator may audit the attempts of all verdicts."""
    fill(service, jobs=1)
    assert clean_up(replace(after(service, 9999), jobs_kept=None)) == RetentionSummary(
        jobs=0, responses=1
    )


def test_an_idle_worker_cleans_up_from_time_to_time(service: Service) -> None:
    """A busy worker has more urgent jobs."""
    fill(service, jobs=1)
    clock = [service.clock() + 11 * DAY]
    source = LocalSource(replace(service, clock=lambda: clock[0]), worker="w")

    def stored() -> list[str]:
        with service.store.read() as session:
            return sorted(one.id for one in session.queue.page())

    assert source.claim(["judge"]) is not None
    assert stored() == ["j0", "waits"]
    assert source.claim(["judge"]) is None
    assert stored() == ["waits"]
    with service.store.write() as session:
        session.queue.add(NewJob(id="old", kind="find", payload={}), now=service.clock())
        session.queue.cancel("old", now=service.clock())
    clock[0] += timedelta(minutes=59)
    assert source.claim(["publish"]) is None
    assert stored() == ["old", "waits"]
    clock[0] += timedelta(minutes=2)
    assert source.claim(["publish"]) is None
    assert stored() == ["waits"]
