"""``agon plan``: the size of any source, and estimates that measured runs support."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import agon
from agon.app.analysis.curves import Point, estimate, fit, measurements
from agon.cli.shared.formats import json_text
from agon.disciplines import BUILT_IN, discipline
from agon.engines import ENGINES
from agon.records.sources import sizes
from agon.records.sources.sizes import source_size
from cli.command import Cli
from conftest import Postgresql
from sizes import size as examples

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
    for form, counted in (("parquet", "metadata"), ("csv", "lines"), ("ndjson", "lines")):
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
    for form in ("duckdb", "sqlite"):
        path = tmp_path / f"arena.{form}"
        size = source_size(SCHEMA, path)
        assert (size.form, rows_of(size), size.bytes) == (form, ROWS, path.stat().st_size)

    database_name = postgresql.emptied()
    postgresql.ingest(database_name, tables)
    postgresql.run("ANALYZE votes", database=database_name)
    size = source_size(SCHEMA, postgresql.address(database_name))
    assert (size.form, rows_of(size)) == ("postgresql", ROWS)
    assert {table.name: table.counted for table in size.tables} == {
        "votes": "estimate", "matches": "count", "bots": "count", "owners": "count"
    }  # fmt: skip
    assert all(table.bytes for table in size.tables)


def test_the_command_prints_estimates_with_intervals_for_every_engine(
    command: Cli, tables: Any, tmp_path: Path
) -> None:
    """For engines without one there is the reason; a source that cannot be read is an error."""
    agon.write_records(tables, tmp_path / "records")
    report = command("plan", "arena", tmp_path / "records", "--format", "json").json()
    assert (report["discipline"], report["form"], report["rows"]) == ("arena", "parquet", 1248)
    assert [each["engine"] for each in report["engines"]] == [engine.name for engine in ENGINES]
    plans = {each["engine"]: each for each in report["engines"]}
    embedded = plans["embedded"]
    for quantity in ("seconds", "memory_bytes"):
        cost = embedded[quantity]
        assert 0 < cost["low"] < cost["estimate"] < cost["high"], json_text(cost)
    assert embedded["extrapolated"] is False
    assert plans["postgres"]["seconds"] is None
    assert "PostgreSQL" in plans["postgres"]["reason"]
    assert report["measured"].keys() >= {"machine", "versions", "date", "load"}

    shown = command("plan", "arena", tmp_path / "records", "--engine", "embedded")
    assert (shown.code, shown.err) == (0, "")
    assert "1,248 rows in 4 tables" in shown.out
    assert "postgres" not in shown.out
    assert command("plan", "arena", tmp_path / "records", "--engine", "postgres").code == 4
    assert command("plan", "arena", tmp_path / "records", "--engine", "embeded").code == 3
    assert command("plan", "arena", tmp_path / "nothing").code == 3


def test_every_discipline_and_form_was_measured() -> None:
    """Three sizes each, that differ by a factor of hundred."""
    points = measurements().points
    for of in BUILT_IN:
        for form in ("parquet", "csv", "ndjson", "duckdb", "sqlite", "postgresql"):
            rows = [point.rows for point in points if (point.discipline, point.form) == (of, form)]
            assert len(rows) >= 3, (of, form)
            assert max(rows) > 50 * min(rows)


def test_estimates_are_within_a_factor_of_one_and_a_half_of_the_measured_runs() -> None:
    """Otherwise the curve has the wrong shape, and a measured run should be looked at."""
    points = measurements().points
    factors = []
    for point in points:
        cost = estimate(points, discipline=point.discipline, engine=point.engine, form=point.form,
                        rows=point.rows)  # fmt: skip
        assert cost is not None
        within = cost.seconds.low * 0.999 <= point.seconds <= cost.seconds.high * 1.001
        assert within, point
        for value, actual in ((cost.seconds.value, point.seconds),
                              (cost.memory_bytes.value, point.memory_bytes)):  # fmt: skip
            factors.append((max(value / actual, actual / value), point))
    assert [factor for factor in factors if factor[0] > 1.5] == []


def test_what_is_larger_than_measured_has_a_wider_interval() -> None:
    """And is said to be extrapolated."""
    points = [Point("arena", "embedded", "csv", n, 2 + n / 1000, 1000 + n) for n in (10, 1000)]

    def cost(rows: int) -> Any:
        return estimate(points, discipline="arena", engine="postgres", form="csv", rows=rows)

    assert not cost(1000).extrapolated
    assert cost(100_000).extrapolated
    within, beyond = cost(1000).seconds, cost(100_000).seconds
    assert within.high / within.value == pytest.approx(1.1)
    assert beyond.high / beyond.value == pytest.approx(1.1 * 100**0.15)
    assert estimate(points, discipline="dojo", engine="embedded", form="csv", rows=1) is None
    assert estimate(points, discipline="arena", engine="spark", form="csv", rows=1) is None


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**8), st.floats(1e-3, 1e4)), min_size=1, max_size=8))
def test_no_other_line_has_smaller_relative_errors(measured: list[tuple[int, float]]) -> None:
    """The second opinion is scipy's solver of least squares with bounds."""
    sizes_of, values = (np.array(column, dtype=float) for column in zip(*measured, strict=True))
    scale = max(sizes_of.max(), 1.0)
    rows = np.column_stack([np.ones_like(values), sizes_of / scale]) / values[:, None]
    _, best = nnls(rows, np.ones_like(values))
    start, rate = fit(measured)
    assert start >= 0
    assert rate >= 0
    residual = np.linalg.norm(rows @ [start, rate * scale] - 1)
    assert residual <= best * (1 + 1e-6) + 1e-6
