"""From a record sent over HTTP to the board that shows it, at a million records.

``agon serve`` runs as an operator starts it: one process that answers, one worker. Each of some
records is sent with its ``POST``, and the board's page is asked for until it is of the record's
position. The limit is one second for all of that together.
"""

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import report  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder
from service_ingest import (  # type: ignore[import-not-found]  # of this folder
    arena,
    closing_service,
    community,
    fresh,
    settings,
)

from agon.app.access.permissions import LOCAL
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record

LIMIT_SECONDS = 1.0
FIRST_BOARD_SECONDS = 900.0
CONTEST = "million"


def main() -> None:
    """Measure each kind of records on each kind of database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="records")
    parser.add_argument("--changes", type=int, default=20, help="records sent one by one")
    parser.add_argument("--database", choices=KINDS, action="append")
    options = parser.parse_args()
    report.header("fastapi", "uvicorn", "sqlalchemy", "psycopg")
    made: dict[str, tuple[Callable[[int], Iterator[bytes]], Callable[[int], dict[str, Any]]]] = {
        "arena": (arena, a_match),
        "community": (community, a_feedback),
    }
    for kind in options.database or KINDS:
        for discipline, (lines, another) in made.items():
            with database(kind) as url, TemporaryDirectory() as folder:
                with closing_service(settings(url, Path(folder))) as service:
                    fresh(service, discipline, CONTEST)
                    record(service, CONTEST, read_ndjson(lines(options.size)), by=LOCAL)
                with serving(url, Path(folder)) as port:
                    seconds = measured(port, another, changes=options.changes)
            report_times(f"{discipline}, {options.size:,} records, {kind}", seconds)


def report_times(what: str, seconds: list[float]) -> None:
    """Print the times and compare the longest with the limit."""
    print(f"{what}: from a record to the board that shows it: median "
          f"{statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s of {len(seconds)}",
          flush=True)  # fmt: skip
    report.compare(f"{what}, record to board, longest", max(seconds), "limit", LIMIT_SECONDS, 1, 1)


def measured(port: int, another: Callable[[int], dict[str, Any]], *, changes: int) -> list[float]:
    """Send records one by one; return the seconds until the board has each."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        shown(connection, at_least=1, within=FIRST_BOARD_SECONDS)
        seconds = []
        for number in range(changes + 1):
            begin = time.perf_counter()
            body = orjson.dumps(another(number)) + b"\n"
            seq = asked(connection, "POST", f"/api/v1/contests/{CONTEST}/records", body)["last_seq"]
            shown(connection, at_least=seq, within=FIRST_BOARD_SECONDS)
            seconds.append(time.perf_counter() - begin)
            time.sleep(0.5)
    return seconds[1:]  # the first one loads what the worker will need


def shown(connection: http.client.HTTPConnection, *, at_least: int, within: float) -> None:
    """Wait until the default board is of a position."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        boards = asked(connection, "GET", f"/api/v1/contests/{CONTEST}/boards")["items"]
        if any(board["seq"] is not None and board["seq"] >= at_least for board in boards):
            return
        time.sleep(0.01)
    raise SystemExit(f"no board of position {at_least} came within {within:g} s")


def asked(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None
) -> dict[str, Any]:
    """Ask the server and return what it says."""
    connection.request(method, path, body, {"content-type": "application/x-ndjson"})
    answer = connection.getresponse()
    read = answer.read()
    assert answer.status < 300, read[:500]
    said: dict[str, Any] = orjson.loads(read)
    return said


def a_match(number: int) -> dict[str, Any]:
    """Make a match that nobody has voted on, with its winner."""
    row = {"id": f"late-{number}", "bot_a": "bot-0", "bot_b": "bot-1", "kind": "rated",
           "winner": "ab"[number % 2], "played_at": "2026-02-01T00:00:00Z"}  # fmt: skip
    return {"table": "matches", "row": row}


def a_feedback(number: int) -> dict[str, Any]:
    """Make a feedback."""
    row = {"id": f"late-{number}", "user_id": "user-0", "prompt_id": f"prompt-{number + 1}",
           "opinion": "positive", "created_at": "2026-02-01T00:00:00Z"}  # fmt: skip
    return {"table": "quick_feedbacks", "row": row}


@contextmanager
def serving(url: str, folder: Path) -> Iterator[int]:
    """Run ``agon serve`` with a worker; the port it answers at is lent."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {"AGON_SIGNING_KEY_FILE": str(folder / "signing.key"),
           "AGON_SERVER_KEY_FILE": str(folder / "server.key"),
           "AGON_RATE_LIMIT_ADDRESS": "1000000000/second"}  # fmt: skip
    command = [sys.executable, "-m", "agon", "serve", "--port", str(port), "--workers", "1",
               "--database", url, "--auth", "open"]  # fmt: skip
    process = subprocess.Popen(
        command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
