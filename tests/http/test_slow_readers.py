"""Clients that ask and do not read are cut off; those that read slowly are not."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from uvicorn.protocols.http.flow_control import FlowControl

from agon.http import process, slow_readers
from agon.http.process import Server
from agon.http.slow_readers import MIN_BYTES, SlowReaderTimeout
from fakes.instance import Instance, instance_at, settings

PATIENCE = 60.0
STALL = 0.5


@pytest.fixture
def serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Instance, Server, int]]:
    """Serve an instance with some megabytes of ledger, whose looks follow each other fast."""
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
    until(lambda: server.started)
    yield instance, server, listening.getsockname()[1]
    server.should_exit = True
    running.join(PATIENCE)
    instance.service.store.close()


def until(what: Callable[[], bool]) -> None:
    """Wait for something that comes when the machine has time."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def asked(instance: Instance, port: int) -> socket.socket:
    """Ask for the whole ledger over a connection with little room."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", port))
    head = "GET /api/v1/contests/spring/ledger HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    line.sendall(f"{head}authorization: Bearer {instance.tokens['operator']}\r\n\r\n".encode())
    return line


def test_whoever_reads_nothing_is_cut_off(serving: tuple[Instance, Server, int]) -> None:
    """Forty of them held forty connections and 170 megabytes, and would have for ever."""
    instance, server, port = serving
    with asked(instance, port), asked(instance, port):
        until(lambda: len(server.server_state.connections) == 2)
        until(lambda: not server.server_state.connections)


class Line:
    """Stand for a connection with so many bytes unread, and for the clock."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.cut = False
        self.later: list[Callable[[], None]] = []

    def get_write_buffer_size(self) -> int:
        """Tell what is unread."""
        return self.left

    def get_extra_info(self, name: str) -> None:
        """Know of no socket."""
        assert name == "socket"

    def abort(self) -> None:
        """Note the cut."""
        self.cut = True

    def call_later(self, seconds: float, what: Callable[[], None]) -> None:
        """Keep what is to be called."""
        assert seconds == slow_readers.TIMEOUT_S
        self.later.append(what)


def checked_protocol(line: Line) -> Any:
    """Return a protocol that looks at a line, without a server around it."""
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
def test_only_silence_is_cut_off(unread: list[int], cut: bool) -> None:  # noqa: FBT001 (a case)
    """A bad line is no attack: whoever reads on, however slowly, gets everything."""
    line = Line(0)
    protocol = checked_protocol(line)
    for left in unread:
        line.left = left
        protocol._check()
    assert line.cut is cut
    assert len(line.later) == len(unread) - cut


def test_a_full_buffer_that_was_read_counts_however_full_it_is_again() -> None:
    """A long answer fills it anew at once."""
    line = Line(100_000)
    protocol = checked_protocol(line)
    for _ in range(3):
        protocol._check()
        protocol.pause_writing()
        protocol.resume_writing()
    assert not line.cut
