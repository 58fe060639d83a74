"""Records as scorers see them: typed, complete, seen at a time, and gone when closed."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from agon.records import Column, InvalidRecords, Kind, Schema, Table, inspect, read, read_rows
from agon.records.raw import MemoryEngine
from records.contest import SCHEMA, texts, values, write_csv


# Ibis calls DuckDB by a name that DuckDB 2 is about to drop.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_every_table_and_column_of_the_schema_is_there() -> None:
    """Scorers never ask whether a column exists."""
    with read_rows(SCHEMA, {"people": [{"id": 1, "name": "Ada", "active": None, "age": 7}]}) as r:
        for table in SCHEMA:
            names = ["_row", *(column.name for column in table.columns)]
            assert r.arrow(table.name).column_names == names
        assert (r.has("people"), r.has("works"), r.count("works")) == (True, False, 0)
        assert r.table("people").age.sum().to_pyarrow().as_py() == 7
        assert r.arrow("people", ["age", "id"]).to_pylist() == [{"age": 7, "id": 1}]
        assert r.sql("SELECT count(*) AS n FROM people").to_pylist() == [{"n": 1}]
        assert r.discipline == "contest"


@pytest.mark.exhaustive
def test_ids_are_numbers_only_when_the_whole_family_is() -> None:
    """What is compared has one type; what is not keeps its own."""
    tables = values()
    with read_rows(SCHEMA, tables) as records:
        assert records.arrow("people").schema.field("id").type == pa.int64()
        assert records.arrow("works").schema.field("author_id").type == pa.int64()
        assert records.arrow("works").schema.field("id").type == pa.string()
    tables["people"].append({**tables["people"][0], "id": "eve"})
    with read_rows(SCHEMA, tables) as records:
        assert records.arrow("people").column("id").to_pylist() == ["1", "2", "10", "eve"]
        assert records.arrow("works").column("author_id").to_pylist() == ["1", None, "10"]
        assert records.arrow("votes").column("person_id").to_pylist() == [None, "2", None]


def test_as_of_leaves_later_rows_out_and_keeps_those_without_a_time() -> None:
    """A time with a zone is the same time in UTC; rows have the same numbers."""
    joined = datetime(2026, 1, 1, 8, tzinfo=UTC)
    with read_rows(SCHEMA, values()) as records:
        for time in (joined, joined.replace(tzinfo=None),
                       joined.astimezone(timezone(timedelta(hours=5)))):  # fmt: skip
            seen = records.as_of(time)
            assert seen.arrow("people").column("_row").to_pylist() == [1, 3]
            assert seen.cutoff == joined.replace(tzinfo=None)
        assert records.as_of(joined - timedelta(microseconds=1)).count("people") == 1
        assert records.as_of(None) is records
        assert records.count("people") == 3
        again = records.as_of(datetime(2026, 2, 1, tzinfo=UTC)).as_of(joined)
        assert again.arrow("people").column("id").to_pylist() == [1, 10]
        assert again.sql("SELECT id FROM people ORDER BY _row").column("id").to_pylist() == [1, 10]


def test_as_of_what_ended_later_had_not_ended_yet() -> None:
    """A set deleted in March counts in February."""
    sets = Schema(
        "sets",
        (
            Table(
                "sets",
                (Column("id", Kind.ID), Column("deleted_at", Kind.TIMESTAMP, required=False)),
                ends="deleted_at",
            ),
        ),
    )
    march = datetime(2026, 3, 1)  # noqa: DTZ001 - stored without a zone, as all times are
    with read_rows(sets, {"sets": [{"id": 1, "deleted_at": march}]}) as records:
        february = records.as_of(datetime(2026, 2, 1, tzinfo=UTC))
        assert february.arrow("sets").column("deleted_at").to_pylist() == [None]
        assert records.as_of(march).arrow("sets").column("deleted_at").to_pylist() == [march]


@pytest.mark.exhaustive
def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing removes the folder records may spill to; the working directory stays clean."""
    work, temp = tmp_path / "work", tmp_path / "temp"
    work.mkdir()
    temp.mkdir()
    write_csv(tmp_path, texts())
    monkeypatch.chdir(work)
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    records = read(SCHEMA, tmp_path)
    assert len(list(temp.iterdir())) == 1
    records.close()
    records.close()
    with pytest.raises(InvalidRecords):
        read_rows(SCHEMA, {})
    (tmp_path / "people.csv").unlink()
    with pytest.raises(InvalidRecords):
        read(SCHEMA, tmp_path)
    assert list(temp.iterdir()) == []
    assert list(work.iterdir()) == []


@pytest.mark.exhaustive
def test_records_forgotten_without_closing_are_let_go(tmp_path: Path) -> None:
    """A script that never closes leaves no folder either."""
    script = (
        "from agon.records import read_rows; from records.contest import SCHEMA, values; "
        "records = read_rows(SCHEMA, values())"
    )
    tests = Path(__file__).parent.parent
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(tests)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert list(tmp_path.iterdir()) == []


def test_the_engine_fetches_nothing_and_lives_in_memory() -> None:
    """Reading records must not depend on a network, nor keep a file."""
    engine = MemoryEngine()
    sql = (
        "SELECT name, value FROM duckdb_settings() "
        "WHERE name LIKE 'auto%_known_extensions' OR name = 'TimeZone'"
    )
    settings = dict(engine.connection.execute(sql).fetchall())
    assert settings == {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "TimeZone": "UTC",
    }
    engine.close()
    with pytest.raises(duckdb.ConnectionException):
        engine.connection.execute("SELECT 1")


def test_an_unknown_table_at_hand_is_refused_with_a_suggestion() -> None:
    """Rows under a misspelt name must not be left out in silence."""
    with pytest.raises(InvalidRecords, match=r"poeple.*did you mean people"):
        read_rows(SCHEMA, {"poeple": values()["people"]})


def test_rows_at_hand_may_be_of_any_kind() -> None:
    """Dicts with gaps, mixed types, huge numbers; an error is an issue, never another exception."""
    rows = [{"id": 1, "name": "Ada", "active": True, "age": 2**70}, {"id": "x", "name": 3}]
    with pytest.raises(InvalidRecords) as caught:
        read_rows(SCHEMA, {"people": rows})
    assert {(one.code, one.row, one.column) for one in caught.value.issues} == {
        ("out-of-range", 1, "age")
    }


@pytest.mark.exhaustive
def test_inspecting_gives_records_as_far_as_they_can_be_read() -> None:
    """Values that cannot be read are empty; the issues say where."""
    with pytest.raises(InvalidRecords) as caught:
        read_rows(SCHEMA, {"people": [{"id": 1, "name": "Ada", "active": "?", "age": "?"}]})
    plain = [issue.to_dict() for issue in caught.value.issues]
    assert {one["column"] for one in plain} == {"active", "age"}
    assert caught.value.exit_code == 2


@pytest.mark.exhaustive
def test_bad_values_are_empty_where_records_are_inspected(tmp_path: Path) -> None:
    """A check may go on to integrity findings on what is left."""
    tables = texts()
    tables["people"][0]["age"] = "?"
    records, issues = inspect(SCHEMA, write_csv(tmp_path, tables))
    with records:
        assert len(issues) == 1
        assert records.arrow("people").column("age").to_pylist() == [None, None, 0]
