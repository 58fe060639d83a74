"""A server process in 1 GiB under floods of all that is expensive, over forty connections."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agon.app.access.tokens import Grant, create_token
from agon.app.access.users import create_user
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.summary import summarize
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.app.service import Service
from agon.entities.access import Everywhere
from agon.entities.contests import Contest, Snapshot
from agon.kernel.fingerprints import canonical_json
from fakes.memory import memory_limit, peak, reset_peak
from fakes.service import OPERATOR, ORGANISER, service_at
from sizes import ALL, size

LIMIT = 1 << 30
CONNECTIONS = 40
ROWS = size(300_000, at_least=10_000, dear=True)
TIMEOUT_S = 120.0
PASSWORD = "correct horse battery"  # noqa: S105 - a test's
MANY = "1000000000/minute"
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Server:
    """A running server process and the token of an operator."""

    process: subprocess.Popen[bytes]
    port: int
    token: str

    def send(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] = {}
    ) -> tuple[int, str | None]:
        """Send a request, read the whole response, and return its status and Retry-After."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            while response.read(1 << 16):
                pass
            return response.status, response.headers.get("retry-after")
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a contest with records and one with a large board, in a control group of 1 GiB."""
    folder = tmp_path_factory.mktemp("floods")
    service = service_at(folder)
    create_user(service, user="root", password=PASSWORD, by=OPERATOR)
    _, token = create_token(
        service, Grant(user="root", role="operator", contests=Everywhere.ALL), by=OPERATOR
    )
    _community(service)
    _large_board(service)
    service.store.close()
    environment = {
        **os.environ,
        "AGON_DATABASE": f"sqlite:///{folder}/agon.db",
        "AGON_SIGNING_KEY_FILE": str(_key(folder / "signing.key")),
        "AGON_SERVER_KEY_FILE": str(_key(folder / "server.key")),
        "AGON_RATE_LIMIT_TOKEN": MANY,
        "AGON_RATE_LIMIT_ADDRESS": MANY,
        "AGON_LOG_LEVEL": "error",
    }
    with (
        memory_limit(f"agon-floods-{os.getpid()}", LIMIT) as words,
        socket.create_server(("127.0.0.1", 0), backlog=2048) as listening,
    ):
        command = [*words, sys.executable, "-m", "agon.http", str(listening.fileno())]
        process = subprocess.Popen(command, pass_fds=[listening.fileno()], env=environment)
        running = Server(process, listening.getsockname()[1], token)
        try:
            assert running.send("GET", "/readyz")[0] == 200
            yield running
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


def _key(path: Path) -> Path:
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path


def _community(service: Service) -> None:
    new = creation.NewContest(id="spring", discipline="community", title="Spring")
    creation.create(service, new, by=ORGANISER)
    transitions.open_contest(service, "spring", by=ORGANISER)
    people = [f"u{number}" for number in range(40)]
    rows = [
        *(("users", {"id": name}, None) for name in people),
        *(("prompts", {"id": f"p-{name}", "author": name}, None) for name in people),
    ]
    record(service, "spring", rows, by=ORGANISER)
    publish(service, "spring")


def _row(place: int) -> dict[str, Any]:
    return {"rank": place + 1, "id": f"bot-{place:07}", "score": 2400.0 - place / 1000,
            "matches": 31, "wins": place % 997, "losses": 12, "error": 41.25}  # fmt: skip


def _large_board(service: Service) -> None:
    """Store a board of many rows as publishing leaves it; the hashes are of nothing."""
    new = creation.NewContest(id="large", discipline="arena", title="Large", boards=("bots",))
    creation.create(service, new, by=ORGANISER)
    contest: Contest = transitions.open_contest(service, "large", by=ORGANISER)
    at = service.clock()
    manifest = {
        "contest": contest.id, "board": "bots", "edition": contest.edition, "overrides": {},
        "rules_sha256": "0" * 64, "seq": contest.seq, "head_sha256": contest.head.hex(),
        "board_sha256": "0" * 64, "merkle_root": "0" * 64, "rows": ROWS, "unscored": 0,
    }  # fmt: skip
    snapshot = Snapshot(
        no=0, contest_no=contest.no, board="bots", seq=contest.seq, at=at, published_at=at,
        manifest=manifest, signature="0" * 128, board_sha256="0" * 64, rows=ROWS, unscored=0,
        stored=True,
    )  # fmt: skip
    rows = [_row(place) for place in range(ROWS)]
    with service.store.write() as session:
        session.snapshots.add(
            snapshot,
            lines=map(canonical_json, rows),
            ids=(row["id"] for row in rows),
            unscored=(),
            summary=summarize(pa.Table.from_pylist(rows)),
        )


@dataclass(frozen=True)
class Flood:
    """Requests of one kind.

    Attributes:
        name: of the test.
        path: of a request, with ``{n}`` for its number, and ``{m}`` for that of a user.
        body: of a request, likewise; None: it is a GET.
        headers: of a request.
        authenticated: whether it has the operator's token.
        overflows: whether more requests arrive than can wait, on any machine.
        growth: maximum growth of memory in bytes.
    """

    name: str
    path: str
    body: str | None = None
    headers: Mapping[str, str] | None = None
    authenticated: bool = False
    overflows: bool = False
    growth: int = LIMIT // 2


C, S = "/api/v1/contests", "/api/v1/contests/spring"
LARGE = f"{C}/large/boards/bots"
FLOODS = (
    Flood("sign-in", "/sign-in", f"user=invented{{n}}&password={PASSWORD}", FORM,
          overflows=True, growth=300 << 20),
    Flood("cards", "/c/spring/card/u{m}.png?n={n}", overflows=True),
    Flood("parquet", f"{LARGE}?format=parquet", overflows=True),
    Flood("exports", f"{S}/export", authenticated=True, overflows=True),
)  # fmt: skip
OTHERS = (
    Flood("real-sign-in", "/sign-in", "user=root&password=wrong+password+{n}", FORM,
          growth=300 << 20),
    Flood("users", "/api/v1/users", json.dumps({"id": "u-{n}", "password": PASSWORD}), JSON,
          authenticated=True, overflows=True, growth=300 << 20),
    Flood("join", "/join", f"code=invite_{'a' * 22}_{'b' * 43}&user=n{{n}}&password={PASSWORD}",
          FORM),
    Flood("csv", f"{LARGE}?format=csv", overflows=True),
    Flood("csv-page", "/c/large/boards/bots.csv", overflows=True),
    Flood("searches", f"{LARGE}?q=9{{n}}"),
    Flood("searched-pages", "/c/large/boards/bots?q=9{n}"),
    Flood("sorted-boards", f"{LARGE}?sort=-wins&limit=500"),
    Flood("proofs", f"{LARGE}/proofs/bot-00000{{n}}", overflows=True),
    Flood("what-if", f"{S}/boards/user-score/what-if/u{{m}}"),
    Flood("explanations", f"{S}/boards/user-score/explanations/u{{m}}"),
    Flood("rules-effect", f"{S}/boards/user-score/rules-effect"),
    Flood("dry-runs", f"{S}/records?table=users&dry_run=true",
          "".join(f'{{"id":"new{number}"}}\n' for number in range(20_000)), NDJSON,
          authenticated=True),
    Flood("large-values", f"{S}/submissions", json.dumps({"content": ["x" * 9] * 300_000}), JSON,
          authenticated=True),
    Flood("ledgers", f"{S}/ledger", authenticated=True),
    Flood("badges", "/c/spring/badge/u{m}.svg?n={n}"),
    Flood("feeds", "/c/spring/feed.xml?n={n}"),
    Flood("distribution", "/c/large/distribution?n={n}"),
    Flood("people", "/c/spring/people/u{m}?n={n}"),
    Flood("robustness", "/c/large/robustness?n={n}"),
)  # fmt: skip


def _numbered(text: str, number: int) -> str:
    return text.replace("{n}", str(number)).replace("{m}", str(number % 40))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "flood", [*FLOODS, *(OTHERS if ALL else ())], ids=lambda flood: str(flood.name)
)
def test_a_flood_neither_fills_the_memory_nor_stops_other_requests(
    server: Server, flood: Flood
) -> None:
    """A hundred sign-ins with invented names filled 2.7 GiB and killed the server."""
    before = reset_peak(server.process.pid)
    token = {"authorization": f"Bearer {server.token}"}
    headers = {**(flood.headers or {}), **(token if flood.authenticated else {})}
    method = "GET" if flood.body is None else "POST"

    def body(number: int) -> str | None:
        return None if flood.body is None else _numbered(flood.body, number)

    def send(number: int) -> tuple[int, str | None]:
        return server.send(method, _numbered(flood.path, number), body(number), headers)

    others: list[int] = []
    ended = threading.Event()

    def load_own_page() -> None:
        while not ended.is_set():
            others.append(server.send("GET", "/api/v1/me", headers=token)[0])
            ended.wait(0.1)

    with ThreadPoolExecutor(CONNECTIONS + 1) as threads:
        other = threads.submit(load_own_page)
        try:
            responses = list(threads.map(send, range(3 * CONNECTIONS)))
        finally:
            ended.set()
        other.result(TIMEOUT_S)
    assert server.process.poll() is None
    largest = peak(server.process.pid)
    assert largest < LIMIT
    assert largest - before < flood.growth
    assert set(others) == {200}
    statuses = Counter(status for status, _ in responses)
    assert statuses.keys() <= {200, 201, 202, 401, 404, 409, 422, 429, 503}
    assert all(wait is not None for status, wait in responses if status in {429, 503})
    assert statuses[503] or not flood.overflows
    assert len(responses) > statuses[503]
