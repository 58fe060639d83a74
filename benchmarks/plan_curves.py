"""Time and memory of `agon score` by rows, for `agon plan`: measure them, or compare with them.

Each run is a process of its own, from its start to its end; of REPEAT runs the quickest counts.
With --write the points are stored in the package, with machine and versions; without, runs of other
sizes are compared with the estimates, whose factor must stay within 1.5. Use --nice as root to
measure on a machine where others work.
"""

import argparse
import datetime as dt
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import report  # type: ignore[import-not-found]  # of this folder
from databases import database  # type: ignore[import-not-found]  # of this folder

from agon.app.analysis.curves import Point, estimate, measurements
from agon.disciplines import BUILT_IN, discipline
from agon.records.writing import write_tables

CURVES = Path(__file__).parents[1] / "src/agon/app/analysis/curves.json"
FILES = ("parquet", "csv", "ndjson", "duckdb", "sqlite")
_QUIETLY = ("--format", "json")
# The largest resident memory is read by the process itself: rusage has its parent's, too.
_MEASURED = """
import sys
from agon.cli import main
try:
    main()
finally:
    text = open("/proc/self/status").read()
    print(text.split("VmHWM:")[1].split()[0], file=sys.stderr)
"""
USUAL = (10_000, 100_000, 1_000_000)
ROWS_PER_SIZE = {"community": 277, "challenge": 1, "dojo": 1, "arena": 4}
"""Rows of all tables for one of the size that ``agon simulate`` takes, about."""

SIZES = {"community": USUAL, "challenge": USUAL, "arena": USUAL, "dojo": (5_000, 50_000, 500_000)}
"""Rows that are measured. Fewer programs than 5,000 differ more among each other than more do."""
BETWEEN = (30_000, 300_000)
"""Rows that are compared with the estimates."""


def main() -> None:
    """Measure every discipline and form, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+", help="about so many rows of all tables")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--disciplines", nargs="+", default=list(BUILT_IN))
    parser.add_argument("--forms", nargs="+", default=[*FILES, "postgresql"])
    options = parser.parse_args()
    report.header("duckdb", "pyarrow")
    if options.nice:
        os.nice(options.nice)
    points = list(_points(options))
    if options.write:
        _write(points)
    else:
        _compare(points)


def _points(options: argparse.Namespace) -> Iterator[Point]:
    with tempfile.TemporaryDirectory() as folder, database("postgresql") as address:
        for of in options.disciplines:
            for rows in options.rows or (SIZES[of] if options.write else BETWEEN):
                size = max(rows // ROWS_PER_SIZE[of], 10)
                tables = dict(discipline(of).simulate(size=size, seed=1, attacks=[]).tables)
                count = sum(table.num_rows for table in tables.values())
                for form in options.forms:
                    with _source(tables, form, Path(folder) / "source", address) as source:
                        runs = [_run(of, source) for _ in range(options.repeat)]
                    seconds, memory = min(runs)
                    engine = "postgres" if form == "postgresql" else "embedded"
                    point = Point(of, engine, form, count, round(seconds, 3), memory)
                    print(f"{of:<10} {form:<10} {count:>11,} rows {seconds:8.2f} s "
                          f"{memory / 2**20:8.0f} MiB", flush=True)  # fmt: skip
                    yield point


def _run(of: str, source: str) -> tuple[float, int]:
    """Score in a process of its own; return its seconds and its peak of memory in bytes."""
    command = [sys.executable, "-c", _MEASURED, "score", of, source, "--top", "1", *_QUIETLY]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    return seconds, int(done.stderr.split()[-1]) * 1024


class _source:  # noqa: N801 - used like a function
    """Store tables in one form; remove them afterwards."""

    def __init__(self, tables: dict[str, pa.Table], form: str, folder: Path, address: str) -> None:
        self._tables, self._form, self._folder = tables, form, folder
        self._address = address

    def __enter__(self) -> str:
        self._folder.mkdir()
        path = self._folder / "records"
        if self._form == "postgresql":
            _postgresql(self._tables, self._address)
            return self._address
        if self._form == "duckdb":
            import duckdb

            with duckdb.connect(str(path)) as engine:
                for name, table in self._tables.items():
                    engine.register("rows", table)
                    engine.execute(f'CREATE TABLE "{name}" AS SELECT * FROM rows')
        elif self._form == "sqlite":
            with closing(sqlite3.connect(path)) as file:
                for name, table in self._tables.items():
                    columns = ", ".join(f'"{column}"' for column in table.column_names)
                    file.execute(f'CREATE TABLE "{name}" ({columns})')
                    marks = ", ".join("?" * table.num_columns)
                    rows = zip(*(_plain(column) for column in table.columns), strict=True)
                    file.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
                file.commit()
        else:
            write_tables(self._tables, path, format=self._form)
        return str(path)

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)


def _plain(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return [None if value is None else value.isoformat() for value in column.to_pylist()]
    if pa.types.is_nested(column.type):
        return [None if v is None else orjson.dumps(v).decode() for v in column.to_pylist()]
    return list(column.to_pylist())


def _postgresql(tables: dict[str, pa.Table], address: str) -> None:
    """Copy the tables into the database, without those of before."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address, autocommit=True) as opened, opened.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
        for name, table in tables.items():
            cursor.adbc_ingest(name, table, mode="create")
        cursor.execute("ANALYZE")


def _write(points: list[Point]) -> None:
    """Store the points: those of the package that were not measured now stay."""
    now = {(point.discipline, point.engine, point.form, point.rows) for point in points}
    stored = measurements().points if CURVES.exists() else ()
    kept = [p for p in stored if (p.discipline, p.engine, p.form, p.rows) not in now]
    everything = sorted([*kept, *points], key=lambda p: (p.discipline, p.engine, p.form, p.rows))
    cores = len(os.sched_getaffinity(0))
    document = {
        "machine": f"{report.processor()}, {cores} cores",
        "load": round(os.getloadavg()[0], 1),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {name: version(name) for name in ("duckdb", "numpy", "numba", "pyarrow")},
        "points": [vars(point) for point in everything],
    }
    CURVES.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"wrote {len(points)} points, kept {len(kept)}")


def _compare(points: list[Point]) -> None:
    worst = 1.0
    for point in points:
        made = estimate(
            measurements().points,
            discipline=point.discipline, engine=point.engine, form=point.form, rows=point.rows,
        )  # fmt: skip
        if made is None:
            continue
        ratios = (made.seconds.value / point.seconds, made.memory_bytes.value / point.memory_bytes)
        factors = [max(ratio, 1 / ratio) for ratio in ratios]
        worst = max(worst, *factors)
        print(f"{point.discipline:<10} {point.form:<10} {point.rows:>11,} rows: time by a factor "
              f"of {factors[0]:.2f}, memory {factors[1]:.2f}")  # fmt: skip
    verdict = "floor met" if worst <= 1.5 else "BELOW THE FLOOR"
    print(f"{report.MARK} estimates of agon plan: within a factor of {worst:.2f} "
          f"(floor 1.5): {verdict}")  # fmt: skip


if __name__ == "__main__":
    main()
