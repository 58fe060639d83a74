"""Pages and rows of a board of a million over HTTP, next to a static file of the same server.

One process of ``agon serve`` answers, with its log and its limits as they come (the limits' rates
alone are raised, for all requests come from one address). wrk asks for random pages and for the
rows of random people, and for a file as large as a page that the same process serves by
Starlette's StaticFiles, behind the same middleware.
"""

import argparse
import json
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import report  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder
from starlette.staticfiles import StaticFiles

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.summary import summarize
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.entities.contests import Contest, Snapshot
from agon.http.process import server
from agon.kernel.fingerprints import canonical_json
from agon.logs import start_logging
from agon.settings import Settings
from agon.store import open_store
from agon.wiring import open_service

PER_PAGE = 50
ADDRESSES = 20_000
LIMIT_SECONDS = 0.05
WITHIN = 1 / 5
MANY_REQUESTS = "1000000000/second"
SCRIPT = """
local paths, count = {}, 0
for line in io.lines(os.getenv("PATHS")) do count = count + 1; paths[count] = line end
function init(args) math.randomseed(tonumber(tostring({}):sub(10)) or 1) end
request = function() return wrk.format("GET", paths[math.random(count)]) end
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests":%d,"seconds":%f,"p50":%f,"p95":%f,"p99":%f,"failed":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6,
    latency:percentile(95) / 1e6, latency:percentile(99) / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


class Heard(NamedTuple):
    """What wrk measured: requests per second, and percentiles of their seconds."""

    rate: float
    p50: float
    p95: float
    p99: float


def main() -> None:
    """Publish a board, serve it, and ask from one connection and from many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--database", choices=KINDS, action="append")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: install the package wrk")
    report.header("fastapi", "uvicorn", "sqlalchemy", "psycopg")
    for kind in options.database or KINDS:
        with database(kind) as url, TemporaryDirectory() as folder:
            snapshot = published(url, Path(folder), rows=options.rows)
            with serving(url, Path(folder)) as port:
                measure(kind, port, Path(folder), snapshot, options)


def measure(
    kind: str, port: int, folder: Path, snapshot: Snapshot, options: argparse.Namespace
) -> None:
    """Ask for pages, rows and the file in turn; print each next to the file."""
    board = "/api/v1/contests/million/boards/bots"
    dice = secrets.SystemRandom()
    starts = [dice.randrange(0, snapshot.rows - PER_PAGE) for _ in range(ADDRESSES)]
    people = [dice.randrange(snapshot.rows) for _ in range(ADDRESSES)]
    addresses = {
        "file": ["/api/files/page.json"],
        "page": [f"{board}?cursor={Cursor(snapshot.no, start)}" for start in starts],
        "own row": [f"{board}/rows/{name(one)}" for one in people],
    }
    (folder / "files" / "page.json").write_bytes(fetched(port, addresses["page"][0]))
    for connections in (1, options.connections):
        heard = {
            what: ask(port, folder, paths, connections=connections, seconds=options.seconds)
            for what, paths in addresses.items()
        }
        many = f"{kind}, {snapshot.rows:,} rows, {connections} connection" + "s" * (connections > 1)
        for what, one in heard.items():
            print(f"{what}, {many}: {one.rate:,.0f}/s, p50 {one.p50 * 1e3:.1f} ms, "
                  f"p99 {one.p99 * 1e3:.1f} ms", flush=True)  # fmt: skip
        for what in ("page", "own row"):
            report.compare(f"{what}, {many}, a request", 1 / heard[what].rate,
                           "static file of the same server", 1 / heard["file"].rate,
                           WITHIN, WITHIN)  # fmt: skip
            report.compare(f"{what}, {many}, p99", heard[what].p99, "limit", LIMIT_SECONDS, 1, 1)


def ask(port: int, folder: Path, paths: list[str], *, connections: int, seconds: int) -> Heard:
    """Let wrk ask for random ones of the addresses, after a second to warm up."""
    (folder / "paths").write_text("\n".join(paths), encoding="utf-8")
    (folder / "script.lua").write_text(SCRIPT, encoding="utf-8")
    command = ["wrk", "-t1", f"-c{connections}", "--timeout", "30s",
               "-s", str(folder / "script.lua"), f"http://127.0.0.1:{port}"]  # fmt: skip
    environment = {"PATHS": str(folder / "paths"), "PATH": "/usr/bin:/usr/local/bin"}
    subprocess.run([*command, "-d1s"], env=environment, check=True, stdout=subprocess.DEVNULL)
    wrk = subprocess.run([*command, f"-d{seconds}s"], env=environment, check=True, text=True,
                         stdout=subprocess.PIPE)  # fmt: skip
    found = re.search(r"^\{.*\}$", wrk.stdout, re.MULTILINE)
    assert found, wrk.stdout
    value = json.loads(found[0])
    assert not value["failed"], wrk.stdout
    return Heard(value["requests"] / value["seconds"], value["p50"], value["p95"], value["p99"])


