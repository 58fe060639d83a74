"""Send webhooks over the network: to the address that was checked, within one time limit."""

import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from threading import Thread
from typing import Final

import httpcore2

from agon.app.webhooks.address_guard import CheckedAddress
from agon.app.webhooks.delivery import DeliveryAnswer
from agon.errors import Unavailable
from agon.runners.retry_after import parse_retry_after
from agon.runners.timed_network import TimedBackend, timed_post

SECONDS: Final = 10.0
MAX_RESPONSE_BYTES: Final = 4 << 10
_TOO_SLOW = "no answer came within {:g} s; answer 2xx first, and work afterwards"


def resolve(name: str, port: int, *, seconds: float = 5.0) -> list[str]:
    """Return all addresses of a host name, in the system's order.

    Raises:
        Unavailable: it has none, or the resolver did not answer in time.
    """
    addresses: list[str] = []
    errors: list[str] = []

    def look_up() -> None:
        try:
            infos = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            errors.append(str(error))
        else:
            addresses.extend(dict.fromkeys(str(info[4][0]) for info in infos))

    # The system's resolver has no timeout; a daemon thread that still waits blocks nothing.
    thread = Thread(target=look_up, name=f"resolve {name}", daemon=True)
    thread.start()
    thread.join(seconds)
    if not addresses:
        reason = errors[0] if errors else f"no answer within {seconds:g} s"
        raise Unavailable(f"{name} cannot be resolved ({reason}); correct the name or the DNS")
    return addresses


def url_of(target: CheckedAddress) -> httpcore2.URL:
    """Return the URL of a checked address, by the name of its host."""
    return httpcore2.URL(
        scheme=b"https" if target.tls else b"http",
        host=target.host.encode("ascii"),
        port=target.port,
        target=target.path.encode("ascii"),
    )


class HttpSender:
    """A sender of webhooks over HTTP/1.1, each request over its own connection.

    It connects to the target's checked address, even if its name resolves to another by now; TLS is
    verified against the name. It uses no proxy of the environment, follows no redirect, reads at
    most 4 KiB of the response, and ends within one time limit, however slowly data arrives.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store what all requests share.

        Args:
            tls: the trusted certificates; by default those httpx2 trusts.
            seconds: the time limit of a request.
            clock: a monotonic clock in seconds.
        """
        self._tls = tls
        self._seconds = seconds
        self._clock = clock

    def send(
        self, target: CheckedAddress, *, headers: Mapping[str, str], body: bytes
    ) -> DeliveryAnswer:
        """POST a body; see :class:`agon.app.webhooks.delivery.WebhookSender`."""
        start = self._clock()
        status: int | None = None
        error: str | None = None
        text, retry_after = "", None
        try:
            status, text, retry_after = self._post(target, headers, body, start + self._seconds)
        except httpcore2.TimeoutException:
            error = _TOO_SLOW.format(self._seconds)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as failed:
            error = f"{_kind(failed)}: {failed}" if str(failed) else _kind(failed)
        ms = round((self._clock() - start) * 1000)
        return DeliveryAnswer(status=status, error=error, ms=ms, body=text, retry_after=retry_after)

    def _post(
        self, target: CheckedAddress, headers: Mapping[str, str], body: bytes, deadline: float
    ) -> tuple[int, str, timedelta | None]:
        with timed_post(
            url_of(target),
            body,
            headers={"host": target.host_header, **headers},
            backend=TimedBackend([target.address], deadline, self._clock),
            tls=self._tls,
        ) as response:
            read = bytearray()
            # The status decides; a body that does not end does not change it.
            with suppress(httpcore2.TimeoutException, httpcore2.NetworkError,
                          httpcore2.ProtocolError):  # fmt: skip
                for chunk in response.iter_stream():
                    read += chunk
                    if len(read) >= MAX_RESPONSE_BYTES:
                        break
            fields = {name.lower(): value for name, value in response.headers}
            return (
                response.status,
                bytes(read[:MAX_RESPONSE_BYTES]).decode("utf-8", "replace"),
                parse_retry_after(fields.get(b"retry-after", b"").decode("latin-1")),
            )


def _kind(error: Exception) -> str:
    """Return the kind of an error, for the webhook's owner."""
    if isinstance(error, httpcore2.ConnectError):
        return "cannot connect"
    if isinstance(error, httpcore2.ProtocolError):
        return "the response is not HTTP"
    return "the connection broke"
