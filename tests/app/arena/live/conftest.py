"""Leagues on both databases."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.arena import League, league

if TYPE_CHECKING:
    from postgresql_server import Postgresql

MakeLeague = Callable[..., League]


@pytest.fixture
def make_league(tmp_path: Path) -> Iterator[MakeLeague]:
    """Return the function that opens leagues on SQLite files; they are closed afterwards."""
    opened: list[League] = []

    def make(**options: object) -> League:
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        opened.append(league(folder, **options))  # type: ignore[arg-type] # the options of league
        return opened[-1]

    yield make
    for one in opened:
        one.service.store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """Return the URL of an empty PostgreSQL, or None for an SQLite file."""
    if request.param == "sqlite":
        return None
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.service()
