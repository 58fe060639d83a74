"""The tables of a database: created by the revisions, equal to the schema, checked when opened."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, inspect
from sqlalchemy.engine import Connection

from agon.errors import Unavailable
from agon.store import open_store
from agon.store.connection.engines import begin, open_engine
from agon.store.migrations import NEWEST, current, known_revisions, upgrade
from agon.store.schema import METADATA

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""


def _shape(connection: Connection) -> dict[str, Any]:
    """Return the columns, indexes and keys of each table."""
    inspector = inspect(connection)
    shape: dict[str, Any] = {}
    for table in sorted(inspector.get_table_names()):
        columns = {
            column["name"]: (str(column["type"]), column["nullable"])
            for column in inspector.get_columns(table)
        }
        indexes = [
            (str(index["name"]), index["column_names"], bool(index["unique"]),
             {key: str(option) for key, option in index.get("dialect_options", {}).items()})
            for index in sorted(inspector.get_indexes(table), key=lambda index: str(index["name"]))
        ]  # fmt: skip
        keys = [key["referred_table"] for key in inspector.get_foreign_keys(table)]
        shape[table] = (columns, indexes, inspector.get_pk_constraint(table)["constrained_columns"],
                        sorted(keys))  # fmt: skip
    return shape


def _shape_of(url: str) -> dict[str, Any]:
    engine = open_engine(url)
    with begin(engine, writing=False) as connection:
        shape = _shape(connection)
    engine.dispose()
    return shape


def test_the_revisions_create_exactly_the_tables_of_the_schema(url: str) -> None:
    """A column missing from the revisions would be missing from every real database."""
    upgrade(url)
    engine = open_engine(url)
    with begin(engine, writing=False) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    with begin(engine, writing=True) as connection:
        migrated = _shape(connection)
        _drop_all(connection)
        METADATA.create_all(connection)
        fresh = _shape(connection)
    engine.dispose()
    migrated.pop("alembic_version")
    assert migrated == fresh


def _drop_all(connection: Connection) -> None:
    everything = MetaData()
    everything.reflect(connection)
    everything.drop_all(connection)


def test_upgrading_twice_changes_nothing(url: str) -> None:
    """An operator may run the command before every start."""
    assert current(url) is None
    assert upgrade(url) == (None, NEWEST)
    assert upgrade(url) == (NEWEST, NEWEST)
    assert known_revisions()[-1] == NEWEST


def test_processes_that_start_together_share_an_empty_database(url: str) -> None:
    """A server and its workers start at the same time; one creates the tables, no one fails."""
    count = 4
    together = Barrier(count)

    def start(_: int) -> tuple[str | None, str]:
        together.wait()
        return upgrade(url)

    with ThreadPoolExecutor(count) as threads:
        results = list(threads.map(start, range(count)))
    assert sorted(results, key=str) == [(NEWEST, NEWEST)] * (count - 1) + [(None, NEWEST)]


def test_asking_for_the_revision_creates_no_file(tmp_path: Path) -> None:
    """A typing error in a path should not leave an empty file."""
    assert current(f"sqlite:///{tmp_path}/deep/agon.db") is None
    assert list(tmp_path.iterdir()) == []


def test_opening_a_new_database_creates_its_folders(tmp_path: Path) -> None:
    """The first start should need no preparation."""
    open_store(f"sqlite:///{tmp_path}/a/b/agon.db").close()
    assert (tmp_path / "a" / "b" / "agon.db").exists()


def test_a_database_without_tables_is_rejected_and_the_error_names_the_command(url: str) -> None:
    """Without ``create`` nothing is created unasked."""
    store = open_store(url, create=False)
    with pytest.raises(Unavailable, match="agon db upgrade"), store.read():
        pass
    with pytest.raises(Unavailable, match="agon db upgrade"), store.write():
        pass
    store.close()


def test_a_database_with_an_unknown_revision_is_rejected(tmp_path: Path) -> None:
    """An older agon must not write to the database of a newer one."""
    url = f"sqlite:///{tmp_path}/agon.db"
    upgrade(url)
    with closing(sqlite3.connect(tmp_path / "agon.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    store = open_store(url)
    with pytest.raises(Unavailable, match="install a newer agon"), store.read():
        pass
    with pytest.raises(Unavailable, match="install a newer agon"):
        upgrade(url)
    store.close()


def test_a_failed_upgrade_leaves_the_database_unchanged(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database with half of the tables could be neither used nor upgraded."""
    from alembic.op import create_index

    def failing(name: str, *args: Any, **options: Any) -> None:
        if name == "jobs_done_idx":
            raise RuntimeError("no disk")
        create_index(name, *args, **options)

    monkeypatch.setattr("alembic.op.create_index", failing)
    with pytest.raises(RuntimeError, match="no disk"):
        upgrade(url)
    assert _shape_of(url) == {}
    monkeypatch.undo()
    assert upgrade(url) == (None, NEWEST)
