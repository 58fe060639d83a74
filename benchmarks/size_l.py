"""A million users, 50 million feedbacks and 20 million scores, within 4 GiB that the kernel counts.

Communities of sizes S, M and L (ten thousand, a hundred thousand and a million users; five prompts,
fifty feedbacks and twenty scores each) are simulated into Parquet files and scored in a process of
a memory cgroup: its limit is enforced by the kernel, which counts the file cache too and kills the
process at once. The growth exponent is log(time of L / time of M) / log(10). Needs root for the
cgroup.
"""

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import report  # type: ignore[import-not-found]  # of this folder

SIZES = {"S": 10_000, "M": 100_000, "L": 1_000_000}
LIMIT_SECONDS = 15.0
_SIMULATE = """
import sys
from pathlib import Path
from agon.disciplines.community.simulate import Density, simulate
from agon.records.writing import write_tables
density = Density(prompts=5, feedbacks=50, responses=2, scores=2)
made = simulate(size=int(sys.argv[1]), seed=1, density=density)
write_tables(made.tables, Path(sys.argv[2]))
"""


def main() -> None:
    """Simulate and score each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", choices=list(SIZES), nargs="+", default=list(SIZES))
    parser.add_argument("--limit", type=float, default=4.0, help="GiB")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nice", type=int, default=0)
    options = parser.parse_args()
    report.header("duckdb", "pyarrow")
    print(f"{len(os.sched_getaffinity(0))} cores used, load {os.getloadavg()[0]:.1f}, "
          f"limit {options.limit} GiB")  # fmt: skip
    seconds: dict[str, float] = {}
    for name in options.sizes:
        with TemporaryDirectory() as folder:
            source = Path(folder) / "records"
            simulate(name, source)
            runs = [_run(source, options, "table") for _ in range(options.repeat)]
            hashed = _run(source, options, "json")
        seconds[name], cpu_seconds, peak, _ = min(runs)
        board = orjson.loads(hashed[3])["board_sha256"]
        print(f"{name}: {SIZES[name]:>9,} users: {seconds[name]:.2f} s, {cpu_seconds:.2f} s of "
              f"CPU, peak {peak / 2**20:,.0f} MiB with the file cache; with the records' hash "
              f"{hashed[0]:.2f} s, {hashed[1]:.2f} s of CPU; board {board[:12]}",
              flush=True)  # fmt: skip
        if name == "L":
            what = f"community of size L within {options.limit:g} GiB"
            report.compare(what, seconds[name], "limit", LIMIT_SECONDS, 1, 1)
    for small, large in (("S", "M"), ("M", "L")):
        if small in seconds and large in seconds:
            exponent = math.log10(seconds[large] / seconds[small])
            print(f"growth exponent {small} to {large}: {exponent:.2f}")


def simulate(size: str, folder: Path) -> None:
    """Write a community of a size into a folder, by a process whose memory is then free."""
    command = [sys.executable, "-c", _SIMULATE, str(SIZES[size]), str(folder)]
    subprocess.run(command, check=True)


def _run(source: Path, options: argparse.Namespace, form: str) -> tuple[float, float, int, bytes]:
    """Score under the limit; return seconds, CPU seconds, peak in bytes and the output.

    The JSON has the hash of all records, too.
    """
    with limit_memory(int(options.limit * 2**30)) as (join, peak):
        command = ["sh", "-c", f'echo $$ > {join} && exec nice -n {options.nice} "$@"', "sh",
                   sys.executable, "-m", "agon", "score", "community", str(source),
                   "--top", "1", "--format", form]  # fmt: skip
        before, begin = os.times(), time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        seconds, after = time.perf_counter() - begin, os.times()
        used = sum(after[2:4]) - sum(before[2:4])
        return seconds, used, int(peak.read_text()), done.stdout


@contextmanager
def limit_memory(limit: int) -> Iterator[tuple[Path, Path]]:
    """Make a cgroup with a limit of memory; lend the file that joins it and that of its peak."""
    first = Path("/sys/fs/cgroup/memory")
    group = (first if first.exists() else Path("/sys/fs/cgroup")) / f"agon-{os.getpid()}"
    group.mkdir()
    try:
        if first.exists():
            (group / "memory.limit_in_bytes").write_text(str(limit))
            yield group / "cgroup.procs", group / "memory.max_usage_in_bytes"
        else:
            (group / "memory.max").write_text(str(limit))
            (group / "memory.swap.max").write_text("0")
            yield group / "cgroup.procs", group / "memory.peak"
    finally:
        group.rmdir()


if __name__ == "__main__":
    main()
