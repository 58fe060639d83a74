"""Send requests to addresses that were looked up before, with one deadline for everything."""

import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

import httpcore2

from agon.version import __version__

JSON_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
    }
)
"""Headers of a request that sends JSON and asks for JSON without compression."""


@contextmanager
def timed_post(
    url: httpcore2.URL,
    body: bytes,
    *,
    headers: Mapping[str, str],
    backend: "TimedBackend",
    tls: ssl.SSLContext | None,
    trace: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> Iterator[httpcore2.Response]:
    """POST a body over a connection of its own; yield the response before its body is read.

    No redirect is followed, and no proxy of the environment used.

    Args:
        url: the URL.
        body: the body.
        headers: further headers, with the host.
        backend: what connects.
        tls: the trusted certificates; by default those httpx2 trusts.
        trace: is called with each event of the request.

    Raises:
        httpcore2.TimeoutException: the deadline passed.
        httpcore2.NetworkError, httpcore2.ProtocolError: there is no complete response.
    """
    sent = {
        "user-agent": f"agon/{__version__}",
        "content-length": str(len(body)),
        "connection": "close",
        **headers,
    }
    origin = httpcore2.Origin(url.scheme, url.host, url.port or 0)
    extensions = {} if trace is None else {"trace": trace}
    with (
        httpcore2.HTTPConnection(origin, ssl_context=tls, network_backend=backend) as connection,
        connection.stream(
            "POST", url, headers=list(sent.items()), content=body, extensions=extensions
        ) as response,
    ):
        yield response


class TimedBackend(httpcore2.NetworkBackend):
    """A network backend that connects to given addresses, whatever host is requested.

    Connecting, reading and writing end at one deadline, however slowly bytes arrive. TLS is still
    verified against the requested host.
    """

    def __init__(
        self, addresses: Sequence[str], deadline: float, clock: Callable[[], float]
    ) -> None:
        """Store addresses and deadline.

        Args:
            addresses: IP addresses, at least one; they are tried in order.
            deadline: the time on ``clock`` when everything ends.
            clock: a monotonic clock in seconds.
        """
        self._addresses = addresses
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
        """Connect to the first address that accepts the connection."""
        *others, last = self._addresses
        for address in others:
            try:
                return self._connect(address, port, local_address, socket_options)
            except httpcore2.ConnectError:
                continue
        return self._connect(last, port, local_address, socket_options)

    def _connect(
        self,
        address: str,
        port: int,
        local_address: str | None,
        socket_options: Iterable[Any] | None,
    ) -> httpcore2.NetworkStream:
        remaining = _seconds_left(self._deadline, self._clock)
        stream = self._network.connect_tcp(address, port, remaining, local_address, socket_options)
        return _TimedStream(stream, self._deadline, self._clock)


class _TimedStream(httpcore2.NetworkStream):
    """A stream whose reads and writes all end at one deadline, however slowly bytes arrive."""

    def __init__(
        self, stream: httpcore2.NetworkStream, deadline: float, clock: Callable[[], float]
    ) -> None:
        self._stream = stream
        self._deadline = deadline
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 (one deadline for all)
        """Return the bytes that are available."""
        return self._stream.read(max_bytes, _seconds_left(self._deadline, self._clock))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write all bytes."""
        self._stream.write(buffer, _seconds_left(self._deadline, self._clock))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Return the stream secured by TLS."""
        remaining = _seconds_left(self._deadline, self._clock)
        secured = self._stream.start_tls(ssl_context, server_hostname, remaining)
        return _TimedStream(secured, self._deadline, self._clock)

    def get_extra_info(self, info: str) -> Any:
        """Return information about the connection."""
        return self._stream.get_extra_info(info)


def _seconds_left(deadline: float, clock: Callable[[], float]) -> float:
    remaining = deadline - clock()
    if remaining <= 0:
        raise httpcore2.TimeoutException
    return remaining
