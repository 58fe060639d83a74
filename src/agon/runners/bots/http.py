"""Send work to bots over HTTP: signed, to a checked address, with one deadline and limited size."""

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import httpcore2
import orjson

from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.webhooks.address_guard import NO_ADDRESS, CheckedAddress, ForbiddenUrl, check_address
from agon.app.webhooks.signatures import signature
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Unavailable
from agon.runners.bots.replies import read_reply
from agon.runners.timed_network import JSON_HEADERS, TimedBackend, timed_post
from agon.runners.webhooks import resolve as system_resolve
from agon.runners.webhooks import url_of

MAX_REPLY_BYTES: Final = 64 << 10
"""Maximum size of a reply; an answer of ``max_chars`` is far smaller."""
_OK: Final = 200
_ADDRESS: Final = "address-refused"
_NOT_ALLOWED: Final = (
    "the endpoint's URL is not allowed; use https, port 443 or one from 1024 on, and a public name"
)
_REDIRECTS: Final = range(300, 400)


class TimedResolve(Protocol):
    """A function that looks up the addresses of a name within a time limit."""

    def __call__(self, name: str, port: int, *, seconds: float) -> Sequence[str]:
        """Return all addresses; raise ``Unavailable`` when there are none in time."""


@dataclass(frozen=True)
class BotResponse:
    """A complete body that came with status 200, and the milliseconds it took."""

    body: bytes
    latency_ms: float


def signing_headers(
    secrets: Sequence[bytes], *, message: str, body: bytes, at: datetime
) -> dict[str, str]:
    """Return the headers of Standard Webhooks, with a signature for each secret.

    Example:
        >>> at = datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
        >>> signing_headers([b"k" * 32], message="msg_1", body=b"{}", at=at)["webhook-signature"]
        'v1,Tgvgb/pPaug9v9Ohm7bDsFNGiztJbNOGpxr/UHG+Lg0='
    """
    timestamp = int(at.timestamp())
    signatures = [
        signature(secret, id=message, timestamp=timestamp, body=body) for secret in secrets
    ]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


class HttpBots:
    """The transport of bots with an endpoint; each request has its own connection.

    The name is looked up once, and the connection goes to an address that was checked. No redirect
    is followed, no proxy of the environment used, no compression accepted. At most
    :data:`MAX_REPLY_BYTES` are read, and everything, from the look-up to the last byte, ends within
    one time limit. It may be used by several threads.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        resolve: TimedResolve = system_resolve,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Store what all requests share.

        Args:
            allow_private: whether plain http, every port and private addresses are allowed
                (setting ``allow_private_bots``).
            resolve: looks up names.
            tls: the trusted certificates; by default those httpx2 trusts.
            clock: a monotonic clock in seconds.
            now: the time that signatures state.
        """
        self._allow_private = allow_private
        self._resolve = resolve
        self._tls = tls
        self._clock = clock
        self._now = now

    def ask(
        self, endpoint: Endpoint, work: Mapping[str, Any], *, seconds: float
    ) -> BotReply | Fault:
        """Send work once; see :class:`agon.app.arena.live.network.transport.BotTransport`."""
        body = orjson.dumps(dict(work))
        headers = signing_headers(
            endpoint.secrets, message=str(work["id"]), body=body, at=self._now()
        )
        response = self.post(endpoint.url, headers=headers, body=body, seconds=seconds)
        if isinstance(response, Fault):
            # Faults of matches are public, and addresses of bots are not; a ping's are the owner's.
            is_private = response.code == _ADDRESS and work["kind"] != "ping"
            return replace(response, detail=_NOT_ALLOWED) if is_private else response
        return read_reply(response.body, kind=str(work["kind"]), latency_ms=response.latency_ms)

    def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, seconds: float
    ) -> BotResponse | Fault:
        """Return the response to a body with headers, or why there is none with status 200."""
        start = self._clock()
        deadline = start + seconds
        progress = _Progress(self._clock)
        try:
            target = self._target(url, deadline)
            content = self._post(target, headers, body, deadline, progress)
        except ForbiddenUrl as error:
            return Fault("transport", _ADDRESS, str(error))
        except Unavailable:
            return Fault("transport", "dns", NO_ADDRESS)
        except httpcore2.TimeoutException:
            return progress.timeout(seconds)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            return _network_fault(error)
        if isinstance(content, Fault):
            return content
        return BotResponse(content, (self._clock() - progress.sent_at(start)) * 1000)

    def _target(self, url: str, deadline: float) -> CheckedAddress:
        """Return the checked address of an endpoint."""

        def look_up(name: str, port: int) -> Sequence[str]:
            return self._resolve(name, port, seconds=max(deadline - self._clock(), 0.0))

        return check_address(url, resolve=look_up, allow_private=self._allow_private)

    def _post(
        self,
        target: CheckedAddress,
        headers: Mapping[str, str],
        body: bytes,
        deadline: float,
        progress: "_Progress",
    ) -> bytes | Fault:
        """Return the complete body, or the fault that status, encoding or size show."""
        with timed_post(
            url_of(target),
            body,
            headers={"host": target.host_header, **JSON_HEADERS, **headers},
            backend=TimedBackend([target.address], deadline, self._clock),
            tls=self._tls,
            trace=progress.trace,
        ) as response:
            fault = _head_fault(response)
            if fault is not None:
                return fault
            content = bytearray()
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > MAX_REPLY_BYTES:
                    return Fault("bot", "too-large", f"the reply has over {MAX_REPLY_BYTES:,} B")
            return bytes(content)


