"""JSON pages of 50 rows of a board of a million, from agon and from datasette, by 64 connections.

Each is one process that serves the same rows from SQLite: agon as ``agon serve`` runs it, datasette
with its file opened as immutable and without counts and facets, which is its fastest. wrk asks both
for random pages, in turns, so that other work on the machine hits both.
"""

import argparse
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import orjson
import report  # type: ignore[import-not-found]  # of this folder
import service_pages as pages  # type: ignore[import-not-found]  # of this folder

from agon.app.contests.boards.cursors import Cursor

RATE_FLOOR, RATE_AIM = 5, 6
P99_FLOOR = P99_AIM = 3
TABLE = "million"
PROCESSES = {"agon": "service_pages.py", "datasette": "--immutable"}
"""A word in the command of each server."""


def main() -> None:
    """Publish a board, store its rows for datasette, and ask both in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--datasette", default=str(Path(sys.executable).with_name("datasette")))
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: install the package wrk")
    report.header("fastapi", "uvicorn")
    peer = [options.datasette, "--version"]
    print(subprocess.run(peer, check=True, text=True, stdout=subprocess.PIPE).stdout.strip())
    with TemporaryDirectory(prefix="agon-benchmark-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder}/agon.db"
        snapshot = pages.published(url, folder, rows=options.rows)
        store(folder / "rows.db", rows=options.rows)
        dice = Random(1)  # noqa: S311 (which pages)
        starts = [dice.randrange(options.rows - pages.PER_PAGE) for _ in range(pages.ADDRESSES)]
        board = "/api/v1/contests/million/boards/bots"
        addresses = {
            "agon": [f"{board}?cursor={Cursor(snapshot.no, start)}" for start in starts],
            "datasette": [
                f"/rows/{TABLE}.json?_size={pages.PER_PAGE}&_nocount=1&_nofacet=1&_next={start}"
                for start in starts
            ],
        }
        with (
            pages.serving(url, folder) as port,
            datasette(options.datasette, folder / "rows.db") as peer_port,
        ):
            ports = {"agon": port, "datasette": peer_port}
            for server, paths in addresses.items():
                require_page(ports[server], paths[0], start=starts[0])
            measure(options, folder, ports, addresses)


def measure(
    options: argparse.Namespace,
    folder: Path,
    ports: dict[str, int],
    addresses: dict[str, list[str]],
) -> None:
    """Ask both in turns; print each, and the medians next to each other."""
    rounds: list[dict[str, pages.Heard]] = []
    cpu: dict[str, list[float]] = {server: [] for server in addresses}
    for _ in range(options.rounds):
        answers = {}
        for server, paths in addresses.items():
            before = cpu_seconds(PROCESSES[server])
            heard = pages.ask(ports[server], folder, paths, connections=options.connections,
                              seconds=options.seconds)  # fmt: skip
            answers[server] = heard
            # wrk warms up for a second before it counts.
            asked = heard.rate * (options.seconds + 1)
            spent = (cpu_seconds(PROCESSES[server]) - before) / asked
            cpu[server].append(spent)
            print(f"{server}, {options.rows:,} rows, {options.connections} connections: "
                  f"{heard.rate:,.0f} pages/s, p50 {heard.p50 * 1e3:.1f} ms, "
                  f"p99 {heard.p99 * 1e3:.1f} ms, {spent * 1e3:.2f} ms of CPU a page, "
                  f"load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
        rounds.append(answers)
    middle = {
        server: pages.Heard(*map(statistics.median, zip(*(one[server] for one in rounds),
                                                        strict=True)))
        for server in addresses
    }  # fmt: skip
    ours, theirs = middle["agon"], middle["datasette"]
    what = f"JSON page of 50 of {options.rows:,} rows, {options.connections} connections"
    report.compare(f"{what}, a page", 1 / ours.rate, "datasette", 1 / theirs.rate,
                   RATE_FLOOR, RATE_AIM)  # fmt: skip
    report.compare(f"{what}, CPU of a page", statistics.median(cpu["agon"]), "datasette",
                   statistics.median(cpu["datasette"]), RATE_FLOOR, RATE_AIM)  # fmt: skip
    report.compare(f"{what}, p50", ours.p50, "datasette", theirs.p50, P99_FLOOR, P99_AIM)
    report.compare(f"{what}, p99", ours.p99, "datasette", theirs.p99, P99_FLOOR, P99_AIM)


def cpu_seconds(word: str) -> float:
    """Return the processor time of the child process whose command has a word."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and word.encode() in (folder / "cmdline").read_bytes():
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def store(file: Path, *, rows: int) -> None:
    """Store the rows of the board as a table whose key is the rank."""
    names = [name for name in pages.row(0) if name != "rank"]
    with sqlite3.connect(file) as connection:
        columns = "".join(f', "{name}"' for name in names)
        connection.execute(f'CREATE TABLE "{TABLE}" (rank INTEGER PRIMARY KEY{columns})')
        marks = ", ".join("?" * (len(names) + 1))
        values = (
            (row["rank"], *(row[name] for name in names)) for row in map(pages.row, range(rows))
        )
        connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', values)
    connection.close()


def require_page(port: int, path: str, *, start: int) -> None:
    """Require that a server answers with the 50 rows after an index."""
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as response:
        page = orjson.loads(response.read())
    first = page["rows"][0]
    rank = first["rank"] if isinstance(first, dict) else first[0]
    assert (len(page["rows"]), rank) == (pages.PER_PAGE, start + 1), page


@contextmanager
def datasette(program: str, file: Path) -> Iterator[int]:
    """Run datasette; the port it answers at is lent."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, "serve", "--immutable", str(file), "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        pages.fetched(port, "/-/versions.json")
        yield port
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
