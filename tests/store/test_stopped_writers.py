"""A process that is stopped within its transaction does not hold its locks for long."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.errors import Unavailable
from agon.settings import Settings
from agon.store import open_store
from agon.store.connection.engines import IDLE_TIMEOUT_S, LOCK_TIMEOUT_S
from fakes.service import ORGANISER, service_at
from postgresql_server import Postgresql

IDLE_S = 3.0
WORKER = f"""
import os, signal, sys
from pathlib import Path
from agon.app.contests.boards.publish import publish
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import JobWorker
from agon.store import open_store
from datetime import UTC, datetime
from fakes.service import Clock, service_at

later = Clock(at=datetime(2026, 11, 23, tzinfo=UTC))
service = service_at(Path("."), url=sys.argv[1], clock=later)
hasty = open_store(sys.argv[1], idle_timeout_s=60)

with hasty.write() as session:
    session.contests.lock("spring")  # what is slow the first time is done now
hasty._idle_timeout_s = {IDLE_S}

def run(assignment, progress):
    with hasty.write() as session:
        session.contests.lock("spring")
        os.kill(os.getpid(), signal.SIGSTOP)
        session.contests.lock("spring")
    return {{}}

JobWorker(LocalSource(service, worker="w", wait=lambda _: None), {{"publish": run}}).work_once()
"""


COPYING = f"""
import os, signal, sys
from agon.errors import Unavailable
from agon.store import open_store
from agon.store.schema import HISTORIES

store = open_store(sys.argv[1], idle_timeout_s={IDLE_S})

def rows():
    os.kill(os.getpid(), signal.SIGSTOP)
    yield from ()

try:
    with store.write() as session:
        session.contests.lock("spring")
        session.transaction.copy(HISTORIES, rows())
except Unavailable as error:
    assert "connection" in str(error), error
else:
    raise SystemExit("the transaction was not ended")
"""


@contextmanager
def stopped(script: str, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process of a script that stopped itself within its transaction."""
    tests = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", script, url], env={**os.environ, "PYTHONPATH": tests}
    )
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), status
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 0


def _contest(service: Service) -> None:
    new = NewContest(id="spring", discipline="community", title="Spring")
    create(service, new, by=ORGANISER)
    _record(service, 0)


def _record(service: Service, number: int) -> None:
    row = ("users", {"id": f"u{number}", "affiliation": "org"}, None)
    assert record(service, "spring", [row], by=ORGANISER).added == 1


def test_waiting_is_shorter_than_a_request() -> None:
    """A stopped writer is ended before others give up, and they give up before their requests."""
    settings = Settings()
    assert settings.database_idle_seconds < settings.database_lock_seconds
    assert settings.database_lock_seconds < settings.request_timeout_seconds
    assert (
        settings.database_idle_seconds, settings.database_lock_seconds,
    ) == (IDLE_TIMEOUT_S, LOCK_TIMEOUT_S)  # fmt: skip


@pytest.mark.exhaustive
def test_on_postgresql_others_write_and_the_job_is_tried_again(
    postgresql: Postgresql, tmp_path: Path
) -> None:
    """The server ends the idle transaction; the worker learns of it when it goes on."""
    url = postgresql.service()
    service = service_at(tmp_path, url=url)
    try:
        _contest(service)
        with stopped(WORKER, url):
            began = time.monotonic()
            _record(service, 1)
            assert time.monotonic() - began < LOCK_TIMEOUT_S
        with service.store.read() as session:
            jobs = session.queue.page(kinds=("publish",), limit=10)
        [job] = [job for job in jobs if job.causes]
        assert job.state == "queued"
        assert "idle for too long" in job.causes[-1]["cause"]
        _record(service, 2)
    finally:
        service.store.close()


@pytest.mark.exhaustive
def test_on_postgresql_others_write_although_a_copy_does_not_go_on(
    postgresql: Postgresql, tmp_path: Path
) -> None:
    """Within a COPY a session is neither idle nor subject to the limit of its statement."""
    url = postgresql.service()
    service = service_at(tmp_path, url=url)
    waiting = open_store(url, idle_timeout_s=IDLE_S)
    try:
        _contest(service)
        with stopped(COPYING, url):
            began = time.monotonic()
            with waiting.write() as session:
                assert session.contests.lock("spring").seq == 2
            assert time.monotonic() - began < LOCK_TIMEOUT_S
        _record(service, 1)
    finally:
        waiting.close()
        service.store.close()


@pytest.mark.exhaustive
def test_on_sqlite_others_are_refused_in_time_and_write_when_it_goes_on(tmp_path: Path) -> None:
    """The file has one writer, whose transaction no other process can end."""
    url = f"sqlite:///{tmp_path}/agon.db"
    service = service_at(tmp_path, url=url)
    _contest(service)
    impatient = open_store(url, lock_timeout_s=0.2)
    try:
        with stopped(WORKER, url):
            began = time.monotonic()
            with pytest.raises(Unavailable, match="try again"), impatient.write():
                pass
            assert time.monotonic() - began < LOCK_TIMEOUT_S
            with impatient.read() as session:
                assert session.contests.get("spring").seq == 2
        _record(service, 1)
    finally:
        impatient.close()
        service.store.close()
