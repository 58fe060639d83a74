"""A million records into a contest's ledger, next to plain batched INSERTs into the same database.

The peer reads the same NDJSON with orjson and gives its rows to the driver's ``executemany`` in
batches of 10,000, into tables with the same columns, none of them empty, and a primary key, in one
transaction with the same settings of the database. So it rejects a row that is there already, as
any script of the kind does. It checks nothing else, chains nothing and looks up no references.

Both sides run by turns, and the medians of the rounds are compared: seconds on the clock, and on
SQLite, where both do all of their work in this process, seconds of processor time as well. Other
work on the machine changes those less.
"""

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson
import report  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder

from agon.app.access.permissions import LOCAL
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.http.process import server
from agon.settings import Settings
from agon.store.connection.engines import open_engine
from agon.wiring import open_service

WITHIN = 1 / 2
BATCH = 10_000
PER_REQUEST = 100_000
BOTS, USERS = 200, 1_000
KEYS = {"votes": ("match_id", "judge_id")}
"""Keys that are not ``id``."""


def main() -> None:
    """Measure each kind of records on each kind of database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="records")
    parser.add_argument("--rounds", type=int, default=3, help="by turns; their medians count")
    parser.add_argument("--database", choices=KINDS, action="append")
    parser.add_argument("--discipline", choices=("arena", "community"), action="append")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    report.header("sqlalchemy", "psycopg", "orjson")
    made: dict[str, Callable[[int], Iterator[bytes]]] = {"arena": arena, "community": community}
    for kind in options.database or KINDS:
        for discipline in options.discipline or made:
            with TemporaryDirectory() as folder:
                body = Path(folder) / "records.ndjson"
                body.write_bytes(b"".join(made[discipline](options.size)))
                measure(kind, discipline, body, options.size, options.rounds)


class Seconds(NamedTuple):
    """How long some work took: on the clock, and in processor time of this process."""

    wall: float
    processor: float


def measure(kind: str, discipline: str, body: Path, size: int, rounds: int) -> None:
    """Take the same records in by the use case, over HTTP, and by plain INSERTs, by turns."""
    times: dict[str, list[Seconds]] = defaultdict(list)
    for _ in range(rounds):
        for way, seconds in one_round(kind, discipline, body, size).items():
            times[way].append(seconds)
    wall = {way: statistics.median(each.wall for each in some) for way, some in times.items()}
    processor = {
        way: statistics.median(each.processor for each in some) for way, some in times.items()
    }
    for way in ("the use case", "HTTP"):
        print(f"{kind}, {discipline}, {way}: {size / wall[way]:,.0f} records a second")
        report.compare(f"{size:,} records of {discipline} by {way}, {kind}", wall[way],
                       "plain batched INSERTs", wall["INSERTs"], WITHIN, WITHIN)  # fmt: skip
    if kind == "sqlite":
        report.compare(f"the same by the use case, {kind}, processor time",
                       processor["the use case"], "plain batched INSERTs", processor["INSERTs"],
                       WITHIN, WITHIN)  # fmt: skip


def one_round(kind: str, discipline: str, body: Path, size: int) -> dict[str, Seconds]:
    """Return how long each way takes, each in an empty database."""
    with database(kind) as url, TemporaryDirectory() as folder:
        configuration = settings(url, Path(folder))
        with closing_service(configuration) as service:
            fresh(service, discipline, "direct")
            fresh(service, discipline, "http")
            direct = timed(lambda: by_use_case(service, body))
        with serving(configuration, Path(folder)) as port:
            over_http = timed(lambda: by_http(port, body))
        with closing_service(configuration) as service, service.store.read() as session:
            for name in ("direct", "http"):
                assert session.contests.get(name).seq >= size
    with database(kind) as url:
        plain = timed(lambda: by_inserts(url, body))
    return {"the use case": direct, "HTTP": over_http, "INSERTs": plain}


def timed(work: Callable[[], None]) -> Seconds:
    """Return how long some work takes."""
    begin, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - begin, time.process_time() - processor)


def by_use_case(service: Service, body: Path) -> None:
    """Record everything in one request, all or nothing."""
    with body.open("rb") as file:
        chunks = iter(lambda: file.read(1 << 18), b"")
        record(service, "direct", read_ndjson(chunks), by=LOCAL)


def by_http(port: int, body: Path) -> None:
    """Post the records, a hundred thousand a request."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection, body.open("rb") as f:
        while lines := list(islice(f, PER_REQUEST)):
            connection.request("POST", "/api/v1/contests/http/records", b"".join(lines),
                               {"content-type": "application/x-ndjson"})  # fmt: skip
            answer = connection.getresponse()
            answered = answer.read()
            assert answer.status < 300, answered[:500]


