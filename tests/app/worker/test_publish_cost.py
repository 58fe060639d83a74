"""Test the number of sessions and statements of a publish job against a limit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from agon.app.service import Service
from agon.app.worker.handlers import service_runners
from app.worker.contests import work
from fakes.service import service_at
from fakes.spring import play, spring

MAX_SESSIONS = 6
MAX_SELECTS_OF_SNAPSHOTS = 7


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[tuple[Service, list[str]]]:
    """Return a service on SQLite, and the list of its statements."""
    statements: list[str] = []

    def trace(connection: Any, _record: object) -> None:
        connection.set_trace_callback(statements.append)

    service = service_at(tmp_path)
    event.listen(service.store._engine, "connect", trace)
    service.store._engine.dispose()
    yield service, statements
    service.store.close()


def test_a_publish_job_opens_few_sessions(traced: tuple[Service, list[str]]) -> None:
    """A contest with votes is published again and again while others write."""
    service, statements = traced
    spring(service)
    work(service, service_runners(service))
    play(service, 9, 9)
    statements.clear()
    work(service, service_runners(service))
    end = next(at for at, one in enumerate(statements) if "SET state='done'" in one)
    del statements[end:]
    sessions = [one for one in statements if one.startswith("BEGIN")]
    snapshots = [one for one in statements if " FROM snapshots" in one]
    assert len(sessions) <= MAX_SESSIONS
    assert len(snapshots) <= MAX_SELECTS_OF_SNAPSHOTS
