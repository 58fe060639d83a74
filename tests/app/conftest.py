"""Provide a separate service for each test."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agon.app.service import Service
from fakes.service import service_at

if TYPE_CHECKING:
    from postgresql_server import Postgresql


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open a service on a new SQLite file."""
    opened = service_at(tmp_path)
    yield opened
    opened.store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """Open a service on a new database of each kind."""
    url = None
    if request.param == "postgresql":
        server: Postgresql = request.getfixturevalue("postgresql")
        url = server.service()
    opened = service_at(tmp_path, url=url)
    yield opened
    opened.store.close()