def by_inserts(url: str, body: Path) -> None:
    """Insert the rows as they are, in one transaction."""
    sqlite = url.startswith("sqlite")
    engine = open_engine(url)
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        mark = "?" if sqlite else "%s"
        if sqlite:
            cursor.execute("BEGIN IMMEDIATE")
        statements: dict[str, tuple[str, tuple[str, ...]]] = {}
        with body.open("rb") as file:
            while lines := list(islice(file, BATCH)):
                batch: dict[str, list[dict[str, Any]]] = {}
                for line in lines:
                    given = orjson.loads(line)
                    batch.setdefault(given["table"], []).append(given["row"])
                for table, rows in batch.items():
                    if table not in statements:
                        statements[table] = statement(cursor, table, rows[0], mark)
                    sql, names = statements[table]
                    cursor.executemany(sql, [tuple(row[name] for name in names) for row in rows])
        cursor.execute("COMMIT") if sqlite else connection.commit()
    engine.dispose()


def statement(cursor: Any, table: str, row: dict[str, Any], mark: str) -> tuple[str, Any]:
    """Make a table with a row's columns and its key; return how to insert into it."""
    names = tuple(row)
    columns = ", ".join(f"{name} TEXT NOT NULL" for name in names)
    key = ", ".join(KEYS.get(table, ("id",)))
    cursor.execute(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key}))")
    return f"INSERT INTO {table} VALUES ({', '.join([mark] * len(names))})", names


def arena(size: int) -> Iterator[bytes]:
    """Yield so many bots, judges, matches and votes, three votes to a match."""
    for number in range(BOTS):
        yield _line("bots", id=f"bot-{number}", name=f"Bot {number}")
        yield _line("judges", id=f"judge-{number}", kind="person")
    left = size - 2 * BOTS
    for number in range(-(-left // 4)):
        one = number % BOTS
        yield _line("matches", id=f"match-{number}", bot_a=f"bot-{one}", kind="rated",
                    bot_b=f"bot-{(one + 1 + number // BOTS % (BOTS - 1)) % BOTS}",
                    played_at=_time(number))  # fmt: skip
        for place in range(min(3, left - 4 * number - 1)):
            yield _line("votes", match_id=f"match-{number}", shown_first="ab"[number % 2],
                        judge_id=f"judge-{(number * 3 + place) % BOTS}",
                        vote=("A", "B", "tie")[(number + place) % 3],
                        voted_at=_time(number))  # fmt: skip


def community(size: int) -> Iterator[bytes]:
    """Yield so many users, prompts and feedbacks on prompts."""
    for number in range(USERS):
        yield _line("users", id=f"user-{number}", created_at=_time(0))
        yield _line("prompts", id=f"prompt-{number}", uploader_id=f"user-{number}")
    for number in range(size - 2 * USERS):
        yield _line("quick_feedbacks", id=f"feedback-{number}", user_id=f"user-{number % USERS}",
                    prompt_id=f"prompt-{(number * 7 + number // USERS) % USERS}",
                    opinion=("positive", "negative")[number % 3 == 0],
                    created_at=_time(number))  # fmt: skip


def _line(table: str, **row: Any) -> bytes:
    return orjson.dumps({"table": table, "row": row}) + b"\n"


def _time(number: int) -> str:
    return (f"2026-01-{1 + number // 86_400 % 28:02}T{number // 3600 % 24:02}:"
            f"{number // 60 % 60:02}:{number % 60:02}Z")  # fmt: skip


def settings(url: str, folder: Path) -> Settings:
    """Say how the service is run: here without tokens, every request is an operator's."""
    return Settings(database=url, signing_key_file=str(folder / "signing.key"), auth="open",
                    server_key_file=str(folder / "server.key"))  # fmt: skip


@contextmanager
def closing_service(configuration: Settings) -> Iterator[Service]:
    """Open the service and close it."""
    service = open_service(configuration)
    try:
        yield service
    finally:
        service.store.close()


def fresh(service: Service, discipline: str, name: str) -> None:
    """Create and open an empty contest."""
    create(service, NewContest(id=name, discipline=discipline, title=name), by=LOCAL)
    open_contest(service, name, by=LOCAL)


@contextmanager
def serving(configuration: Settings, folder: Path) -> Iterator[int]:
    """Run a process of the server; the port it answers at is lent."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        command = [sys.executable, __file__, "--serve", str(listening.fileno()),
                   configuration.database, str(folder)]  # fmt: skip
        process = subprocess.Popen(
            command, pass_fds=[listening.fileno()], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ,
        )  # fmt: skip
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            connection.request("GET", "/readyz")
            assert connection.getresponse().status == 200
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def serve(handle: str, url: str, folder: str) -> None:
    """Be the server's process, as ``agon.http`` is."""
    configuration = settings(url, Path(folder))
    server(open_service(configuration, create=False), configuration).run(
        sockets=[socket.socket(fileno=int(handle))]
    )


if __name__ == "__main__":
    main()
