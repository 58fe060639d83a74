"""Databases of every version of agon there ever was."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, inspect, text
from sqlalchemy.engine import Connection

from agon.errors import Unavailable
from agon.store import open_store
from agon.store.engines import begun, open_engine
from agon.store.migrations import NEWEST, current, known, upgrade
from agon.store.schema import METADATA
from agon.store.verify import verify
from store.past import another, load

SCHEMAS = Path(__file__).parent / "schemas"


def _shape(connection: Connection) -> dict[str, Any]:
    """Read what a database has, as far as both kinds tell."""
    found = inspect(connection)
    shape: dict[str, Any] = {}
    for table in sorted(found.get_table_names()):
        columns = {
            column["name"]: (str(column["type"]), column["nullable"])
            for column in found.get_columns(table)
        }
        indexes = [
            (str(index["name"]), index["column_names"], bool(index["unique"]),
             {key: str(option) for key, option in index.get("dialect_options", {}).items()})
            for index in sorted(found.get_indexes(table), key=lambda one: str(one["name"]))
        ]  # fmt: skip
        keys = [key["referred_table"] for key in found.get_foreign_keys(table)]
        shape[table] = (columns, indexes, found.get_pk_constraint(table)["constrained_columns"],
                        sorted(keys))  # fmt: skip
    return shape


def _shape_of(url: str) -> dict[str, Any]:
    engine = open_engine(url)
    with begun(engine, writing=False) as connection:
        shape = _shape(connection)
    engine.dispose()
    return shape


def test_migrations_make_what_the_tables_say(url: str) -> None:
    """A column of the schema forgotten in a revision works in new databases only."""
    upgrade(url)
    engine = open_engine(url)
    with begun(engine, writing=False) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    with begun(engine, writing=True) as connection:
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


@pytest.mark.parametrize("revision", known())
def test_every_earlier_database_is_brought_to_this_version(
    url: str, other_url: str, revision: str
) -> None:
    """With the data it held: a frozen dump of each released revision is upgraded."""
    load(SCHEMAS / f"{revision}.{url.partition(':')[0]}.sql", url)
    assert current(url) == revision
    assert upgrade(url) == (revision, NEWEST)
    assert current(url) == NEWEST
    assert verify(url).issues == ()
    store = open_store(url, create=False)
    with store.read() as session:
        contest = session.contests.get("spring")
        assert [one.seq for one in session.entries.after(contest.no)] == [1, 2, 3, 4]
        board = session.snapshots.latest(contest.no, "models")
        assert board is not None
        assert session.snapshots.lines(board.no, start=0, count=2) == [b'{"id":"a"}', b'{"id":"b"}']
        assert session.queue.get("j1").payload == {"submission": "j1"}
        assert session.access.user("ada").name == "Ada Ł"
        assert session.events.last() == 1
    with store.write() as session:  # numbers go on where they were
        assert session.contests.add(another()).no == contest.no + 1
    store.close()
    shape = _shape_of(url)
    _empty_and_upgrade(url)
    assert shape == _shape_of(url)
    assert other_url != url


def test_submissions_of_the_first_revision_are_found_by_their_ids(url: str) -> None:
    """Their addresses are ids now; one that a ledger holds twice is found at the first."""
    load(SCHEMAS / f"0001.{url.partition(':')[0]}.sql", url)
    engine = open_engine(url)
    with begun(engine, writing=True) as connection:
        for seq, name in ((5, "s1"), (6, "s2"), (7, "s1")):
            line = f'{{"body":{{"submission":"{name}"}},"kind":"submission-received"}}'
            connection.execute(
                text("INSERT INTO entries (contest_no, seq, kind, at, line, sha256) "
                     "VALUES (1, :seq, 'submission-received', 0, :line, :line)"),
                {"seq": seq, "line": line.encode()},
            )  # fmt: skip
    engine.dispose()
    upgrade(url)
    store = open_store(url, create=False)
    with store.read() as session:
        known = session.entries.known(1, records=["received/s1", "received/s2", "received/s3"])
    store.close()
    assert {name: one.seq for name, one in known.items()} == {"received/s1": 5, "received/s2": 6}


def _empty_and_upgrade(url: str) -> None:
    engine = open_engine(url)
    with begun(engine, writing=True) as connection:
        _drop_all(connection)
    engine.dispose()
    upgrade(url)


def test_an_empty_database_is_laid_out_once(url: str) -> None:
    """A second upgrade has nothing to do."""
    assert current(url) is None
    assert upgrade(url) == (None, NEWEST)
    assert upgrade(url) == (NEWEST, NEWEST)
    assert known()[-1] == NEWEST


def test_looking_at_a_database_that_is_not_there_makes_none(tmp_path: Path) -> None:
    """A slip in a path should not leave an empty file."""
    assert current(f"sqlite:///{tmp_path}/deep/agon.db") is None
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_for_a_new_database(tmp_path: Path) -> None:
    """The first start should need no preparation."""
    open_store(f"sqlite:///{tmp_path}/a/b/agon.db").close()
    assert (tmp_path / "a" / "b" / "agon.db").exists()


def test_a_database_that_is_not_laid_out_is_refused_with_the_remedy(url: str) -> None:
    """Without ``create`` nothing is made behind the operator's back."""
    store = open_store(url, create=False)
    with pytest.raises(Unavailable, match="agon db upgrade"), store.read():
        pass
    with pytest.raises(Unavailable, match="agon db upgrade"), store.write():
        pass
    store.close()


def test_a_database_of_another_version_is_refused(tmp_path: Path) -> None:
    """A newer agon's database must not be written by an older agon."""
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


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a layout can be neither used nor upgraded."""
    from alembic.op import create_index

    def failing(name: str, *given: Any, **options: Any) -> None:
        if name == "jobs_done_idx":
            raise RuntimeError("no disk")
        create_index(name, *given, **options)

    monkeypatch.setattr("alembic.op.create_index", failing)
    with pytest.raises(RuntimeError, match="no disk"):
        upgrade(url)
    assert _shape_of(url) == {}
    monkeypatch.undo()
    assert upgrade(url) == (None, NEWEST)
