"""Work is sent to endpoints on the loopback that answer well, badly, too much or never."""

import gzip
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.webhooks.address_guard import NO_ADDRESS
from agon.app.webhooks.signatures import verify
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Unavailable
from agon.runners.bots.http import MAX_REPLY_BYTES, HttpBots
from runners.certificates import NAME, write_certificate

WORK = {"id": "work-1", "kind": "answer", "prompt": "Why? ä 👍", "protocol": "agon-arena-1"}
SECRETS = (b"n" * 32, b"o" * 32)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECONDS = 60
ADDRESS = "127.0.0.1"

Respond = Callable[[socket.socket], None]


@dataclass
class BotServer:
    """A server of one connection at a time, and the requests that it read."""

    port: int
    respond: Respond
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[BotServer]:
    """Serve one connection with a function that writes the response.

    When the block ends the thread has ended, so the client has closed the connection.
    """
    with socket.create_server((ADDRESS, 0)) as listening:
        server = BotServer(listening.getsockname()[1], respond)

        def handle() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                stream = (
                    connection if tls is None else tls.wrap_socket(connection, server_side=True)
                )
                with stream:
                    server.requests.append(read_request(stream))
                    server.respond(stream)
                    stream.shutdown(socket.SHUT_WR)
                    while stream.recv(65536):
                        pass
            server.closed.set()

        thread = threading.Thread(target=handle)
        thread.start()
        yield server
        thread.join()


def read_request(stream: socket.socket) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a request."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += stream.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")[1:]
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += stream.recv(65536)
    return headers, body


def response(body: bytes, *, status: str = "200 OK", headers: Sequence[str] = ()) -> bytes:
    """Return a response."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def send(data: bytes) -> Respond:
    """Return a function that sends some bytes."""
    return lambda stream: stream.sendall(data)


def ask(server: BotServer, work: dict[str, Any] = WORK, **options: Any) -> BotReply | Fault:
    """Send work to a server under its address."""
    bots = HttpBots(allow_private=True, now=lambda: NOW, **options)
    endpoint = Endpoint(f"http://{ADDRESS}:{server.port}/bot?x=1", SECRETS)
    return bots.ask(endpoint, work, seconds=SECONDS)


def test_work_is_signed_with_both_secrets_and_the_reply_is_read() -> None:
    """While a secret is rotated the bot may verify with either of them."""
    with serve(send(response(b'{"text": "Because.", "version": "2", "x": [1]}'))) as server:
        reply = ask(server)
    assert isinstance(reply, BotReply)
    assert (reply.text, reply.version, reply.vote, reply.nonce) == ("Because.", "2", None, None)
    assert 0 <= reply.latency_ms < SECONDS * 1000
    headers, body = server.requests[0]
    assert json.loads(body) == WORK
    assert headers["accept-encoding"] == "identity"
    assert headers["host"] == f"{ADDRESS}:{server.port}"
    for secret in SECRETS:
        assert verify(secret, headers=headers, body=body, now=NOW) == "work-1"


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("vote", b'{"vote": "B"}', {"vote": "B"}),
        ("ping", b'{"nonce": "n-1", "text": null}', {"nonce": "n-1"}),
        ("answer", '{"text": "\N{LATIN SMALL LETTER A WITH DIAERESIS}"}'.encode(), {"text": "ä"}),
    ],
)
def test_each_kind_of_work_has_its_field(kind: str, body: bytes, expected: dict[str, str]) -> None:
    """A vote is a label, a ping repeats its nonce, an answer is text."""
    with serve(send(response(body))) as server:
        reply = ask(server, {**WORK, "kind": kind})
    assert isinstance(reply, BotReply)
    assert {name: getattr(reply, name) for name in expected} == expected


BOMB = gzip.compress(b'{"text": "' + b"a" * 10_000_000 + b'"}')
REPLIES = [
    (response(b""), "bot", "empty"),
    (response(b" \n"), "bot", "empty"),
    (response(b'{"text": " "}'), "bot", "empty"),
    (response(b"{"), "bot", "invalid"),
    (response(b"<html>"), "bot", "invalid"),
    (response(b'["text"]'), "bot", "invalid"),
    (response(b"{}"), "bot", "invalid"),
    (response(b'{"text": 3}'), "bot", "invalid"),
    (response(b'{"vote": "A"}'), "bot", "invalid"),
    (response(b'{"text": "a", "text": "b"}'), "bot", "invalid"),
    (response(b'{"text": "\\ud800"}'), "bot", "invalid"),
    (response(b'{"text": "a\\u0000b"}'), "bot", "invalid"),
    (response('{"text": "ä"}'.encode("latin-1")), "bot", "invalid"),
    (response('{"text": "a"}'.encode("utf-16")), "bot", "invalid"),
    (response(b'{"text": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"), "bot", "too-large"),
    (response(b'{"x": ' + b"[" * 3_000 + b"]" * 3_000 + b', "text": "a"}'), "bot", "invalid"),
    (response(BOMB, headers=["content-encoding: gzip"]), "bot", "invalid"),
    (response(b"x", headers=["content-encoding: br"]), "bot", "invalid"),
    (response(b'{"error": "busy"}'), "bot", "refused-work"),
    (response(b"", status="307 Moved", headers=["location: http://192.0.2.1/"]), "bot", "redirect"),
    (response(b"", status="204 No Content"), "bot", "status-204"),
    (response(b"no", status="503 Busy"), "bot", "status-503"),
    (b"HTTP/1.1 101 Up\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "bot", "invalid"),
    (b"", "transport", "reset"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{", "transport", "reset"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{", "transport", "reset"),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "bot", "invalid"),
    (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000, "bot", "invalid"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-length: 11\r\n\r\n", "bot", "invalid"),
]


@pytest.mark.parametrize(("data", "owner", "code"), REPLIES, ids=range(len(REPLIES)))
def test_every_bad_response_is_a_fault_with_its_owner(data: bytes, owner: str, code: str) -> None:
    """The code decides whether it is tried again, and whose forfeit it becomes."""
    with serve(send(data)) as server:
        fault = ask(server)
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == (owner, code), fault.detail
    assert len(fault.detail) <= 200


@pytest.mark.parametrize("head", [b"content-length: 10737418240", b"transfer-encoding: chunked"])
def test_an_answer_of_10_gb_is_read_up_to_the_limit(head: bytes) -> None:
    """No more is read than the limit and what is on its way."""
    sent = 0

    def respond(stream: socket.socket) -> None:
        nonlocal sent
        chunk = b"a" * 4096
        data = b"1000\r\n" + chunk + b"\r\n" if b"chunked" in head else chunk
        stream.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
        while True:  # until the client closes the connection
            stream.sendall(data)
            sent += len(chunk)

    with serve(respond) as server:
        fault = ask(server)
    assert isinstance(fault, Fault)
    assert fault.code == "too-large"
    assert MAX_REPLY_BYTES <= sent < 50_000_000


class Ticks:
    """A clock that advances by a second whenever it is read, so that no test waits.

    A server that waits for ``ticks`` sends as often as the clock is read, however busy the machine.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.has_ended = False
        self.ticks = threading.Semaphore(0)

    def __call__(self) -> float:
        """Return the next second."""
        self.now += 1
        self.ticks.release()
        return self.now

    def end(self) -> None:
        """Let the server end."""
        self.has_ended = True
        self.ticks.release()


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200 OK\r\nx-y: ", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n"],
)
def test_trickling_ends_at_the_deadline(start: bytes) -> None:
    """A byte now and then keeps no connection open: the limit is that of everything together."""
    clock = Ticks()

    def respond(stream: socket.socket) -> None:
        stream.sendall(start)
        while not clock.has_ended:
            clock.ticks.acquire()
            stream.sendall(b"a" if start else b"H")

    with serve(respond) as server:
        fault = ask(server, clock=clock)
        clock.end()
    assert fault == Fault("bot", "late", "no complete reply came within 60 s")


