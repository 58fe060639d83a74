"""Send webhooks over the network: to the address that was checked, within one time limit."""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import Any, Final

import httpcore2

from agon import __version__
from agon.app.webhooks.address_guard import Target
from agon.app.webhooks.delivery import Answer
from agon.errors import Unavailable

SECONDS: Final = 10.0
MOST_OF_ANSWER: Final = 4 << 10
_TOO_SLOW = "no answer came within {:g} s; answer 2xx first, and work afterwards"


def resolve(name: str, port: int, *, seconds: float = 5.0) -> list[str]:
    """Give all addresses of a name, in the system's order.

    Raises:
        Unavailable: it has none, or none came in time.
    """
    found: list[str] = []
    wrong: list[str] = []

    def ask() -> None:
        try:
            infos = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as failed:
            wrong.append(str(failed))
        else:
            found.extend(dict.fromkeys(str(info[4][0]) for info in infos))

    # The system's resolver knows no timeout; a thread that still waits holds nothing up.
    asking = Thread(target=ask, name=f"resolve {name}", daemon=True)
    asking.start()
    asking.join(seconds)
    if not found:
        why = wrong[0] if wrong else f"no answer within {seconds:g} s"
        raise Unavailable(f"{name} cannot be resolved ({why}); correct the name or the DNS")
    return found


class HttpSender:
    """Send over HTTP/1.1, each request over a connection of its own.

    The connection goes to the target's address whatever its name means by now; TLS is verified
    against the name. No proxy of the environment is used, no redirect followed, of the answer no
    more than 4 KiB read, and everything ends within one time limit, however slowly it comes.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep what all requests share.

        Args:
            tls: whom to trust; by default the certificates httpx2 trusts.
            seconds: the time limit.
            clock: a clock that never goes back.
        """
        self._tls = tls
        self._seconds = seconds
        self._clock = clock

    def send(self, target: Target, *, headers: Mapping[str, str], body: bytes) -> Answer:
        """POST a body and return what came; see :class:`agon.app.webhooks.delivery.Sender`."""
        began = self._clock()
        status: int | None = None
        error: str | None = None
        text, retry_after = "", None
        try:
            status, text, retry_after = self._posted(target, headers, body, began + self._seconds)
        except httpcore2.TimeoutException:
            error = _TOO_SLOW.format(self._seconds)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as failed:
            error = f"{_kind(failed)}: {failed}" if str(failed) else _kind(failed)
        ms = round((self._clock() - began) * 1000)
        return Answer(status=status, error=error, ms=ms, body=text, retry_after=retry_after)

    def _posted(
        self, target: Target, headers: Mapping[str, str], body: bytes, deadline: float
    ) -> tuple[int, str, timedelta | None]:
        origin = httpcore2.Origin(
            b"https" if target.tls else b"http", target.host.encode("ascii"), target.port
        )
        given = {"user-agent": f"agon/{__version__}", **headers, "host": _host(target),
                 "content-length": str(len(body)), "connection": "close"}  # fmt: skip
        backend = _Pinned(target.address, deadline, self._clock)
        with (
            httpcore2.HTTPConnection(
                origin, ssl_context=self._tls, network_backend=backend
            ) as connection,
            connection.stream(
                "POST",
                httpcore2.URL(
                    scheme=origin.scheme, host=origin.host, port=origin.port,
                    target=target.path.encode("ascii"),
                ),
                headers=list(given.items()),
                content=body,
            ) as response,
        ):  # fmt: skip
            read = bytearray()
            # The status is the answer; a body that does not end takes nothing of it back.
            with suppress(httpcore2.TimeoutException, httpcore2.NetworkError,
                          httpcore2.ProtocolError):  # fmt: skip
                for chunk in response.iter_stream():
                    read += chunk
                    if len(read) >= MOST_OF_ANSWER:
                        break
            said = {name.lower(): value for name, value in response.headers}
            return (
                response.status,
                bytes(read[:MOST_OF_ANSWER]).decode("utf-8", "replace"),
                _wait(said.get(b"retry-after", b"").decode("latin-1")),
            )


class _Pinned(httpcore2.NetworkBackend):
    """Connect to one address, whatever host is asked for."""

    def __init__(self, address: str, deadline: float, clock: Callable[[], float]) -> None:
        self._address = address
        self._deadline = deadline
        self._clock = clock
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 (the point of this class)
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (one deadline for all)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the checked address."""
        left = _left(self._deadline, self._clock)
        stream = self._network.connect_tcp(self._address, port, left, local_address, socket_options)
        return _Timed(stream, self._deadline, self._clock)


class _Timed(httpcore2.NetworkStream):
    """End every reading and writing at one deadline: a byte now and then extends nothing."""

    def __init__(
        self, stream: httpcore2.NetworkStream, deadline: float, clock: Callable[[], float]
    ) -> None:
        self._stream = stream
        self._deadline = deadline
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 (one deadline for all)
        """Read what is there."""
        return self._stream.read(max_bytes, _left(self._deadline, self._clock))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write all."""
        self._stream.write(buffer, _left(self._deadline, self._clock))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Go on under TLS."""
        left = _left(self._deadline, self._clock)
        secured = self._stream.start_tls(ssl_context, server_hostname, left)
        return _Timed(secured, self._deadline, self._clock)

    def get_extra_info(self, info: str) -> Any:
        """Tell about the connection."""
        return self._stream.get_extra_info(info)


def _left(deadline: float, clock: Callable[[], float]) -> float:
    left = deadline - clock()
    if left <= 0:
        raise httpcore2.TimeoutException
    return left


def _host(target: Target) -> str:
    """Write the ``Host`` header: the name, and the port unless it is the scheme's own."""
    name = f"[{target.host}]" if ":" in target.host else target.host
    return name if target.port == (443 if target.tls else 80) else f"{name}:{target.port}"


def _wait(text: str) -> timedelta | None:
    """Read ``Retry-After``: seconds, or a date."""
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 10**8))
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(until - datetime.now(UTC), timedelta(0))


def _kind(failed: Exception) -> str:
    """Name a fault for the webhook's owner."""
    if isinstance(failed, httpcore2.ConnectError):
        return "cannot connect"
    if isinstance(failed, httpcore2.ProtocolError):
        return "what was answered is no HTTP"
    return "the connection broke"
