"""Give every test of a database both kinds: SQLite, and a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agon.entities.contests import Contest
from agon.store import open_store
from agon.store.session import Store
from store.factories import contest

if TYPE_CHECKING:
    from conftest import Postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/agon.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.address(server.emptied())


@pytest.fixture
def other_url(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty database of the other kind."""
    if not url.startswith("sqlite"):
        return f"sqlite:///{tmp_path}/other.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.address(server.emptied())


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Open an empty database."""
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def spring(store: Store) -> Contest:
    """Store a contest."""
    with store.write() as session:
        return session.contests.add(contest())
