"""Time what people wait for: the first output of ``agon --help`` and ``agon score``, and listings.

The command of this environment runs as a process of its own, compiled modules allowed to stay
(``PYTHONDONTWRITEBYTECODE`` would make every start compile agon again). A thousand rows of each
discipline are scored from Parquet; each of them has to keep the limit. ``agon contest list`` and
``agon contest board`` are compared by CPU time with the import of the libraries that read and check
their rows, SQLAlchemy and pydantic.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import report  # type: ignore[import-not-found]  # of this folder

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


def cpu_seconds(*commands: list[str], repeat: int = 7) -> list[float]:
    """Return the median CPU seconds, user and system, of commands that run in turn."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(repeat + 1):
        for command, own in zip(commands, times, strict=True):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            own.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [sorted(own[1:])[repeat // 2] for own in times]


def compare_reading(agon: str, folder: Path) -> None:
    """Compare commands that read a database with the import of their libraries."""
    url = f"sqlite:///{folder}/agon.db"
    records = str(folder / "arena")
    create = ["contest", "create", "spring", "--discipline", "arena"]
    for arguments in (create, ["contest", "add", "spring", records]):
        subprocess.run([agon, *arguments, "--database", url], stdout=subprocess.DEVNULL, check=True)
    libraries = [sys.executable, "-c", "import sqlalchemy, pydantic; pydantic.BaseModel"]
    listing = [agon, "contest", "list", "--database", url]
    board = [agon, "contest", "board", "spring", "--database", url]
    listed, read, imported = cpu_seconds(listing, board, libraries)
    peer = "import sqlalchemy, pydantic"
    report.compare("agon contest list, CPU", listed, peer, imported, 0.25, 0.5)
    report.compare("agon contest board, CPU", read, peer, imported, 0.1, 0.5)


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
        compare_reading(agon, Path(folder))


if __name__ == "__main__":
    main()
