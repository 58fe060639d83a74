"""Sending for real: local servers, with TLS under a certificate made here."""

import datetime as dt
import ipaddress
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
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agon.app.webhooks.address_guard import Target
from agon.app.webhooks.signatures import signed_headers, verify
from agon.errors import Unavailable
from agon.runners.webhooks import HttpSender, resolve

NAME = "hooks.example"
SECRET = b"s" * 32
BODY = b'{"event": "board-published"}'


@dataclass
class Seen:
    """Hold what a server was asked, and what it answers."""

    status: int = 200
    answer: bytes = b"thanks"
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)


def handler(seen: Seen) -> type[BaseHTTPRequestHandler]:
    """Make what answers as told and keeps what it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.requests.append((self.path, headers, body))
            self.send_response(seen.status)
            for name, value in {**seen.headers, "content-length": str(len(seen.answer))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # the sender may have read enough
                self.wfile.write(seen.answer)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def server(seen: Seen, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a free port of loopback."""
    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler(seen))
    listening.daemon_threads = True
    listening.handle_error = lambda *_: None  # type: ignore[method-assign]  # a refused handshake is no fault of the test
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
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve one connection by hand."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def target(port: int, *, tls: bool = False, host: str = NAME, path: str = "/in?a=1") -> Target:
    """Point at a local server under a public name."""
    return Target(f"http://{host}:{port}{path}", host, port, tls, path, "127.0.0.1")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate and its key for the name, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def serving(certificate: Path) -> ssl.SSLContext:
    """Serve with the certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    """Trust the certificate, and no other."""
    return ssl.create_default_context(cafile=str(certificate))


def test_a_signed_message_arrives_as_it_was_signed() -> None:
    """The receiver verifies the bytes it got."""
    seen = Seen(status=202)
    headers = signed_headers(SECRET, id="d1", at=dt.datetime.now(dt.UTC), body=BODY)
    with server(seen) as port:
        answer = HttpSender().send(target(port), headers=headers, body=BODY)
    assert (answer.status, answer.error, answer.body) == (202, None, "thanks")
    ((path, got, body),) = seen.requests
    assert path == "/in?a=1"
    assert body == BODY
    assert verify(SECRET, headers=got, body=body, now=dt.datetime.now(dt.UTC)) == "d1"
    assert got["host"] == f"{NAME}:{port}"
    assert got["user-agent"].startswith("agon/")


def test_tls_is_verified_against_the_name_while_the_address_is_pinned(
    serving: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    """The name hooks.example has no address here: only the checked one can have been used."""
    seen = Seen()
    serving.sni_callback = lambda _socket, name, _context: seen.names.append(name)
    with server(seen, serving) as port:
        answer = HttpSender(tls=trusting).send(target(port, tls=True), headers={}, body=BODY)
    assert (answer.status, answer.error) == (200, None)
    assert seen.names == [NAME]
    assert len(seen.requests) == 1


def test_a_certificate_of_another_name_is_refused(
    serving: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    """Nothing is sent to who only has the address."""
    seen = Seen()
    with server(seen, serving) as port:
        answer = HttpSender(tls=trusting).send(
            target(port, tls=True, host="other.example"), headers={}, body=BODY
        )
    assert answer.status is None
    assert "certificate verify failed" in str(answer.error).lower()
    assert seen.requests == []


def test_a_certificate_nobody_vouches_for_is_refused(serving: ssl.SSLContext) -> None:
    """By default the public authorities are trusted."""
    seen = Seen()
    with server(seen, serving) as port:
        answer = HttpSender().send(target(port, tls=True), headers={}, body=BODY)
    assert "certificate verify failed" in str(answer.error).lower()
    assert seen.requests == []


def test_a_redirect_is_an_answer_and_not_followed() -> None:
    """It could lead to where no check has been made."""
    inside = Seen()
    with server(inside) as port:
        seen = Seen(status=307, headers={"location": f"http://127.0.0.1:{port}/secret"})
        with server(seen) as outside:
            answer = HttpSender().send(target(outside), headers={}, body=BODY)
    assert answer.status == 307
    assert inside.requests == []


def test_of_a_long_answer_four_kibibytes_are_kept() -> None:
    """A receiver must not fill our memory or our database."""
    seen = Seen(answer=b"x" * 5_000_000)
    with server(seen) as port:
        answer = HttpSender().send(target(port), headers={}, body=BODY)
    assert (answer.status, len(answer.body)) == (200, 4096)


def test_an_answer_that_drips_ends_at_the_deadline() -> None:
    """A byte now and then must not extend the time: the limit is for all of it."""

    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for _ in range(100):
            connection.sendall(b"x-a: b\r\n")
            time.sleep(0.05)

    with raw_server(drip) as port:
        began = time.monotonic()
        answer = HttpSender(seconds=0.4).send(target(port), headers={}, body=BODY)
        took = time.monotonic() - began
    assert answer.status is None
    assert "within 0.4 s" in str(answer.error)
    assert took < 3


def test_a_body_that_does_not_end_takes_nothing_of_the_status_back() -> None:
    """Sending again what was accepted would make two of it."""

    def endless(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nwell")
        connection.recv(1)

    with raw_server(endless) as port:
        answer = HttpSender(seconds=0.3).send(target(port), headers={}, body=BODY)
    assert (answer.status, answer.body, answer.error) == (200, "well", None)


def test_what_is_no_http_and_what_breaks_off_are_errors_and_no_exceptions() -> None:
    """A strange receiver must not end a worker."""

    def nonsense(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    def silence(connection: socket.socket) -> None:
        connection.recv(65536)

    for way in (nonsense, silence):
        with raw_server(way) as port:
            answer = HttpSender().send(target(port), headers={}, body=BODY)
        assert answer.status is None
        assert "not HTTP" in str(answer.error)


def test_a_closed_port_is_told() -> None:
    """The owner's server is down."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    answer = HttpSender().send(target(port), headers={}, body=BODY)
    assert "cannot connect" in str(answer.error)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would resolve the name again, unchecked."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with server(Seen()) as port:
        assert HttpSender().send(target(port), headers={}, body=BODY).status == 200


@pytest.mark.parametrize(
    ("said", "low", "high"),
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
    said: str, low: float | None, high: float | None
) -> None:
    """And what is neither is not there."""
    seen = Seen(status=503, headers={"retry-after": said})
    with server(seen) as port:
        wait = HttpSender().send(target(port), headers={}, body=BODY).retry_after
    if low is None or high is None:
        assert wait is None
    else:
        assert wait is not None
        assert low <= wait.total_seconds() <= high


def test_names_are_resolved_to_all_their_addresses_and_unknown_ones_refused() -> None:
    """.invalid has no address anywhere."""
    assert "127.0.0.1" in resolve("localhost", 80)
    with pytest.raises(Unavailable, match="correct the name or the DNS"):
        resolve("nobody.invalid", 443)
