"""Score a community again after 1 % of its rows were added, from stored counts.

A simulated community is split into two files per table, the last hundredth of the rows being the
added file; earlier rows that refer to later ones refer to others. A full run, the run that stores
counts and the run that continues from them are processes of their own, `agon score --top 1`, as
installed without extras: pyarrow imports pandas where there is one, which takes 0.2 s of each. The
boards are compared in this process.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import report  # type: ignore[import-not-found]  # of this folder

from agon.app.analysis.incremental import score_incrementally
from agon.app.analysis.score import Result, score
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.simulate import Density, simulate
from agon.kernel.boards import Board

SIZES = {"S": 10_000, "M": 100_000, "L": 1_000_000}
LIMIT = 0.05
ADDED = 0.01

_AGON = """
import sys

class WithoutPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, WithoutPandas())
from agon.cli import main
main()
"""


def main() -> None:
    """Split, score and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=list(SIZES), default="M")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    report.header("duckdb", "pyarrow")
    print(f"{len(os.sched_getaffinity(0))} cores used, load {os.getloadavg()[0]:.1f}")
    with TemporaryDirectory() as folder:
        records, cache = Path(folder) / "records", Path(folder) / "cache"
        rows, late = _write(SIZES[options.size], records)
        print(f"{options.size}: {rows:,} rows, {late:,} added ({late / rows:.2%})")
        added = [file.rename(Path(folder) / file.parent.name) for file in _added(records)]
        first = _run(records, "--cache-dir", str(cache))
        for file in added:
            file.rename(records / file.name / "2026-02.parquet")
        size = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
        source = sum(file.stat().st_size for file in records.rglob("*.parquet"))
        full = min(_run(records) for _ in range(options.repeat))
        again = min(_run(records, "--cache-dir", str(cache)) for _ in range(options.repeat))
        print(f"{options.size}: full {_text(full)}; full, with counts stored {_text(first)}; from "
              f"counts {_text(again)}; counts {size / 2**20:,.0f} MiB, records "
              f"{source / 2**20:,.0f} MiB", flush=True)  # fmt: skip
        report.compare(f"{options.size}: from counts", again[0], "full run", full[0], 1 / LIMIT,
                       1 / LIMIT)  # fmt: skip
        _compare_in_process(options, records, cache)


def _text(run: tuple[float, float]) -> str:
    return f"{run[0]:.2f} s ({run[1]:.2f} s of CPU)"


def _compare_in_process(options: argparse.Namespace, records: Path, cache: Path) -> None:
    """Compare the boards, and the times in a process that runs already."""

    def board(result: Result) -> Board:
        with result.records:
            return result.board()

    def whole() -> Board:
        return board(score("community", records))

    def counted() -> Board:
        return board(score_incrementally("community", records, cache))

    assert whole().sha256 == counted().sha256
    full, again = report.medians(whole, counted, repeat=options.repeat)
    name = f"{options.size}, in a running process: from counts"
    report.compare(name, again, "full run", full, 1 / LIMIT, 1 / LIMIT)


def _run(records: Path, *options: str) -> tuple[float, float]:
    """Return seconds and CPU seconds of a run."""
    command = [sys.executable, "-c", _AGON, "score", "community", str(records), "--top", "1"]
    before, begin = os.times(), time.perf_counter()
    subprocess.run([*command, *options], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return time.perf_counter() - begin, sum(after[2:4]) - sum(before[2:4])


def _added(records: Path) -> list[Path]:
    return sorted(records.glob("*/2026-02.parquet"))


def _write(size: int, folder: Path) -> tuple[int, int]:
    """Write a community in two files per table; return the number of rows, and of added ones.

    The ids count from 1, so the last rows have the last ids, as in a database.
    """
    density = Density(prompts=5, feedbacks=50, responses=2, scores=2)
    tables = dict(simulate(size=size, seed=1, density=density).tables)
    first = {name: int(len(content) * (1 - ADDED)) for name, content in tables.items()}
    rows = sum(map(len, tables.values()))
    for name in list(tables):
        content = tables.pop(name)
        earlier, later = content.slice(0, first[name]), content.slice(first[name])
        for key in SCHEMA.table(name).foreign_keys:
            if key.column in earlier.column_names:
                at = earlier.schema.get_field_index(key.column)
                column = _before(earlier[key.column], first[key.other_table])
                earlier = earlier.set_column(at, key.column, column)
        (folder / name).mkdir(parents=True)
        pq.write_table(earlier, folder / name / "2026-01.parquet")
        pq.write_table(later, folder / name / "2026-02.parquet")
    return rows, rows - sum(first.values())


def _before(ids: pa.ChunkedArray, last: int) -> pa.ChunkedArray:
    """Return ids in which those after the last one are others."""
    numbers = ids.cast(pa.int64())
    return pc.if_else(pc.greater(numbers, last), pc.subtract(numbers, last), numbers).cast(ids.type)


if __name__ == "__main__":
    main()