def test_a_hanging_bot_is_late() -> None:
    """After the first byte nothing more comes; the client gives up by itself."""
    has_sent = threading.Event()

    def respond(stream: socket.socket) -> None:
        has_sent.set()
        stream.sendall(b"H")
        while stream.recv(100):  # until the client closes the connection
            pass

    with serve(respond) as server:
        fault = ask(server, clock=lambda: SECONDS - 0.02 if has_sent.is_set() else 0.0)
    assert fault == Fault("bot", "late", "no complete reply came within 60 s")


@pytest.mark.exhaustive
def test_informational_responses_without_end_are_late() -> None:
    """``102 Processing`` for ever is not an answer."""

    def respond(stream: socket.socket) -> None:
        while True:
            stream.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")

    with serve(respond) as server:
        fault = ask(server, clock=Ticks())
    assert isinstance(fault, Fault)
    assert fault.code == "late"


def test_a_connection_that_is_reset_is_the_networks_fault() -> None:
    """It is tried again within the same deadline."""

    def respond(stream: socket.socket) -> None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.close()

    with serve(respond) as server:
        fault = ask(server)
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == ("transport", "reset")


def test_a_closed_port_is_an_error() -> None:
    """Nothing listens there."""
    with socket.create_server((ADDRESS, 0)) as listening:
        port = listening.getsockname()[1]
    fault = ask(BotServer(port, send(b"")))
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == ("transport", "refused")


def test_a_time_out_before_the_connection_is_the_networks_fault() -> None:
    """The bot has not been asked yet."""
    clock = iter([0.0, *([SECONDS + 1.0] * 9)])
    with socket.create_server((ADDRESS, 0)) as listening:
        fault = ask(BotServer(listening.getsockname()[1], send(b"")), clock=lambda: next(clock))
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == ("transport", "unreachable")


