"""Give record tests every kind of source."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from records.contest import FILES, SOURCES, Rows, arrow

Make = Callable[[Mapping[str, Rows]], str]


@pytest.fixture(params=SOURCES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return what puts tables into a source of one kind; tests that take it run on every kind."""
    kind = request.param
    if kind != "postgresql":
        return lambda tables: str(FILES[kind](tmp_path, tables))
    server = request.getfixturevalue("postgresql")

    def make_database(tables: Mapping[str, Rows]) -> str:
        name = server.emptied()
        server.ingest(name, {table: arrow(rows) for table, rows in tables.items()})
        return str(server.address(name))

    return make_database