@dataclass(frozen=True)
class EndpointBot:
    """A bot that is asked over HTTP, with signed requests to its endpoint."""

    bots: HttpBots
    endpoint: Endpoint

    def ask(self, work: Mapping[str, Any], *, seconds: float) -> BotReply | Fault:
        """Send work once and return the reply, or why there is none."""
        return self.bots.ask(self.endpoint, work, seconds=seconds)


def _head_fault(response: httpcore2.Response) -> Fault | None:
    """Return what is wrong with the status or the headers of a response."""
    status = response.status
    if status in _REDIRECTS:
        return Fault("bot", "redirect", f"status {status}; redirects are not followed")
    if status != _OK:
        return Fault("bot", f"status-{status}", "only status 200 is an answer")
    fields = {name.lower(): value for name, value in response.headers}
    encoding = fields.get(b"content-encoding", b"").decode("latin-1").strip().lower()
    if encoding not in {"", "identity"}:
        detail = f"the body is encoded as {encoding[:20]}; send it without compression"
        return Fault("bot", "invalid", detail)
    return None


class _Progress:
    """How far a request got: whom a time-out is counted against, and when sending began."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._event = ""
        self._connected_at: float | None = None

    def trace(self, event: str, info: Mapping[str, Any]) -> None:  # noqa: ARG002 (httpcore's signature)
        """Note an event of the request."""
        self._event = event
        if event == "http11.send_request_headers.started":
            self._connected_at = self._clock()

    def sent_at(self, start: float) -> float:
        """Return when the first byte was sent."""
        return start if self._connected_at is None else self._connected_at

    def timeout(self, seconds: float) -> Fault:
        """Return the fault of a request that took too long."""
        if self._connected_at is not None:
            return Fault("bot", "late", f"no complete reply came within {seconds:.3g} s")
        if self._event.startswith("connection.start_tls"):
            return Fault("transport", "tls", f"TLS was not established within {seconds:.3g} s")
        return Fault("transport", "unreachable", f"no connection within {seconds:.3g} s")


def _network_fault(error: BaseException) -> Fault:
    """Return the fault of a broken connection, by the system's error under the library's."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return Fault("transport", "tls", "the endpoint's certificate or TLS is not valid")
        if isinstance(cause, ConnectionRefusedError):
            return Fault("transport", "refused", "the endpoint accepts no connections")
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore2.ConnectError):
        return Fault("transport", "unreachable", "the endpoint's network cannot be reached")
    if isinstance(error, httpcore2.ProtocolError) and not _is_cut_off(error):
        return Fault("bot", "invalid", "the response is not HTTP/1.1")
    return Fault("transport", "reset", "the connection broke before the reply's end")


def _is_cut_off(error: httpcore2.ProtocolError) -> bool:
    """Return whether a response ended too early; the library has one type for both errors."""
    return "disconnected" in str(error) or "closed connection" in str(error)
