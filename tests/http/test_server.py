"""A real server process: slow and huge bodies, streams that resume, an end in good order."""

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

from conftest import Postgresql

PATIENCE = 60.0


@dataclass
class Served:
    """Hold a running ``agon serve``."""

    process: subprocess.Popen[str]
    url: str
    token: str
    folder: Path
    said: list[str]

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self.url.rsplit(":", 1)[1])

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Ask as the operator."""
        headers = {"authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return httpx2.request(
            method, f"{self.url}/api/v1{path}", headers=headers, timeout=PATIENCE, **options
        )


def start(folder: Path, *options: str, **environment: str) -> Served:
    """Start a server on a free port and wait until it answers."""
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "agon", "serve", "--port", "0", *options],
        cwd=folder,
        stdout=log,
        stderr=log,
        text=True,
        env={**os.environ, "AGON_LOG_FORMAT": "json", **environment},
    )
    log.close()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = (folder / "log").read_text()
        url = re.search(r"(http://[^/ ]+)/api/v1", said)
        token = re.search(r"agon_\S+", said)
        if url is not None and (token is not None or "open auth" in said) and answers(url[1]):
            return Served(process, url[1], token[0] if token else "", folder, [])
        assert process.poll() is None, said
        time.sleep(0.1)
    process.kill()
    pytest.fail(f"the server did not start: {said}")


def answers(url: str) -> bool:
    """Tell whether a server is ready."""
    try:
        return httpx2.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Share one server without workers."""
    server = start(
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
    assert server.ask("POST", "/contests", json=body).status_code == 201
    yield server
    server.process.terminate()
    server.process.wait(PATIENCE)


def test_no_secret_is_in_the_log(served: Served) -> None:
    """The first token is shown to whoever started the server, and to no log after that."""
    served.ask("GET", "/me")
    httpx2.get(f"{served.url}/api/v1/me", headers={"authorization": "Bearer hunter2hunter2"})
    said = (served.folder / "log").read_text()
    assert said.count(served.token[28:]) == 1
    assert "hunter2hunter2" not in said


def test_a_huge_body_is_refused_while_it_comes(served: Served) -> None:
    """With its length told, and without: nobody fills the disk."""
    headers = {"content-type": "application/x-ndjson"}
    told = served.ask("POST", "/contests/spring/records", content=b"x" * (3 << 20), headers=headers)
    assert (told.status_code, told.json()["code"]) == (413, "body-too-large")

    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        head = (
            f"POST /api/v1/contests/spring/records HTTP/1.1\r\nhost: x\r\n"
            f"authorization: Bearer {served.token}\r\ncontent-type: application/x-ndjson\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        )
        line.sendall(head.encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(48):
                line.sendall(piece)
        except OSError:
            pass  # it was cut, as it should be
        assert b"413" in line.recv(65536).split(b"\r\n", 1)[0]


def test_a_slow_body_is_given_up(served: Served) -> None:
    """A client that says nothing for long holds nothing open."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        head = (
            f"POST /api/v1/contests/spring/records HTTP/1.1\r\nhost: x\r\n"
            f"authorization: Bearer {served.token}\r\ncontent-type: application/x-ndjson\r\n"
            "content-length: 100\r\n\r\n{"
        )
        line.sendall(head.encode())
        assert b"408" in line.recv(65536).split(b"\r\n", 1)[0]


def test_a_head_that_never_ends_is_given_up(served: Served) -> None:
    """Thousands of half-sent heads must not keep others out."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ")
        began = time.monotonic()
        assert line.recv(1024) == b""
        assert time.monotonic() - began < 30


def events(lines: Iterator[str], count: int) -> list[dict[str, Any]]:
    """Read so many events of a stream."""
    found: list[dict[str, Any]] = []
    event: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name in {"id", "event"}:
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and event:
            found.append(event)
            event = {}
            if len(found) == count:
                break
    return found


def test_a_stream_tells_what_happens_and_goes_on_where_it_was_left(served: Served) -> None:
    """A client that was cut off misses nothing and hears nothing twice."""
    body = {"id": "streamed", "discipline": "community", "title": "Streamed"}
    served.ask("POST", "/contests", json=body)
    path = f"{served.url}/api/v1/contests/streamed/events"
    with httpx2.stream("GET", f"{path}?since=0", timeout=PATIENCE) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        served.ask("POST", "/contests/streamed/open")
        [opened] = events(stream.iter_lines(), 1)
    assert opened["event"] == "contest-opened"
    served.ask("POST", "/contests/streamed/finalize")
    again = {"last-event-id": opened["id"]}
    with httpx2.stream("GET", path, headers=again, timeout=PATIENCE) as stream:
        later = events(stream.iter_lines(), 5)  # four boards come before it
    assert "contest-finalised" in {one["event"] for one in later}
    assert len({one["id"] for one in (opened, *later)}) == 6


def test_a_stream_is_alive_in_silence(served: Served) -> None:
    """Proxies cut connections on which nothing comes."""
    path = f"{served.url}/api/v1/contests/spring/events"
    with httpx2.stream("GET", path, timeout=PATIENCE) as stream:
        for line in stream.iter_lines():
            if line == ": alive":
                break


def test_one_address_holds_so_many_streams_and_no_more(served: Served) -> None:
    """One visitor must not take all places."""
    path = f"{served.url}/api/v1/contests/spring/events"
    with httpx2.Client(timeout=PATIENCE) as client:
        held = [client.send(client.build_request("GET", path), stream=True) for _ in range(3)]
        assert [one.status_code for one in held] == [200, 200, 200]
        refused = client.get(path)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
        for one in held:
            one.close()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:  # places are given back once the server hears of it
            with client.stream("GET", path) as again:
                if again.status_code == 200:
                    return
            time.sleep(0.2)
    pytest.fail("a place was not given back")


def test_pages_that_are_kept_are_never_old(served: Served) -> None:
    """Between two looks anything may have been stored; then the page is made anew."""
    path = f"{served.url}/api/v1/contests/spring"
    listed = f"{served.url}/api/v1/contests/spring/boards"
    for _ in range(2):
        assert httpx2.get(listed, timeout=PATIENCE).status_code == 200
    assert httpx2.get(path, timeout=PATIENCE).json()["state"] == "draft"
    served.ask("POST", "/contests/spring/open")
    assert httpx2.get(path, timeout=PATIENCE).json()["state"] == "open"


def test_a_whole_contest_runs_with_processes_that_die(tmp_path: Path) -> None:
    """A worker publishes what was sent; whatever is killed comes back; the end is in good order."""
    (temporary := tmp_path / "temporary").mkdir()
    server = start(tmp_path, "--workers", "1", "--processes", "2", "--database", "sqlite:///x.db",
                   TMPDIR=str(temporary))  # fmt: skip
    try:
        body = {"id": "spring", "discipline": "community", "title": "Spring"}
        assert server.ask("POST", "/contests", json=body).status_code == 201
        server.ask("POST", "/contests/spring/open")
        children = subprocess.run(
            ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        assert len(children) == 3
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        record = {"table": "users", "row": {"id": "ada"}}
        sent = server.ask("POST", "/contests/spring/records", json=record)
        assert sent.status_code == 201
        end = time.monotonic() + PATIENCE
        found: Any = None
        while time.monotonic() < end:
            found = server.ask("GET", "/contests/spring/boards/user-score")
            if found.status_code == 200:
                break
            time.sleep(0.2)
        assert [row["id"] for row in found.json()["rows"]] == ["ada"]
        explained = server.ask("GET", "/contests/spring/boards/user-score/explanations/ada")
        assert explained.status_code == 200
        path = f"{server.url}/api/v1/contests/spring/events"
        with httpx2.stream("GET", path, timeout=PATIENCE) as stream:
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            for _ in stream.iter_lines():
                pass
        assert server.process.wait(PATIENCE) == 0
        assert time.monotonic() - began < 30
        assert list(temporary.iterdir()) == []
    finally:
        server.process.kill()
    with pytest.raises(httpx2.HTTPError):
        httpx2.get(f"{server.url}/healthz", timeout=2)


def test_a_public_address_without_authentication_is_refused(tmp_path: Path) -> None:
    """Everybody would be an operator."""
    done = subprocess.run(
        [sys.executable, "-m", "agon", "serve", "--host", "0.0.0.0", "--auth", "open"],  # noqa: S104 (it is refused)
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert 'auth = "required"' in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_and_its_worker_live_through_a_restart_of_postgresql(
    postgresql: Postgresql, tmp_path: Path
) -> None:
    """Databases are restarted for their own updates; nobody should have to start agon again."""
    url = postgresql.address(postgresql.emptied())
    server = start(tmp_path, "--workers", "1", AGON_DATABASE=url)
    try:
        body = {"id": "spring", "discipline": "arena", "title": "Spring"}
        assert server.ask("POST", "/contests", json=body).status_code == 201
        postgresql.stop()
        told = httpx2.get(f"{server.url}/readyz", timeout=PATIENCE)
        assert (told.status_code, told.json()["code"]) == (503, "not-ready")
        assert server.ask("GET", "/contests/spring").status_code == 503
        _until(lambda: "no jobs at present" in (tmp_path / "log").read_text())
        postgresql.start()
        _until(lambda: answers(server.url))
        bots = b'{"table":"bots","row":{"id":"ann","name":"Ann"}}\n'
        headers = {"content-type": "application/x-ndjson"}
        added = server.ask("POST", "/contests/spring/records", content=bots, headers=headers)
        assert added.status_code == 201, added.text
        seq = server.ask("GET", "/contests/spring").json()["seq"]
        _until(lambda: _published(server) == seq)
    finally:
        postgresql.start()
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
    said = (tmp_path / "log").read_text()
    assert "Traceback" not in said
    told_lines = [line for line in said.splitlines() if "no jobs at present" in line]
    assert len(told_lines) == len(set(told_lines))  # shutting down, gone, starting: once each


def _published(server: Served) -> int | None:
    answer = server.ask("GET", "/contests/spring/boards/bots")
    seq: int | None = answer.json()["seq"] if answer.status_code == 200 else None
    return seq


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.1)
