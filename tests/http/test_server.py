"""A real server process: slow and huge bodies, resumed streams, graceful shutdown."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from postgresql_server import Postgresql
from sizes import ALL

TIMEOUT_S = 60.0
HTTP = httpx2.Client(
    verify=False,
    timeout=TIMEOUT_S,
    limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
)
"""Opens a connection for each request; loading certificates would take longer than a request."""


@dataclass
class ServerProcess:
    """A running ``agon serve``."""

    process: subprocess.Popen[str]
    url: str
    token: str
    folder: Path
    output: list[str]

    @property
    def port(self) -> int:
        """Return the port that the server listens on."""
        return int(self.url.rsplit(":", 1)[1])

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request as the operator."""
        headers = {"authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return HTTP.request(method, f"{self.url}/api/v1{path}", headers=headers, **options)


def start(folder: Path, *options: str, **environment: str) -> ServerProcess:
    """Start a server on a free port and wait until it is ready."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "agon", "serve", "--port", "0", *options],
            cwd=folder,
            stdout=log,
            stderr=log,
            text=True,
            env={**os.environ, "AGON_LOG_FORMAT": "json", **environment},
        )
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        output = (folder / "log").read_text()
        url = re.search(r"(http://[^/ ]+)/api/v1", output)
        token = re.search(r"agon_\S+", output)
        if url is not None and (token is not None or "open auth" in output) and is_ready(url[1]):
            return ServerProcess(process, url[1], token[0] if token else "", folder, [])
        if process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    process.wait()
    pytest.fail(f"the server did not start: {output}")


def is_ready(url: str) -> bool:
    """Return whether a server is ready."""
    try:
        return HTTP.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Share one server without workers."""
    running = start(
        tmp_path_factory.mktemp("served"),
        "--workers",
        "0",
        AGON_MAX_BODY_MIB="2",
        AGON_RATE_LIMIT_TOKEN="1000000/minute",  # noqa: S106 (a rate)
        AGON_RATE_LIMIT_ADDRESS="1000000/minute",
        AGON_SSE_KEEPALIVE_SECONDS="1",
        AGON_SSE_STREAMS_PER_ADDRESS="3",
    )
    body = {"id": "spring", "discipline": "community", "title": "Spring"}
    assert running.request("POST", "/contests", json=body).status_code == 201
    yield running
    running.process.terminate()
    running.process.wait(TIMEOUT_S)


def test_the_log_contains_no_secrets(server: ServerProcess) -> None:
    """The first token is printed once at the start and never logged afterwards."""
    server.request("GET", "/me")
    HTTP.get(f"{server.url}/api/v1/me", headers={"authorization": "Bearer hunter2hunter2"})
    output = (server.folder / "log").read_text()
    assert output.count(server.token[28:]) == 1
    assert "hunter2hunter2" not in output


def test_a_huge_body_is_rejected_while_it_arrives(server: ServerProcess) -> None:
    """With or without a content length, a body cannot fill the disk."""
    headers = {"content-type": "application/x-ndjson"}
    response = server.request(
        "POST", "/contests/spring/records", content=b"x" * (3 << 20), headers=headers
    )
    assert (response.status_code, response.json()["code"]) == (413, "body-too-large")

    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as line:
        head = (
            f"POST /api/v1/contests/spring/records HTTP/1.1\r\nhost: x\r\n"
            f"authorization: Bearer {server.token}\r\ncontent-type: application/x-ndjson\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        )
        line.sendall(head.encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(48):
                line.sendall(piece)
        except OSError:
            pass  # the server closed the connection, as expected
        assert b"413" in line.recv(65536).split(b"\r\n", 1)[0]


def test_a_stalled_body_and_unfinished_headers_time_out(server: ServerProcess) -> None:
    """Silent clients must not hold connections open; both wait at once, as each takes long."""
    place = ("127.0.0.1", server.port)
    with (
        socket.create_connection(place, timeout=TIMEOUT_S) as stalled,
        socket.create_connection(place, timeout=TIMEOUT_S) as unfinished,
    ):
        head = (
            f"POST /api/v1/contests/spring/records HTTP/1.1\r\nhost: x\r\n"
            f"authorization: Bearer {server.token}\r\ncontent-type: application/x-ndjson\r\n"
            "content-length: 100\r\n\r\n{"
        )
        stalled.sendall(head.encode())
        unfinished.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ")
        began = time.monotonic()
        assert b"408" in stalled.recv(65536).split(b"\r\n", 1)[0]
        assert unfinished.recv(1024) == b""
        assert time.monotonic() - began < 30


def events(lines: Iterator[str], count: int) -> list[dict[str, Any]]:
    """Read a number of events from a stream."""
    items: list[dict[str, Any]] = []
    event: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name in {"id", "event"}:
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and event:
            items.append(event)
            event = {}
            if len(items) == count:
                break
    return items


def test_an_event_stream_resumes_after_the_last_event(server: ServerProcess) -> None:
    """A disconnected client misses no event and gets none twice."""
    body = {"id": "streamed", "discipline": "community", "title": "Streamed"}
    server.request("POST", "/contests", json=body)
    path = f"{server.url}/api/v1/contests/streamed/events"
    with HTTP.stream("GET", f"{path}?since=0") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        server.request("POST", "/contests/streamed/open")
        [opened] = events(stream.iter_lines(), 1)
    assert opened["event"] == "contest-opened"
    server.request("POST", "/contests/streamed/finalize")
    again = {"last-event-id": opened["id"]}
    with HTTP.stream("GET", path, headers=again) as stream:
        later = events(stream.iter_lines(), 5)  # four boards come before it
    assert "contest-finalised" in {one["event"] for one in later}
    assert len({one["id"] for one in (opened, *later)}) == 6


def test_an_idle_stream_sends_keep_alives(server: ServerProcess) -> None:
    """Proxies close idle connections."""
    path = f"{server.url}/api/v1/contests/spring/events"
    with HTTP.stream("GET", path) as stream:
        for line in stream.iter_lines():
            if line == ": alive":
                break


def test_the_streams_of_one_address_are_limited(server: ServerProcess) -> None:
    """One client must not take all streams."""
    path = f"{server.url}/api/v1/contests/spring/events"
    with httpx2.Client(timeout=TIMEOUT_S, verify=False) as client:
        held: list[httpx2.Response] = []

        def three_are_open() -> bool:
            """Open a stream; those of earlier tests are released once the server notices."""
            stream = client.send(client.build_request("GET", path), stream=True)
            if stream.status_code == 200:
                held.append(stream)
            else:
                stream.close()
            return len(held) == 3

        _until(three_are_open)
        rejected = client.get(path)
        assert (rejected.status_code, rejected.json()["code"]) == (429, "too-many")
        for one in held:
            one.close()
        held.clear()
        _until(three_are_open)
        for one in held:
            one.close()


def test_cached_pages_are_never_stale(server: ServerProcess) -> None:
    """A change in the database between two requests invalidates the page."""
    path = f"{server.url}/api/v1/contests/spring"
    boards_url = f"{server.url}/api/v1/contests/spring/boards"
    for _ in range(2):
        assert HTTP.get(boards_url).status_code == 200
    assert HTTP.get(path).json()["state"] == "draft"
    server.request("POST", "/contests/spring/open")
    assert HTTP.get(path).json()["state"] == "open"


@pytest.mark.exhaustive
def test_a_contest_runs_although_processes_are_killed(tmp_path: Path) -> None:
    """Killed processes are restarted, a worker publishes the records, and shutdown is graceful.

    The worker uses the database, also in a shell whose AGON_SERVER names a server to clients.
    """
    (temporary := tmp_path / "temporary").mkdir()
    processes = 2 if ALL else 1
    server = start(tmp_path, "--workers", "1", "--processes", str(processes), "--database",
                   "sqlite:///x.db", TMPDIR=str(temporary),
                   AGON_SERVER="http://127.0.0.1:9")  # fmt: skip
    try:
        children = subprocess.run(
            ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        assert len(children) == processes + 1
        for child in children:  # before there is a board whose temporary files would remain
            os.kill(int(child), signal.SIGKILL)
        body = {"id": "spring", "discipline": "community", "title": "Spring"}
        assert server.request("POST", "/contests", json=body).status_code == 201
        server.request("POST", "/contests/spring/open")
        record = {"table": "users", "row": {"id": "ada"}}
        sent = server.request("POST", "/contests/spring/records", json=record)
        assert sent.status_code == 201
        end = time.monotonic() + TIMEOUT_S
        board: Any = None
        while time.monotonic() < end:  # the first board may be that of the empty contest
            board = server.request("GET", "/contests/spring/boards/user-score")
            if board.status_code == 200 and board.json()["rows"]:
                break
            time.sleep(0.2)
        assert [row["id"] for row in board.json()["rows"]] == ["ada"]
        explained = server.request("GET", "/contests/spring/boards/user-score/explanations/ada")
        assert explained.status_code == 200
        path = f"{server.url}/api/v1/contests/spring/events"
        with HTTP.stream("GET", path) as stream:
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            for _ in stream.iter_lines():
                pass
        assert server.process.wait(TIMEOUT_S) == 0
        assert time.monotonic() - began < 30
        assert list(temporary.iterdir()) == []
    finally:
        server.process.kill()
        server.process.wait()
    with pytest.raises(httpx2.HTTPError):
        HTTP.get(f"{server.url}/healthz", timeout=2)


def test_a_public_address_without_authentication_is_rejected(tmp_path: Path) -> None:
    """Every caller would have the operator's permissions."""
    done = subprocess.run(
        [sys.executable, "-m", "agon", "serve", "--host", "0.0.0.0", "--auth", "open"],  # noqa: S104 (it is rejected)
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert 'auth = "required"' in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_server_and_worker_survive_a_restart_of_postgresql(
    postgresql: Postgresql, tmp_path: Path
) -> None:
    """Database updates must not require a restart of agon."""
    url = postgresql.address(postgresql.emptied())
    server = start(tmp_path, "--workers", "1", AGON_DATABASE=url)
    try:
        body = {"id": "spring", "discipline": "arena", "title": "Spring"}
        assert server.request("POST", "/contests", json=body).status_code == 201
        postgresql.stop()
        response = HTTP.get(f"{server.url}/readyz")
        assert (response.status_code, response.json()["code"]) == (503, "not-ready")
        assert server.request("GET", "/contests/spring").status_code == 503
        _until(lambda: "no jobs at present" in (tmp_path / "log").read_text())
        postgresql.start()
        _until(lambda: is_ready(server.url))
        bots = b'{"table":"bots","row":{"id":"ann","name":"Ann"}}\n'
        headers = {"content-type": "application/x-ndjson"}
        added = server.request("POST", "/contests/spring/records", content=bots, headers=headers)
        assert added.status_code == 201, added.text
        seq = server.request("GET", "/contests/spring").json()["seq"]
        _until(lambda: _published(server) == seq)
    finally:
        postgresql.start()
        server.process.terminate()
        assert server.process.wait(TIMEOUT_S) == 0
    output = (tmp_path / "log").read_text()
    assert "Traceback" not in output
    idle_lines = [line for line in output.splitlines() if "no jobs at present" in line]
    assert len(idle_lines) == len(set(idle_lines))  # shutting down, gone, starting: once each


def _published(server: ServerProcess) -> int | None:
    answer = server.request("GET", "/contests/spring/boards/bots")
    seq: int | None = answer.json()["seq"] if answer.status_code == 200 else None
    return seq


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.1)
