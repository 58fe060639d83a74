"""The same community scored on several engines: the same board hash, and the ratio of the times.

Communities of sizes S and M (see ``size_l.py``) are simulated into Parquet files; each engine
scores them in a process of its own, in turn. With ``--spark``, which needs ``PYTHONPATH=tests``,
so does Apache Spark from ``SPARK_HOME``: for each size a standalone master, two workers of one core
each and a Spark Connect server. All runs have one session of it, which keeps what it compiled. The
first run, on Java processes that have compiled nothing, is stated apart; a cluster runs for weeks,
so the ratio is that of the later ones. The last line is JSON: versions, settings, and seconds with
those of CPU (of the process, and of Spark's) by size and engine.
"""

import argparse
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import orjson
import report  # type: ignore[import-not-found]  # of this folder
import size_l  # type: ignore[import-not-found]  # same

LIMITS = {"sail": 4.0, "spark": 8.0}
_PACKAGES = ("duckdb", "pyarrow", "pysail", "pyspark-client", "ibis-framework")
_SCORE = """
import sys
import agon
print(agon.score("community", sys.argv[1], engine=sys.argv[2]).board().sha256)
"""


def main() -> None:
    """Score on each engine, in turn, and print the least times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", choices=list(size_l.SIZES), nargs="+", default=["S", "M"])
    parser.add_argument("--spark", action="store_true", help="Apache Spark, too")
    parser.add_argument("--repeat", type=int, default=4, help="at least 2")
    options = parser.parse_args()
    report.header(*_PACKAGES)
    result: dict[str, Any] = {
        "processor": report.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {name: version(name) for name in _PACKAGES},
        "settings": {"repeat": options.repeat, "users": size_l.SIZES, "spark": None},
        "sizes": {},
    }
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        for size in options.sizes:
            source = folder / size
            size_l.simulate(size, source)
            with ExitStack() as started:
                cluster = None
                if options.spark:
                    import spark_cluster  # of the tests

                    cluster = started.enter_context(
                        spark_cluster.start_cluster(folder / f"spark-{size}", memory="3g",
                                                    quick=False)
                    )  # fmt: skip
                    result["settings"]["spark"] = cluster.conf
                result["sizes"][size] = _compare(size, source, cluster, options.repeat)
    print(orjson.dumps(result).decode())


def _compare(size: str, source: Path, cluster: Any, repeat: int) -> dict[str, Any]:
    """Score a folder on each engine, and return the least seconds with those of CPU."""
    engines = {"embedded": "embedded", "sail": "sail"}
    if cluster is not None:
        engines["spark"] = f"{cluster.address}/;session_id={uuid4()}"
    runs: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    boards = set()
    for _ in range(repeat):
        for engine, address in engines.items():
            command = [sys.executable, "-c", _SCORE, str(source), address]
            begin, before = time.perf_counter(), _cpu_seconds(engine, cluster)
            boards.add(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            used = _cpu_seconds(engine, cluster) - before
            runs[engine].append((time.perf_counter() - begin, used))
    assert len(boards) == 1, "the engines give different boards"
    if cluster is not None:
        runs["spark, first run"] = [runs["spark"].pop(0)]
    least = {engine: min(times) for engine, times in runs.items()}
    print(f"{size}: board {boards.pop().decode()[:12]} on all engines")
    for engine in LIMITS.keys() & engines.keys():
        floor = 1 / LIMITS[engine]
        what = f"community of size {size} on {engine}"
        report.compare(what, least[engine][0], "embedded", least["embedded"][0], floor, floor)
    return {
        "load": os.getloadavg()[0],
        **{engine: {"seconds": seconds, "cpu_seconds": used}
           for engine, (seconds, used) in least.items()},
    }  # fmt: skip


def _cpu_seconds(engine: str, cluster: Any) -> float:
    """Return the CPU seconds of the processes that were run, and of Spark's where it is used."""
    of_children = sum(os.times()[2:4])
    return of_children + (cluster.cpu_seconds if engine == "spark" else 0.0)


if __name__ == "__main__":
    main()