@pytest.mark.parametrize(
    "url",
    [
        f"http://{NAME}/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/",
        "https://user:secret@bots.example/",
        f"https://{NAME}:22/",
        "https://127.1/",
        "https://localhost/",
        "file:///etc/passwd",
    ],
)
def test_private_addresses_are_not_connected_to(url: str) -> None:
    """As a literal or in disguise: none of them is looked up."""
    bots = HttpBots(resolve=lambda *_, **__: pytest.fail("looked up"))
    fault = bots.ask(Endpoint(url, SECRETS), WORK, seconds=SECONDS)
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == ("transport", "address-refused")
    assert "secret" not in fault.detail
    host = url.partition("://")[2].partition("/")[0]
    assert not host or host not in fault.detail
    assert "webhook" not in fault.detail


def test_the_owner_sees_in_the_ping_why_an_address_is_not_allowed() -> None:
    """A fault of a match is public, so it names no address; that of a ping is the owner's own."""
    ping = {**WORK, "kind": "ping", "nonce": "n"}
    fault = HttpBots().ask(Endpoint("https://127.0.0.1/", SECRETS), ping, seconds=SECONDS)
    assert isinstance(fault, Fault)
    assert "127.0.0.1 is at an address that is loopback" in fault.detail
    assert "allow_private_bots" in fault.detail


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize("kind", ["ping", "prompt"])
def test_a_refusal_does_not_reveal_which_names_the_servers_network_has(
    kind: str, *, allow_private: bool
) -> None:
    """Any participant registers bots; DB servers and metadata would be listed name by name."""

    def unknown(name: str, *_: object, **__: object) -> list[str]:
        raise Unavailable(f"{name} cannot be resolved")

    answers: list[list[str]] = [
        [], ["169.254.169.254"], ["9.9.9.9", "169.254.169.254"], ["fd00:ec2::254"], ["nonsense"],
        ["0.0.0.0"],  # noqa: S104 (what is refused)
    ]  # fmt: skip
    if not allow_private:
        answers += [["10.0.0.7"], ["127.0.0.1"], ["::1"], ["192.168.1.1", "10.0.0.7"]]
    resolvers = [unknown, *(lambda *_, found=each, **__: found for each in answers)]
    work = {**WORK, "kind": kind, "nonce": "n"}
    endpoint = Endpoint(f"https://{NAME}/", SECRETS)
    faults = {
        HttpBots(resolve=resolver, allow_private=allow_private).ask(endpoint, work, seconds=SECONDS)
        for resolver in resolvers
    }
    assert faults == {Fault("transport", "dns", NO_ADDRESS)}


def test_a_name_that_changes_its_address_is_looked_up_once() -> None:
    """The connection goes to the address that was checked, not to what the name means later."""
    addresses = iter([[ADDRESS], ["192.0.2.7"], ["169.254.169.254"]])
    with serve(send(response(b'{"text": "a"}'))) as server:
        bots = HttpBots(allow_private=True, resolve=lambda *_, **__: next(addresses))
        reply = bots.ask(Endpoint(f"http://{NAME}:{server.port}/", SECRETS), WORK, seconds=SECONDS)
    assert isinstance(reply, BotReply)
    assert next(addresses) == ["192.0.2.7"]
    assert server.requests[0][0]["host"] == f"{NAME}:{server.port}"


def test_an_unknown_name_is_the_networks_fault() -> None:
    """The look-up has the time that is left."""
    asked = []

    def resolve(name: str, port: int, *, seconds: float) -> list[str]:
        asked.append((name, port, seconds))
        raise Unavailable("no such name")

    bots = HttpBots(resolve=resolve, clock=lambda: 5.0)
    fault = bots.ask(Endpoint(f"https://{NAME}/", SECRETS), WORK, seconds=7)
    assert isinstance(fault, Fault)
    assert (fault.owner, fault.code) == ("transport", "dns")
    assert asked == [(NAME, 443, 7.0)]


def test_tls_is_verified_against_the_name(tmp_path: Path) -> None:
    """A certificate of another name, or that is not trusted, is the network's fault."""
    file = write_certificate(tmp_path / "server.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    trusted = ssl.create_default_context(cafile=str(file))
    cases: list[tuple[str, ssl.SSLContext | None, str | None]] = [
        (NAME, trusted, None),
        ("other.example", trusted, "tls"),
        (NAME, None, "tls"),
    ]
    for name, tls, code in cases:
        with serve(send(response(b'{"text": "a"}')), context) as server:
            bots = HttpBots(allow_private=True, resolve=lambda *_, **__: [ADDRESS], tls=tls)
            url = f"https://{name}:{server.port}/"
            outcome = bots.ask(Endpoint(url, SECRETS), WORK, seconds=SECONDS)
        assert (outcome.code if isinstance(outcome, Fault) else None) == code


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would connect to addresses that were not checked."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    with serve(send(response(b'{"text": "a"}'))) as server:
        assert isinstance(ask(server), BotReply)
