"""``agon plan``: the size of any source, and the engines that can score it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import agon
from agon.disciplines import discipline
from agon.engines import ENGINES
from agon.records.sources import sizes
from agon.records.sources.formats import form_of
from agon.records.sources.sizes import source_size
from cli.command import Cli
from postgresql_server import Postgresql

if TYPE_CHECKING:
    from agon.records.writing import TableFormat

ROWS = {"bots": 24, "matches": 300, "owners": 24, "votes": 900}
SCHEMA = discipline("arena").schema


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@pytest.fixture(scope="module")
def tables() -> Any:
    """Return the tables of an arena."""
    made = dict(agon.simulate("arena", size=300, seed=5).tables)
    assert {name: table.num_rows for name, table in sorted(made.items())} == ROWS
    return made


def rows_of(size: sizes.SourceSize) -> dict[str, int]:
    """Return the rows of each table."""
    return {table.name: table.rows for table in sorted(size.tables, key=lambda each: each.name)}


def test_rows_and_bytes_of_every_form_are_known_without_reading_the_records(
    tables: Any, tmp_path: Path, postgresql: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By metadata, lines, counts of the database, or PostgreSQL's statistics."""
    counts: dict[TableFormat, str] = {"parquet": "metadata", "csv": "lines", "ndjson": "lines"}
    for form, counted in counts.items():
        folder = tmp_path / form
        agon.write_records(tables, folder, form=form)
        size = source_size(SCHEMA, folder)
        assert (size.form, rows_of(size), size.rows) == (form, ROWS, 1248)
        assert {table.counted for table in size.tables} == {counted}
        assert size.bytes == sum(path.stat().st_size for path in folder.iterdir())

    # A large text file is estimated by its first lines.
    monkeypatch.setattr(sizes, "_SAMPLE_BYTES", 4096)
    monkeypatch.setattr(sizes, "_BLOCK_BYTES", 1024)
    size = source_size(SCHEMA, tmp_path / "csv")
    votes = {table.name: table for table in size.tables}["votes"]
    assert votes.counted == "estimate"
    assert votes.rows == pytest.approx(ROWS["votes"], rel=0.1)

    with duckdb.connect(tmp_path / "arena.duckdb") as engine:
        for name, table in tables.items():
            engine.register("rows", table)
            engine.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    with closing(sqlite3.connect(tmp_path / "arena.sqlite")) as database, database:
        for name, table in tables.items():
            database.execute(f"CREATE TABLE {name} (id)")
            database.executemany(f"INSERT INTO {name} VALUES (?)", [(1,)] * table.num_rows)
    for ending in ("duckdb", "sqlite"):
        path = tmp_path / f"arena.{ending}"
        size = source_size(SCHEMA, path)
        assert (size.form, rows_of(size), size.bytes) == (ending, ROWS, path.stat().st_size)

    database_name = postgresql.emptied()
    postgresql.ingest(database_name, tables)
    postgresql.run("ANALYZE votes", database=database_name)
    size = source_size(SCHEMA, postgresql.address(database_name))
    assert (size.form, rows_of(size)) == ("postgresql", ROWS)
    assert {table.name: table.counted for table in size.tables} == {
        "votes": "estimate", "matches": "count", "bots": "count", "owners": "count"
    }  # fmt: skip
    assert all(table.bytes for table in size.tables)


def test_the_command_lists_the_engines_that_can_score_a_source(
    command: Cli, tables: Any, tmp_path: Path
) -> None:
    """The others have the reason; a source that cannot be read is an error."""
    agon.write_records(tables, tmp_path / "records")
    report = command("plan", "arena", tmp_path / "records", "--format", "json").json()
    assert (report["discipline"], report["form"], report["rows"]) == ("arena", "parquet", 1248)
    assert [each["engine"] for each in report["engines"]] == [engine.name for engine in ENGINES]
    reasons = {each["engine"]: each["reason"] for each in report["engines"]}
    assert reasons["embedded"] is None
    assert "PostgreSQL" in reasons["postgres"]

    shown = command("plan", "arena", tmp_path / "records", "--engine", "embedded")
    assert (shown.code, shown.err) == (0, "")
    assert "1,248 rows in 4 tables" in shown.out
    assert "postgres" not in shown.out
    assert command("plan", "arena", tmp_path / "records", "--engine", "postgres").code == 4
    assert command("plan", "arena", tmp_path / "records", "--engine", "embeded").code == 3
    assert command("plan", "arena", tmp_path / "nothing").code == 3


FILES = Path(__file__).parent.parent / "files" / "data"


@pytest.mark.parametrize(
    ("of", "file", "rows", "counted"),
    [
        ("arena", "chess.csv", 3, "lines"),
        ("arena", "alpaca.json", 3, "count"),
        ("arena", "mt_bench.jsonl", 2, "lines"),
        ("arena", "words.parquet", 2, "metadata"),
        ("challenge", "evaluations.xlsx", 2, "count"),
    ],
)
def test_one_file_of_rows_has_a_plan(
    command: Cli, of: str, file: str, rows: int, counted: str
) -> None:
    """What agon score takes has a plan: it counts the rows that are read."""
    report = command("plan", of, FILES / file, "--format", "json").json()
    assert (report["form"], report["rows"]) == (form_of(file), rows)
    assert [table["counted"] for table in report["tables"]] == [counted]
    reasons = {each["engine"]: each["reason"] for each in report["engines"]}
    assert reasons["embedded"] is None
    assert all(reason for engine, reason in reasons.items() if engine != "embedded")


def test_a_packed_file_of_a_folder_is_counted(tmp_path: Path) -> None:
    """Bytes of an archive are no lines."""
    users = discipline("community").schema
    for name in ("packed.csv.gz", "packed.csv.zst", "packed.csv.zip", "array.json"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name.replace(name.partition(".")[0], "users")).write_bytes(
            (FILES / name).read_bytes()
        )
        assert rows_of(source_size(users, folder)) == {"users": 2}, name


def test_a_file_of_one_of_several_tables_has_no_plan(command: Cli) -> None:
    """The message names the tables, as that of agon score does."""
    refused = command("plan", "community", FILES / "bom.csv")
    assert refused.code == 2
    assert "bom.csv is a file of one table, but community has several tables" in refused.err
    assert "data frame" not in refused.err
