"""Millions of arena matches rated by Elo and by Bradley–Terry, within a memory limit of the kernel.

Rated matches of a thousand bots are written to a Parquet file in parts; ``agon arena rate`` rates
them in a process of a memory cgroup (see ``size_l.py``). A process that needs more memory is
killed, which is printed. Needs root for the cgroup.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import report  # type: ignore[import-not-found]  # of this folder
import size_l  # type: ignore[import-not-found]  # of this folder

_BOTS = 1_000
_PART = 5_000_000
_TIES = 0.1


def main() -> None:
    """Write the matches, then rate them by each method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=10_000_000)
    parser.add_argument("--limit", type=float, default=4.0, help="GiB")
    parser.add_argument("--shuffled", action="store_true", help="not in order of play")
    options = parser.parse_args()
    report.header("duckdb", "pyarrow")
    with TemporaryDirectory() as folder:
        _write(Path(folder), options.matches, shuffled=options.shuffled)
        for method in ("elo", "bradley-terry"):
            print(
                f"{options.matches:,} matches by {method}: {_rate(folder, method, options.limit)}"
            )


def _write(folder: Path, matches: int, *, shuffled: bool) -> None:
    """Write bots with normal strengths and matches between random pairs."""
    dice = np.random.default_rng(1)
    ids = pa.array([f"bot-{number:04d}" for number in range(_BOTS)])
    pq.write_table(pa.table({"id": ids, "name": ids}), folder / "bots.parquet")
    strength = dice.normal(0, 200, _BOTS)
    start, writer = np.datetime64("2020-01-01", "us"), None
    order = dice.permutation(matches) if shuffled else np.arange(matches)
    for first in range(0, matches, _PART):
        numbers = order[first : first + _PART]
        a = dice.integers(0, _BOTS, len(numbers))
        b = (a + dice.integers(1, _BOTS, len(numbers))) % _BOTS
        chance = 1 / (1 + 10 ** ((strength[b] - strength[a]) / 400))
        wins = np.where(dice.random(len(numbers)) < chance, 0, 1)
        sides = np.where(dice.random(len(numbers)) < _TIES, 2, wins)
        table = pa.table(
            {
                "id": numbers + 1,
                "bot_a": ids.take(pa.array(a)),
                "bot_b": ids.take(pa.array(b)),
                "kind": pa.array(["rated"]).take(pa.array(np.zeros(len(numbers), np.int64))),
                "winner": pa.array(["a", "b", "tie"]).take(pa.array(sides)),
                "played_at": start + numbers.astype("timedelta64[s]"),
            }
        )
        writer = writer or pq.ParquetWriter(folder / "matches.parquet", table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def _rate(source: str, method: str, limit: float) -> str:
    """Return seconds and peak of a rating under the limit, or that it was killed."""
    with size_l.limit_memory(int(limit * 2**30)) as (join, peak):
        command = ["sh", "-c", f'echo $$ > {join} && exec "$@"', "sh", sys.executable, "-m",
                   "agon", "arena", "rate", source, "--method", method]  # fmt: skip
        before, begin = os.times(), time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        seconds, after = time.perf_counter() - begin, os.times()
        used = sum(after[2:4]) - sum(before[2:4])
        outcome = "rated" if done.returncode == 0 else f"ended with {done.returncode}"
        return (
            f"{outcome} after {seconds:.1f} s, {used:.1f} s of CPU, peak "
            f"{int(peak.read_text()) / 2**20:,.0f} of {limit * 1024:,.0f} MiB, "
            f"load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