def published(url: str, folder: Path, *, rows: int) -> Snapshot:
    """Make a contest and a board as publishing would leave it."""
    service = open_service(settings(url, folder))
    try:
        create(service, NewContest(id="million", discipline="arena", title="A million",
                                   boards=("bots",)), by=LOCAL)  # fmt: skip
        contest = open_contest(service, "million", by=LOCAL)
    finally:
        service.store.close()
    store = open_store(url)
    try:
        with store.write() as session:
            return session.snapshots.add(
                proof(contest, rows=rows),
                lines=(line(place) for place in range(rows)),
                ids=(name(place) for place in range(rows)),
                unscored=(),
                summary=summarize(pa.Table.from_pylist([row(place) for place in range(rows)])),
            )
    finally:
        store.close()


def proof(contest: Contest, *, rows: int) -> Snapshot:
    """Make a snapshot's proof; the hashes are of the right length and of nothing."""
    at = datetime.now(UTC)
    manifest = {
        "contest": contest.id, "board": "bots", "edition": contest.edition, "overrides": {},
        "rules_sha256": "0" * 64, "seq": contest.seq, "head_sha256": contest.head.hex(),
        "board_sha256": "0" * 64, "merkle_root": "0" * 64, "rows": rows, "unscored": 0,
    }  # fmt: skip
    return Snapshot(no=0, contest_no=contest.no, board="bots", seq=contest.seq, at=at,
                    published_at=at, manifest=manifest, signature="0" * 128,
                    board_sha256="0" * 64, rows=rows, unscored=0, stored=True)  # fmt: skip


def line(place: int) -> bytes:
    """Write a row as it is stored."""
    return canonical_json(row(place))


def row(place: int) -> dict[str, Any]:
    """Make a row such as the arena's board has."""
    return {"rank": place + 1, "id": name(place), "score": 2400.0 - place / 1000, "matches": 31,
            "wins": 17, "losses": 12, "ties": 2, "qualified": True, "error": 41.25}  # fmt: skip


def name(place: int) -> str:
    """Name the user at a rank; names are not ordered by rank."""
    return f"bot-{place * 7919 % 10_000_019:08d}"


def settings(url: str, folder: Path) -> Settings:
    """Say how the service is run."""
    return Settings(
        database=url, signing_key_file=str(folder / "signing.key"),
        server_key_file=str(folder / "server.key"), rate_limit_address=MANY_REQUESTS,
        rate_limit_token=MANY_REQUESTS,
    )  # fmt: skip


@contextmanager
def serving(url: str, folder: Path) -> Iterator[int]:
    """Run a process of the server; the port it answers at is lent."""
    (folder / "files").mkdir()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        port = listening.getsockname()[1]
        command = [sys.executable, __file__, "--serve", str(listening.fileno()), url, str(folder)]
        process = subprocess.Popen(
            command, pass_fds=[listening.fileno()], stderr=subprocess.DEVNULL
        )
    try:
        fetched(port, "/readyz")
        yield port
    finally:
        process.terminate()
        process.wait()


def serve(handle: str, url: str, folder: str) -> None:
    """Be the server's process: as ``agon.http``, with the folder's files besides."""
    configuration = settings(url, Path(folder))
    start_logging(form=configuration.log_format, level=configuration.log_level)
    service = open_service(configuration, create=False)
    serving = server(service, configuration)
    app: Any = serving.config.app
    app.mount("/api/files", StaticFiles(directory=Path(folder) / "files"))
    serving.run(sockets=[socket.socket(fileno=int(handle))])


def fetched(port: int, path: str) -> bytes:
    """Fetch something once the server is there."""
    end = time.monotonic() + 120
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                connection.sendall(
                    f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode()
                )
                answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except OSError:
            answer = b""
        if answer.startswith(b"HTTP/1.1 200"):
            return answer.partition(b"\r\n\r\n")[2]
        if time.monotonic() > end:
            raise SystemExit(f"{path} is not answered: {answer[:200]!r}")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
