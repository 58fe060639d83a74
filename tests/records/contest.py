"""A small contest for tests: its schema, good records, and every source that can hold them."""

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from agon.records import Column, Kind, RowCheck, RowIssue, Schema, Table, inspect
from agon.records.conditions import Equals, IsNull

SCHEMA = Schema(
    "contest",
    (
        Table(
            "people",
            (
                Column("id", Kind.ID),
                Column("name", Kind.TEXT),
                Column("joined_at", Kind.TIMESTAMP, required=False),
                Column("active", Kind.BOOLEAN, nullable=True),
                Column("age", Kind.INTEGER, nullable=True, low=0, high=150),
            ),
            required=True,
            key=("id",),
            time="joined_at",
            aliases=("auth.people",),
        ),
        Table(
            "works",
            (
                Column("id", Kind.ID),
                Column("author_id", Kind.ID, nullable=True, references="people.id"),
                Column("kind", Kind.TEXT, choices=("essay", "poem")),
                Column("score", Kind.NUMBER, nullable=True, low=0, high=1),
                Column("words", Kind.INTEGER, required=False),
            ),
            key=("id",),
            checks=(
                RowCheck(
                    "score",
                    Equals("kind", "essay") & IsNull("score"),
                    "is empty for an essay",
                    "score every essay",
                ),
            ),
        ),
        Table(
            "votes",
            (
                Column("work_id", Kind.ID, required=False, references="works.id"),
                Column("person_id", Kind.ID, required=False, references="people.id"),
                Column("points", Kind.INTEGER),
            ),
            exactly_one_of=("work_id", "person_id"),
            order_within=("work_id", "person_id"),
        ),
    ),
)

Rows = list[dict[str, Any]]


def texts() -> dict[str, Rows]:
    """Return good records as a text file has them."""
    return {
        "people": [
            {"id": "1", "name": "Ada", "joined_at": "2026-01-01T10:00:00+02:00", "active": "true",
             "age": "36"},
            {"id": "2", "name": "Bob; \"the\" 'other',\nof Köln 😀", "joined_at": "2026-01-02",
             "active": None, "age": None},
            {"id": "10", "name": " ", "joined_at": None, "active": "false", "age": "0"},
        ],
        "works": [
            {"id": "w1", "author_id": "1", "kind": "essay", "score": "0.30000000000000004",
             "words": "9007199254740993"},
            {"id": "w2", "author_id": None, "kind": "poem", "score": None, "words": "-7"},
            {"id": "007", "author_id": "10", "kind": "essay", "score": "1e-3", "words": None},
        ],
        "votes": [
            {"work_id": "w1", "person_id": None, "points": "3"},
            {"work_id": None, "person_id": "2", "points": "1"},
            {"work_id": "w1", "person_id": None, "points": "2"},
        ],
    }  # fmt: skip


def values() -> dict[str, Rows]:
    """Return the same records as a typed store has them."""
    typed = texts()
    joined = [datetime(2026, 1, 1, 8, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC), None]
    active = [True, None, False]
    for row, when, is_active in zip(typed["people"], joined, active, strict=True):
        row.update(id=int(row["id"]), joined_at=when, active=is_active)
    for table, column, kind in (
        ("people", "age", int),
        ("works", "author_id", int),
        ("works", "score", float),
        ("works", "words", int),
        ("votes", "person_id", int),
        ("votes", "points", int),
    ):
        for row in typed[table]:
            row[column] = None if row[column] is None else kind(row[column])
    return typed


def issues_of(schema: Schema, source: Path) -> list[RowIssue]:
    """Read a source and return what is wrong with it."""
    records, issues = inspect(schema, source)
    records.close()
    return issues


def arrow(rows: Rows) -> pa.Table:
    """Make an Arrow table; a column without any value is text."""
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        column = pa.array([row.get(name) for row in rows])
        columns[name] = column.cast(pa.string()) if pa.types.is_null(column.type) else column
    return pa.table(columns)


def write_csv(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write CSV files with Python's own writer."""
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            _csv(file, rows)
    return folder


def write_csv_gz(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write gzipped CSV files with Python's own writer."""
    for name, rows in tables.items():
        with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
            _csv(file, rows)
    return folder


def _csv(file: Any, rows: Rows) -> None:
    writer = csv.DictWriter(file, list(rows[0]) if rows else ["id"])
    writer.writeheader()
    writer.writerows(rows)


def write_ndjson(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write NDJSON files with Python's own writer."""
    for name, rows in tables.items():
        lines = [json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.ndjson").write_text("".join(lines), encoding="utf-8")
    return folder


def write_parquet(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write Parquet files with Arrow."""
    for name, rows in tables.items():
        pq.write_table(arrow(rows), folder / f"{name}.parquet")
    return folder


def write_duckdb(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write a DuckDB file."""
    path = folder / "contest.duckdb"
    with duckdb.connect(path) as database:
        for name, rows in tables.items():
            database.register("rows", arrow(rows))
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM rows')
    return path


def write_sqlite(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write an SQLite file with Python's own driver; times are ISO 8601 text there."""
    path = folder / "contest.sqlite"
    database = sqlite3.connect(path)
    for name, rows in tables.items():
        names = list(rows[0]) if rows else ["id"]
        listed = ", ".join(f'"{column}"' for column in names)
        database.execute(f'CREATE TABLE "{name}" ({listed})')
        for row in rows:
            cells = [v.isoformat() if isinstance(v, datetime) else v for v in row.values()]
            marks = ", ".join("?" for _ in cells)
            database.execute(f'INSERT INTO "{name}" VALUES ({marks})', cells)
    database.commit()
    database.close()
    return path


FILES: dict[str, Callable[[Path, Mapping[str, Rows]], Path]] = {
    "csv": write_csv,
    "csv.gz": write_csv_gz,
    "ndjson": write_ndjson,
    "parquet": write_parquet,
    "duckdb": write_duckdb,
    "sqlite": write_sqlite,
}
SOURCES = (*FILES, "postgresql")
