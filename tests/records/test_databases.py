"""DuckDB and SQLite files: in place, read-only, in the order of the rows."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from agon.errors import Unavailable, Unreadable
from agon.records import InvalidRecords, inspect, read, read_rows
from records.contest import SCHEMA, texts, values, write_duckdb, write_sqlite

HOLD = """
import duckdb, sys
database = duckdb.connect(sys.argv[1])
database.execute("CREATE TABLE more (x INT)")
print("open", flush=True)
sys.stdin.read()
"""


def test_a_duckdb_file_open_for_writing_elsewhere_is_unavailable(tmp_path: Path) -> None:
    """The message says what to do; the engine's own names a process and a web page."""
    path = write_duckdb(tmp_path, texts())
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(Unavailable, match="open for writing elsewhere; close it there"):
            read(SCHEMA, path)
        process.communicate()


@pytest.mark.exhaustive
def test_a_duckdb_file_can_be_read_twice_at_once(tmp_path: Path) -> None:
    """Comparing two editions, or two commands at a time."""
    path = write_duckdb(tmp_path, texts())
    with read(SCHEMA, path) as one, read(SCHEMA, path) as other:
        assert one.sha256 == other.sha256


@pytest.mark.sample(2)
@pytest.mark.parametrize("length", [100, 5_000, -1])
def test_a_duckdb_file_cut_off_is_unreadable(tmp_path: Path, length: int) -> None:
    """Exit code 2, with what the engine says of it."""
    path = write_duckdb(tmp_path, texts())
    content = path.read_bytes()[:length]
    path.write_bytes(content)
    with pytest.raises((Unreadable, InvalidRecords)):
        read(SCHEMA, path)


def test_views_aliases_and_deleted_rows_are_read_in_order(tmp_path: Path) -> None:
    """A database is not a dump: rows were deleted, tables have their own schema or are views."""
    path = write_duckdb(tmp_path, values())
    with duckdb.connect(path) as database:
        database.execute("CREATE SCHEMA auth")
        database.execute("CREATE TABLE auth.people AS SELECT * FROM people")
        database.execute("DROP TABLE people")
        database.execute("INSERT INTO votes VALUES ('w1', NULL, 9)")
        database.execute("DELETE FROM votes WHERE points = 2")
        database.execute("ALTER TABLE works RENAME TO stored")
        database.execute("CREATE VIEW works AS SELECT * FROM stored")
    tables = values()
    tables["votes"][2]["points"] = 9
    with read(SCHEMA, path) as records:
        assert records.arrow("votes").equals(read_rows(SCHEMA, tables).arrow("votes"))
        assert records.sha256 == read_rows(SCHEMA, tables).sha256


@pytest.mark.exhaustive
def test_json_and_enum_columns_are_read_as_what_they_hold(tmp_path: Path) -> None:
    """A JSON column is read like NDJSON."""
    path = write_duckdb(tmp_path, values())
    with duckdb.connect(path) as database:
        database.execute("ALTER TABLE people ALTER age TYPE JSON USING to_json(age)")
        database.execute("ALTER TABLE people ALTER name TYPE JSON USING to_json(name)")
        database.execute("ALTER TABLE people ALTER id TYPE JSON USING to_json(id)")
        database.execute("CREATE TYPE kind AS ENUM ('poem', 'essay')")
        database.execute("ALTER TABLE works ALTER kind TYPE kind")
    with read(SCHEMA, path) as records:
        assert records.sha256 == read_rows(SCHEMA, values()).sha256


@pytest.mark.exhaustive
def test_a_database_without_the_tables_hints_at_what_it_has(tmp_path: Path) -> None:
    """The likeliest mistake is a name in the singular."""
    for write in (write_duckdb, write_sqlite):
        path = write(tmp_path, {"peoples": texts()["people"]})
        _, issues = inspect(SCHEMA, path)
        assert [(one.code, one.table) for one in issues] == [("missing-table", "people")]
        assert "there is peoples: is it meant?" in issues[0].remedy


def test_each_sqlite_value_has_its_own_type(tmp_path: Path) -> None:
    """Numbers and texts in one column are read like a CSV file's."""
    tables = values()
    tables["people"][0]["id"], tables["people"][0]["age"] = "1", 36.0
    tables["works"][0]["score"] = "0.30000000000000004"
    with read(SCHEMA, write_sqlite(tmp_path, tables)) as records:
        assert records.sha256 == read_rows(SCHEMA, values()).sha256


def test_sqlite_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    """SQLite stores any bytes as text."""
    path = write_sqlite(tmp_path, texts())
    database = sqlite3.connect(path)
    database.execute("UPDATE people SET name = CAST(X'4be47365' AS TEXT) WHERE id = '2'")
    database.commit()
    database.close()
    _, issues = inspect(SCHEMA, path)
    assert [(one.code, one.table, one.row, one.column, one.value) for one in issues] == [
        ("wrong-encoding", "people", 2, "name", r"K\xe4se")
    ]


@pytest.mark.exhaustive
def test_sqlite_rows_come_in_their_order_whatever_indices_there_are(tmp_path: Path) -> None:
    """An index that holds all columns would give them in its own order."""
    path = write_sqlite(tmp_path, texts())
    database = sqlite3.connect(path)
    database.execute("CREATE INDEX all_of_it ON votes (points, work_id, person_id)")
    database.execute("ALTER TABLE people RENAME TO stored")
    database.execute("CREATE VIEW people AS SELECT * FROM stored")
    database.commit()
    database.close()
    with read(SCHEMA, path) as records:
        assert records.arrow("votes").column("points").to_pylist() == [3, 1, 2]


@pytest.mark.parametrize("damage", [slice(100, 3000), slice(4096, 8000)])
def test_a_damaged_sqlite_file_is_unreadable(tmp_path: Path, damage: slice) -> None:
    """Exit code 2, no traceback."""
    path = write_sqlite(tmp_path, texts())
    content = bytearray(path.read_bytes())
    content[damage] = b"\xff" * len(content[damage])
    path.write_bytes(content)
    with pytest.raises((Unreadable, InvalidRecords)):
        read(SCHEMA, path)
