"""Clients that do not read their responses are disconnected; slow readers are not."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from uvicorn.protocols.http.flow_control import FlowControl

from agon.http import process, slow_readers
from agon.http.process import Server
from agon.http.slow_readers import MIN_BYTES, SlowReaderTimeout
from fakes.instance import Instance, instance_at, settings

TIMEOUT_S = 60.0
STALL = 0.5


@pytest.fixture
def serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Instance, Server, int]]:
    """Serve an instance with some megabytes of ledger and a short check interval."""
    monkeypatch.setattr(slow_readers, "TIMEOUT_S", STALL)
    instance = instance_at(tmp_path)
    instance.contest("spring", people=0)
    row = b'{"table":"users","row":{"id":"u%d","affiliation":"' + b"x" * 4000 + b'"}}\n'
    instance.post("/contests/spring/records", "organiser",
               content=b"".join(row % n for n in range(2000)),
               headers={"content-type": "application/x-ndjson"})  # fmt: skip
    listening = socket.create_server(("127.0.0.1", 0))
    server = process.server(instance.service, settings())
    running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    running.start()
    wait_until(lambda: server.started)
    yield instance, server, listening.getsockname()[1]
    server.should_exit = True
    running.join(TIMEOUT_S)
    instance.close()


def wait_until(what: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + TIMEOUT_S
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def request_ledger(instance: Instance, port: int) -> socket.socket:
    """Request the entire ledger over a connection with a small buffer."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", port))
    head = "GET /api/v1/contests/spring/ledger HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    line.sendall(f"{head}authorization: Bearer {instance.tokens['operator']}\r\n\r\n".encode())
    return line


@pytest.mark.exhaustive
def test_a_client_that_reads_nothing_is_disconnected(serving: tuple[Instance, Server, int]) -> None:
    """Forty such clients held forty connections and 170 megabytes indefinitely."""
    instance, server, port = serving
    with request_ledger(instance, port) as one, request_ledger(instance, port) as other:
        for line in (one, other):
            line.settimeout(TIMEOUT_S)
            with suppress(ConnectionResetError):  # it may be disconnected already
                line.recv(1, socket.MSG_PEEK)  # the response has begun
        wait_until(lambda: not server.server_state.connections)


class Line:
    """A fake connection with unread bytes, and a fake clock."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.cut = False
        self.later: list[Callable[[], None]] = []

    def get_write_buffer_size(self) -> int:
        """Return the number of unread bytes."""
        return self.left

    def get_extra_info(self, name: str) -> None:
        """Return no socket."""
        assert name == "socket"

    def abort(self) -> None:
        """Record the disconnection."""
        self.cut = True

    def call_later(self, seconds: float, what: Callable[[], None]) -> None:
        """Store the scheduled callback."""
        assert seconds == slow_readers.TIMEOUT_S
        self.later.append(what)


def checked_protocol(line: Line) -> Any:
    """Return a protocol that checks a connection, without a server."""
    protocol: Any = SlowReaderTimeout.__new__(SlowReaderTimeout)
    protocol.transport = protocol.loop = line
    protocol.flow = FlowControl(protocol.transport)
    return protocol


@pytest.mark.parametrize(
    ("unread", "cut"),
    [
        ([100_000, 100_000 - MIN_BYTES, 100_000 - 2 * MIN_BYTES], False),
        ([100_000, 100_000], True),
        ([100_000, 100_001 - MIN_BYTES], True),
        ([100, 0, 100, 0], False),
        ([0, 0, 0], False),
        ([100, 100], True),
    ],
    ids=["slow", "silent", "a trickle", "a stream", "idle", "a last word"],
)
def test_only_stalled_connections_are_closed(unread: list[int], cut: bool) -> None:  # noqa: FBT001 (a case)
    """A slow connection is no attack: a client that continues to read gets everything."""
    line = Line(0)
    protocol = checked_protocol(line)
    for left in unread:
        line.left = left
        protocol._check()
    assert line.cut is cut
    assert len(line.later) == len(unread) - cut


def test_progress_counts_although_the_buffer_is_full_again() -> None:
    """A long response refills the buffer immediately."""
    line = Line(100_000)
    protocol = checked_protocol(line)
    for _ in range(3):
        protocol._check()
        protocol.pause_writing()
        protocol.resume_writing()
    assert not line.cut
