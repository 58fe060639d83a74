"""Time what people wait for: ``agon --help``, and the first output of ``agon score``.

The command of this environment runs as a process of its own, compiled modules allowed to stay
(``PYTHONDONTWRITEBYTECODE`` would make every start compile agon anew). A thousand rows of each
discipline are scored from Parquet; each of them has to keep the limit.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import report  # type: ignore[import-not-found]  # stands beside this script

from agon.app.analysis.simulate import simulate, write_simulation
from agon.disciplines import BUILT_IN

ROWS = 1_000
HELP = (0.3, 0.15)
SCORE = (1.5, 0.8)


def first_output(arguments: list[str], *, repeat: int = 7) -> float:
    """Return the median seconds until a command has said its first byte."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.read(1)
            times.append(time.perf_counter() - begin)
            process.stdout.read()
        assert process.returncode == 0
    return sorted(times[1:])[repeat // 2]


def simulated(discipline: str, folder: Path) -> int:
    """Write records of about a thousand rows in all and return how many there are."""
    for size in (ROWS, 300, 100, 30, 10):
        made = simulate(discipline, size=size, seed=1)
        rows = sum(int(table.num_rows) for table in made.tables.values())
        if rows <= 2 * ROWS:
            break
    write_simulation(made, folder)
    return rows


def main() -> None:
    """Time the commands and print each against its limits."""
    report.header("click", "duckdb", "pyarrow")
    agon = str(Path(sys.executable).with_name("agon"))
    seconds = first_output([agon, "--help"])
    floor, aim = HELP
    report.compare("agon --help", seconds, "limit", floor, 1, floor / aim)
    with TemporaryDirectory() as folder:
        for name in BUILT_IN:
            rows = simulated(name, Path(folder) / name)
            seconds = first_output([agon, "score", name, str(Path(folder) / name)])
            floor, aim = SCORE
            label = f"agon score {name}, {rows:,} rows, first output"
            report.compare(label, seconds, "limit", floor, 1, floor / aim)


if __name__ == "__main__":
    main()
