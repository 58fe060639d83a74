"""The tables of a database: created by the revisions, equal to the schema, checked when opened."""

import runpy
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any, Final

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Engine, MetaData, event, inspect, text
from sqlalchemy.engine import Connection

from agon.errors import Unavailable
from agon.store import open_store
from agon.store.connection.engines import begin, open_engine
from agon.store.migrations import NEWEST, current, known_revisions, upgrade
from agon.store.schema import METADATA
from sizes import size

_FREEZE: Final = Path(__file__).parents[2] / "tools" / "freeze-schema"


def _shape(connection: Connection) -> dict[str, Any]:
    """Return everything that a database has: tables, and what Alembic compares of none of them."""
    inspector = inspect(connection)
    shape: dict[str, Any] = {"other objects": _objects_besides_tables(connection)}
    for table in sorted(inspector.get_table_names()):
        columns = {
            column["name"]: (str(column["type"]), column["nullable"], column["default"])
            for column in inspector.get_columns(table)
        }
        indexes = [
            (str(index["name"]), index["column_names"], bool(index["unique"]),
             {key: str(option) for key, option in index.get("dialect_options", {}).items()})
            for index in sorted(inspector.get_indexes(table), key=lambda index: str(index["name"]))
        ]  # fmt: skip
        constraints = sorted(
            str(sorted(constraint.items(), key=str))
            for constraint in (
                inspector.get_pk_constraint(table),
                *inspector.get_foreign_keys(table),
                *inspector.get_unique_constraints(table),
                *inspector.get_check_constraints(table),
            )
        )
        shape[table] = (columns, indexes, constraints, inspector.get_table_options(table))
    return shape


_OBJECTS: Final = {
    "sqlite": "SELECT type, name, sql FROM sqlite_master WHERE type NOT IN ('table', 'index')",
    "postgresql": """
        SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'function', proname, prosrc FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT 'sequence or view', relname, relkind::text FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'i')
        """,
}


def _objects_besides_tables(connection: Connection) -> list[tuple[str, ...]]:
    """Return triggers, views, sequences and functions with their definitions."""
    objects = connection.execute(text(_OBJECTS[connection.dialect.name]))
    return sorted(tuple(map(str, each)) for each in objects)


def _shape_of(url: str) -> dict[str, Any]:
    engine = open_engine(url)
    with begin(engine, writing=False) as connection:
        shape = _shape(connection)
    engine.dispose()
    return shape


@pytest.mark.one_database
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


_CHANGES: Final = {
    "sqlite": (
        "CREATE TRIGGER t AFTER DELETE ON scans BEGIN DELETE FROM prompts; END",
        "CREATE VIEW v AS SELECT * FROM scans",
        "ALTER TABLE scans ADD COLUMN checked INTEGER CHECK (checked > 1)",
        "CREATE UNIQUE INDEX i ON scans (seq) WHERE seq > 1",
    ),
    "postgresql": (
        """CREATE TRIGGER t BEFORE UPDATE ON scans FOR EACH ROW
        EXECUTE FUNCTION suppress_redundant_updates_trigger()""",
        "CREATE SEQUENCE s",
        "ALTER TABLE scans ADD CONSTRAINT positive CHECK (seq > 0)",
        "ALTER TABLE scans ALTER COLUMN seq SET DEFAULT 0",
        "CREATE UNIQUE INDEX i ON scans (seq) WHERE seq > 1",
    ),
}


@pytest.mark.exhaustive
def test_what_alembic_does_not_compare_is_compared(url: str) -> None:
    """The test above would otherwise overlook a trigger, a check or a default."""
    engine = open_engine(url)
    with begin(engine, writing=True) as connection:
        METADATA.create_all(connection)
        shape = _shape(connection)
        for change in _CHANGES[connection.dialect.name]:
            connection.execute(text(change))
            before, shape = shape, _shape(connection)
            assert shape != before, change
    engine.dispose()


@pytest.mark.sample(1)
def test_the_frozen_revision_creates_the_same_tables(url: str) -> None:
    """The first release writes the schema out once; nobody should have to read 470 lines of it."""
    frozen = runpy.run_path(str(_FREEZE))["frozen"]()
    revision = ModuleType("frozen")
    exec(frozen, revision.__dict__)  # noqa: S102 (the source that the tool wrote)
    upgrade(url)
    engine = open_engine(url)
    with begin(engine, writing=True) as connection:
        today = _shape(connection)
        _drop_all(connection)
        with Operations.context(MigrationContext.configure(connection)):
            revision.upgrade()
        assert _shape(connection) == {k: v for k, v in today.items() if k != "alembic_version"}
    engine.dispose()
    assert (revision.revision, revision.down_revision) == (NEWEST, None)


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


@pytest.mark.exhaustive
def test_a_new_file_that_many_open_at_once_is_locked_for_none(tmp_path: Path) -> None:
    """SQLite lets nobody wait for a change of the journal's mode: one of fifty starts failed."""
    count = 6
    with ThreadPoolExecutor(count) as threads:
        for attempt in range(size(80, at_least=20)):
            url, together = f"sqlite:///{tmp_path}/{attempt}.db", Barrier(count)

            def start(_: int, url: str = url, together: Barrier = together) -> str:
                together.wait()
                return upgrade(url)[1]

            assert set(threads.map(start, range(count))) == {NEWEST}


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


@pytest.mark.sample(1)
def test_a_failed_upgrade_leaves_the_database_unchanged(url: str) -> None:
    """A database with half of the tables could be neither used nor upgraded."""

    def failing(_: Connection, __: object, statement: str, *___: object) -> None:
        if "jobs_done_idx" in statement:
            raise RuntimeError("no disk")

    event.listen(Engine, "before_cursor_execute", failing)
    try:
        with pytest.raises(RuntimeError, match="no disk"):
            upgrade(url)
    finally:
        event.remove(Engine, "before_cursor_execute", failing)
    assert _shape_of(url) == {"other objects": []}
    assert upgrade(url) == (None, NEWEST)
