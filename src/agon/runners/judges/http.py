"""POST JSON to a model's endpoint: one deadline, limited size, every failure as a value."""

import re
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import httpcore2

from agon.app.arena.judging.excerpts import excerpt
from agon.app.arena.judging.port import CallFailure
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Unavailable, Unreadable
from agon.runners.retry_after import parse_retry_after
from agon.runners.timed_network import JSON_HEADERS, TimedBackend, timed_post
from agon.runners.webhooks import resolve

MAX_RESPONSE_BYTES: Final = 1 << 20
_MILLISECOND: Final = 0.001
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_KEY: Final = re.compile(r"[!-~]+")
_SHORTEST_SECRET: Final = 8
"""Characters from which a key is a secret. Servers that check none are given a placeholder (``x``,
``none``, ``EMPTY``), which may stand in any reply: ``<thin***>`` would be no thinking tag."""


_TOO_LARGE: Final = CallFailure(
    fault=Fault("bot", "too-large", f"the response has over {MAX_RESPONSE_BYTES:,} bytes"),
    retryable=False,
)


@dataclass(frozen=True)
class JudgeResponse:
    """A response of an endpoint.

    Attributes:
        status: the HTTP status.
        body: the complete body; ``***`` instead of the key, should it occur and have eight
            characters.
        retry_after: the pause that the endpoint asks for.
        issue: why the body is still encoded; empty if it is not.
    """

    status: int
    body: bytes
    retry_after: timedelta | None
    issue: str = ""


@dataclass(frozen=True, kw_only=True)
class JsonClient:
    """A client of one URL; each request has its own connection.

    It follows no redirect, uses no proxy of the environment and asks for no compression (gateways
    that compress in spite of that are read), and its time limit holds for name, connection,
    request and response together.

    Attributes:
        url: the URL.
        headers: further headers of every request.
        key: the key within them, which is in no value that this class returns.
        tls: the trusted certificates; by default those httpx2 trusts.
        clock: a monotonic clock in seconds.

    Raises:
        Unreadable: the URL is not an http or https URL, or the key cannot stand in a header.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    key: str = field(repr=False)
    tls: ssl.SSLContext | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Check URL and key."""
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError:
            parts = urlsplit("")
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or "@" in parts.netloc
            or not self.url.isascii()
        ):
            raise Unreadable(
                "the URL of a model is not an http or https URL without user and password; write "
                "one such as https://api.anthropic.com"
            )
        if self.key and not _KEY.fullmatch(self.key):
            raise Unreadable(
                "the key of a model has spaces, line ends or other characters than ASCII; set its "
                "environment variable to the key alone"
            )

    def post(self, body: bytes, *, seconds: float) -> JudgeResponse | CallFailure:
        """Return the response to a body, or why there is none."""
        deadline = self.clock() + seconds
        try:
            response = self._post(body, deadline)
        except Unavailable:
            # A resolver that did not answer in time leaves no time for the call either.
            is_late = self.clock() + _MILLISECOND >= deadline
            dns = _network("dns", "the name of the endpoint cannot be resolved")
            return _late(seconds) if is_late else dns
        except httpcore2.TimeoutException:
            return _late(seconds)
        except httpcore2.ConnectError as error:
            return _connect_failure(error)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError):
            return _network("reset", "the connection broke before the response's end")
        return _TOO_LARGE if response is None else response

    def _post(self, body: bytes, deadline: float) -> JudgeResponse | None:
        """Return the response; None if it is too large."""
        parts = urlsplit(self.url)
        name = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        left = deadline - self.clock()
        addresses = resolve(name, port, seconds=max(left, 0.0))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        url = httpcore2.URL(
            scheme=parts.scheme.encode(), host=name.encode(), port=port, target=target.encode()
        )
        with timed_post(
            url,
            body,
            headers={"host": parts.netloc, **JSON_HEADERS, **self.headers},
            backend=TimedBackend(addresses, deadline, self.clock),
            tls=self.tls,
        ) as response:
            content = bytearray()
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > MAX_RESPONSE_BYTES:
                    return None
            fields = {key.lower(): value for key, value in response.headers}
            pause = parse_retry_after(fields.get(b"retry-after", b"").decode("latin-1"))
            encoding = fields.get(b"content-encoding", b"").decode("latin-1")
            body, issue = _plain_body(bytes(content), encoding)
            if len(body) > MAX_RESPONSE_BYTES:
                return None
            return JudgeResponse(response.status, self._without_key(body), pause, issue)

    def _without_key(self, content: bytes) -> bytes:
        is_secret = len(self.key) >= _SHORTEST_SECRET
        return content.replace(self.key.encode(), b"***") if is_secret else content


def _plain_body(content: bytes, encoding: str) -> tuple[bytes, str]:
    """Return a body without its encoding, or as it came with the reason why it has it still.

    A body that grows beyond the limit is returned with one byte more than the limit.
    """
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return content, ""
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        return content, f"its encoding is {excerpt(encoding)}, which was not asked for"
    reader = zlib.decompressobj(wbits=_GZIP_OR_ZLIB)
    try:
        body = reader.decompress(content, MAX_RESPONSE_BYTES + 1)
    except zlib.error:
        body = b""
    if reader.eof or len(body) > MAX_RESPONSE_BYTES:
        return body, ""
    return content, f"its encoding {encoding} is spoiled or cut off"


def _connect_failure(error: httpcore2.ConnectError) -> CallFailure:
    """Return the failure of a connection, by the system's error under the library's."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return _network("tls", "the endpoint's certificate or TLS is not valid")
        if isinstance(cause, ConnectionRefusedError):
            return _network("refused", "the endpoint accepts no connections")
        cause = cause.__cause__ or cause.__context__
    return _network("unreachable", "the endpoint's network cannot be reached")


def _late(seconds: float) -> CallFailure:
    detail = f"no complete response came within {seconds:.3g} s"
    return CallFailure(fault=Fault("bot", "late", detail), retryable=True)


def _network(code: str, detail: str) -> CallFailure:
    return CallFailure(fault=Fault("transport", code, detail), retryable=True)
