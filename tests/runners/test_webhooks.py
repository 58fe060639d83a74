"""Webhooks are sent to local servers, with TLS under a certificate of the test."""

import datetime as dt
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agon.app.webhooks.address_guard import CheckedAddress
from agon.app.webhooks.signatures import signed_headers, verify
from agon.errors import Unavailable
from agon.runners.webhooks import HttpSender, resolve
from runners.certificates import NAME, write_certificate

SECRET = b"s" * 32
BODY = b'{"event": "board-published"}'


@dataclass
class Exchange:
    """The response of a server, and the requests and names that it received."""

    status: int = 200
    body: bytes = b"thanks"
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)


def handler(exchange: Exchange) -> type[BaseHTTPRequestHandler]:
    """Return a handler that sends the response and records the requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            exchange.requests.append((self.path, headers, body))
            self.send_response(exchange.status)
            for name, value in {
                **exchange.headers,
                "content-length": str(len(exchange.body)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # the sender may have read enough
                self.wfile.write(exchange.body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def server(exchange: Exchange, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a free port of loopback."""
    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler(exchange))
    listening.daemon_threads = True
    listening.handle_error = lambda *_: None  # type: ignore[method-assign]  # a rejected handshake is expected
    if tls is not None:
        listening.socket = tls.wrap_socket(listening.socket, server_side=True)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield listening.server_port
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@contextmanager
def raw_server(respond: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve one connection, whose request is read to its end first, on a socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                read_request(connection)
                respond(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def read_request(connection: socket.socket) -> None:
    """Read a request to its end: closing a connection with unread bytes would reset it."""
    request = b""
    while b"\r\n\r\n" not in request or not request.endswith(BODY):
        received = connection.recv(65536)
        if not received:
            return
        request += received


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a certificate of the name and its key into one file."""
    return write_certificate(tmp_path_factory.mktemp("tls") / "server.pem")


def target(
    port: int, *, tls: bool = False, host: str = NAME, path: str = "/in?a=1"
) -> CheckedAddress:
    """Return the address of a local server under a public name."""
    return CheckedAddress(f"http://{host}:{port}{path}", host, port, tls, path, "127.0.0.1")


@pytest.fixture
def serving(certificate: Path) -> ssl.SSLContext:
    """Return the context of a server with the certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    """Return the context of a client that trusts only the certificate."""
    return ssl.create_default_context(cafile=str(certificate))


def test_a_signed_message_arrives_as_it_was_signed() -> None:
    """The receiver verifies the received bytes."""
    exchange = Exchange(status=202)
    headers = signed_headers(SECRET, id="d1", at=dt.datetime.now(dt.UTC), body=BODY)
    with server(exchange) as port:
        response = HttpSender().send(target(port), headers=headers, body=BODY)
    assert (response.status, response.error, response.body) == (202, None, "thanks")
    ((path, received, body),) = exchange.requests
    assert path == "/in?a=1"
    assert body == BODY
    assert verify(SECRET, headers=received, body=body, now=dt.datetime.now(dt.UTC)) == "d1"
    assert received["host"] == f"{NAME}:{port}"
    assert received["user-agent"].startswith("agon/")


def test_tls_is_verified_against_the_name_while_the_address_is_pinned(
    serving: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    """The name hooks.example has no address here: only the checked one can have been used."""
    exchange = Exchange()
    serving.sni_callback = lambda _socket, name, _context: exchange.names.append(name)
    with server(exchange, serving) as port:
        response = HttpSender(tls=trusting).send(target(port, tls=True), headers={}, body=BODY)
    assert (response.status, response.error) == (200, None)
    assert exchange.names == [NAME]
    assert len(exchange.requests) == 1


def test_a_certificate_of_another_name_is_rejected(
    serving: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    """Nothing is sent to a server that only has the address."""
    exchange = Exchange()
    with server(exchange, serving) as port:
        response = HttpSender(tls=trusting).send(
            target(port, tls=True, host="other.example"), headers={}, body=BODY
        )
    assert response.status is None
    assert "certificate verify failed" in str(response.error).lower()
    assert exchange.requests == []


def test_a_certificate_without_a_trusted_issuer_is_rejected(serving: ssl.SSLContext) -> None:
    """By default only public authorities are trusted."""
    exchange = Exchange()
    with server(exchange, serving) as port:
        response = HttpSender().send(target(port, tls=True), headers={}, body=BODY)
    assert "certificate verify failed" in str(response.error).lower()
    assert exchange.requests == []


def test_a_redirect_is_a_response_and_is_not_followed() -> None:
    """It could lead to an address that was not checked."""
    inside = Exchange()
    with server(inside) as port:
        exchange = Exchange(status=307, headers={"location": f"http://127.0.0.1:{port}/secret"})
        with server(exchange) as outside:
            response = HttpSender().send(target(outside), headers={}, body=BODY)
    assert response.status == 307
    assert inside.requests == []


def test_the_first_four_kibibytes_of_a_long_response_are_stored() -> None:
    """A receiver must not fill the memory or the database."""
    exchange = Exchange(body=b"x" * 5_000_000)
    with server(exchange) as port:
        response = HttpSender().send(target(port), headers={}, body=BODY)
    assert (response.status, len(response.body)) == (200, 4096)


def test_a_slow_response_ends_at_the_deadline() -> None:
    """Single bytes must not extend the time: the limit is for the complete response."""

    def send_slowly(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:  # until the client closes the connection
            connection.sendall(b"x-a: b\r\n")
            time.sleep(0.05)

    with raw_server(send_slowly) as port:
        response = HttpSender(seconds=0.4).send(target(port), headers={}, body=BODY)
    assert response.status is None
    assert "within 0.4 s" in str(response.error)


def test_the_status_counts_although_the_body_does_not_end() -> None:
    """Sending an accepted event again would duplicate it."""

    def send_without_end(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nwell")
        connection.recv(1)

    with raw_server(send_without_end) as port:
        response = HttpSender(seconds=3).send(target(port), headers={}, body=BODY)
    assert (response.status, response.body, response.error) == (200, "well", None)


def test_a_response_that_is_no_http_or_empty_is_an_error_of_the_delivery() -> None:
    """An unexpected response must not end a worker."""

    def send_ssh(connection: socket.socket) -> None:
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    def send_nothing(_connection: socket.socket) -> None:
        pass

    for respond in (send_ssh, send_nothing):
        with raw_server(respond) as port:
            response = HttpSender().send(target(port), headers={}, body=BODY)
        assert response.status is None
        assert "not HTTP" in str(response.error)


def test_a_closed_port_is_an_error_of_the_delivery() -> None:
    """The receiver may be down."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    response = HttpSender().send(target(port), headers={}, body=BODY)
    assert "cannot connect" in str(response.error)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would resolve the name again, without the check."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with server(Exchange()) as port:
        assert HttpSender().send(target(port), headers={}, body=BODY).status == 200


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("120", 120, 120),
        ("soon", None, None),
        ("-5", None, None),
        ("9" * 40, 10**7, 10**8),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 10**9, 10**10),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(
    value: str, low: float | None, high: float | None
) -> None:
    """Any other value is ignored."""
    exchange = Exchange(status=503, headers={"retry-after": value})
    with server(exchange) as port:
        wait = HttpSender().send(target(port), headers={}, body=BODY).retry_after
    if low is None or high is None:
        assert wait is None
    else:
        assert wait is not None
        assert low <= wait.total_seconds() <= high


def test_names_are_resolved_to_all_addresses_and_unknown_ones_are_rejected() -> None:
    """The top-level domain .invalid has no addresses."""
    assert "127.0.0.1" in resolve("localhost", 80)
    with pytest.raises(Unavailable, match="correct the name or the DNS"):
        resolve("nobody.invalid", 443)
