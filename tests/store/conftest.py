"""Run every test of a database on both kinds: SQLite, and a real PostgreSQL."""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agon.entities.contests import Contest
from agon.store import open_store
from agon.store.session import Store
from store.factories import contest
from store.sample import fill

if TYPE_CHECKING:
    from postgresql_server import Postgresql


_TEMPLATES: dict[str, Callable[[str], None]] = {
    "store": lambda url: open_store(url).close(),
    "filled": fill,
}
"""What a database holds at the beginning of a test that requests one of these fixtures."""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database, empty unless the test requests a store or rows.

    Those are copied or emptied, because creating tables takes longer.
    """
    template = next((name for name in _TEMPLATES if name in request.fixturenames), None)
    if request.param == "sqlite":
        path = tmp_path / "agon.db"
        if template is not None:
            shutil.copy(request.getfixturevalue("sqlite_templates")(template), path)
        return f"sqlite:///{path}"
    server: Postgresql = request.getfixturevalue("postgresql")
    if template is None:
        return server.address(server.emptied())
    if template == "store":
        return server.service()
    source = request.getfixturevalue("postgresql_templates")(template)
    server.run(
        "DROP DATABASE IF EXISTS copied WITH (FORCE)",
        f"CREATE DATABASE copied TEMPLATE {source}",
    )
    return server.address("copied")


@pytest.fixture(scope="session")
def sqlite_templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the function that creates the SQLite file of a template once."""
    folder = tmp_path_factory.mktemp("templates")

    @cache
    def create(template: str) -> Path:
        path = folder / f"{template}.db"
        _TEMPLATES[template](f"sqlite:///{path}")
        return path

    return create


@pytest.fixture(scope="session")
def postgresql_templates(postgresql: "Postgresql") -> Callable[[str], str]:
    """Return the function that creates the PostgreSQL database of a template once."""

    @cache
    def create(template: str) -> str:
        name = f"template_{template}"
        postgresql.run(f"CREATE DATABASE {name}")
        _TEMPLATES[template](postgresql.address(name))
        return name

    return create


@pytest.fixture
def other_url(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty database of the other kind."""
    if not url.startswith("sqlite"):
        return f"sqlite:///{tmp_path}/other.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.address(server.emptied())


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Open a database with empty tables."""
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def filled(url: str) -> str:
    """Return the URL of a database with one row of almost everything."""
    return url


@pytest.fixture
def spring(store: Store) -> Contest:
    """Store a contest."""
    with store.write() as session:
        return session.contests.add(contest())
