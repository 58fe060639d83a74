"""The same community scored on several engines: the same board hash, and the ratio of the times.

A community of size M (a hundred thousand users; five prompts, fifty feedbacks and twenty scores
each) is simulated into Parquet files; each engine scores it in a process of its own, in turn.
``--engine`` adds a server that runs already (``sc://host:port``); its cores must be those of the
other engines.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import report  # type: ignore[import-not-found]  # stands beside this script

LIMITS = {"sail": 4.0}
_LIMIT = 8.0
_SIMULATE = """
import sys
from pathlib import Path
from agon.disciplines.community.simulate import Density, simulate
from agon.records.writing import write_tables
density = Density(prompts=5, feedbacks=50, responses=2, scores=2)
made = simulate(size=int(sys.argv[1]), seed=1, density=density)
write_tables(made.tables, Path(sys.argv[2]))
"""
_SCORE = """
import sys
import agon
print(agon.score("community", sys.argv[1], engine=sys.argv[2]).board().sha256)
"""


def main() -> None:
    """Score on each engine, in turn, and print the least times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="users")
    parser.add_argument("--engine", action="append", default=[], help="a further engine")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    engines = ["embedded", "sail", *options.engine]
    report.header("duckdb", "pyarrow", "pysail", "pyspark-client", "ibis-framework")
    settings = {"cores": len(os.sched_getaffinity(0)), "users": options.size,
                "repeat": options.repeat, "load": os.getloadavg()[0]}  # fmt: skip
    print(orjson.dumps(settings).decode())
    seconds: dict[str, list[float]] = {engine: [] for engine in engines}
    boards = set()
    with TemporaryDirectory() as folder:
        source = Path(folder) / "records"
        command = [sys.executable, "-c", _SIMULATE, str(options.size), str(source)]
        subprocess.run(command, check=True)
        for _ in range(options.repeat):
            for engine in engines:
                begin = time.perf_counter()
                command = [sys.executable, "-c", _SCORE, str(source), engine]
                boards.add(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
                seconds[engine].append(time.perf_counter() - begin)
    assert len(boards) == 1, "the engines give different boards"
    least = {engine: min(times) for engine, times in seconds.items()}
    print(f"board {boards.pop().decode()[:12]} on all engines")
    for engine in engines[1:]:
        floor = 1 / LIMITS.get(engine, _LIMIT)
        what = f"community of {options.size:,} users on {engine}"
        report.compare(what, least[engine], "embedded", least["embedded"], floor, floor)


if __name__ == "__main__":
    main()
