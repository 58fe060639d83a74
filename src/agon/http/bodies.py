"""Read request bodies: of the right type, limited in size and in time, never decompressed."""

import asyncio
import tempfile
import time
from typing import IO, Final, NoReturn

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TIMEOUT_S: Final = 10.0
"""Maximum number of seconds between two chunks of a body."""

MIN_BYTES_PER_S: Final = 1024
"""Minimum rate of a body, after the first :data:`TIMEOUT_S` seconds."""

MAX_VALUE_BYTES: Final = 8 << 20
"""Maximum size of a body that is parsed as one value, all of it in memory."""

MAX_VALUES: Final = 500_000
"""Maximum number of commas and brackets in it: each can become a value of a hundred bytes."""

MIN_BYTES_PER_LINE: Final = 8
"""Minimum average length of the lines of other bodies; the shortest record is as long."""

_MIN_CHECKED_BYTES: Final = 1 << 20

MAX_ANONYMOUS_BYTES: Final = 64 << 10
"""Maximum number of bytes read of a body that comes without a token; it is rejected anyway."""

_IN_MEMORY: Final = 1 << 20
"""Maximum number of bytes of a whole body in memory; of a larger one they are in a file."""

BULK_PATHS: Final = ("/records", "/votes", "/contests/import")
"""Ends of paths whose bodies are spooled and read in chunks."""


class BodyLimitMiddleware:
    """Rejects bodies that are too large (413), too slow (408), compressed (415) or anonymous (401).

    Args:
        app: the application.
        max_bytes: maximum size of a body of records or of a ledger.
        timeout_s: maximum number of seconds between two chunks.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, timeout_s: float = TIMEOUT_S) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its body is checked while it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        encoding = headers.get("content-encoding", "identity").strip().casefold()
        if encoding not in {"", "identity"}:
            raise_status(
                415,
                f"the content encoding {encoding[:40]!r} is not supported; send it plain",
            )
        kind = media_type(headers)
        bulk = scope["path"].endswith(BULK_PATHS) and kind != "application/json"
        limit = self.max_bytes if bulk else min(self.max_bytes, MAX_VALUE_BYTES)
        length = headers.get("content-length", "")
        if length and "transfer-encoding" in headers:
            raise_status(
                400,
                "the body has two lengths; send Content-Length or Transfer-Encoding",
            )
        declared = int(length) if length.isdecimal() else 0
        if declared > limit:
            _too_large(limit)
        await self.app(scope, self._limit_body(receive, scope, limit, declared, bulk=bulk), send)

    def _limit_body(
        self, receive: Receive, scope: Scope, limit: int, declared: int, *, bulk: bool
    ) -> Receive:
        size = values = 0
        began: float | None = None
        ended = False

        async def read() -> Message:
            nonlocal size, values, began, ended
            if ended:
                return await receive()
            anonymous = _is_anonymous(scope)
            if anonymous and declared > MAX_ANONYMOUS_BYTES:
                _token_required()
            began = time.monotonic() if began is None else began
            try:
                message = await asyncio.wait_for(receive(), self.timeout_s)
            except TimeoutError:
                self._too_slow()
            body = message.get("body", b"")
            size += len(body)
            ended = not message.get("more_body", False)
            if anonymous and size > MAX_ANONYMOUS_BYTES:
                _token_required()
            if size > limit:
                _too_large(limit)
            values += sum(map(body.count, (b"\n",) if bulk else (b",", b"[", b"{")))
            _require_few_values(values, size, bulk=bulk)
            late = time.monotonic() - began - self.timeout_s
            if not ended and late > 0 and size < late * MIN_BYTES_PER_S:
                self._too_slow()
            return message

        return read

    def _too_slow(self) -> NoReturn:
        raise_status(
            408,
            f"no more of the body came within {self.timeout_s:g} seconds, or too little; "
            "send it again over a faster connection",
        )


def _is_anonymous(scope: Scope) -> bool:
    """Return whether a request came without a token; the caller is known when its body is read."""
    caller = scope.get("agon.caller")
    return caller is None or caller.role is None


def _token_required() -> NoReturn:
    raise HTTPException(
        401,
        "a body of this length needs a token; send Authorization: Bearer agon_…",
        headers={"connection": "close", "www-authenticate": 'Bearer realm="agon"'},
    )


def _require_few_values(values: int, size: int, *, bulk: bool) -> None:
    """Reject a body of too many lines or values for its size."""
    if not bulk and values > MAX_VALUES:
        raise_status(413, f"the body has more than {MAX_VALUES:,} values; send fewer")
    if bulk and size > _MIN_CHECKED_BYTES and size < values * MIN_BYTES_PER_LINE:
        raise_status(413, "the body has more lines than records; leave out empty ones")


def _too_large(limit: int) -> NoReturn:
    raise_status(
        413, f"the body is larger than {limit / (1 << 20):g} MiB; send it in several requests"
    )


async def spooled(request: Request) -> IO[bytes]:
    """Return the whole body, in memory or, when it is large, in a file; the caller closes it.

    Work begins only then, so that a slow client never holds a transaction open.
    """
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (the caller closes it)
    try:
        async for chunk in request.stream():
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def has_body(headers: Headers) -> bool:
    """Return whether a request has a body."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def require_json(headers: Headers) -> None:
    """Raise HTTPException (415) unless the content type is one of JSON."""
    kind = media_type(headers)
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise_unsupported(kind, "application/json")


def raise_unsupported(kind: str, remedy: str) -> NoReturn:
    """Reject the content type of a body; the remedy names those that are supported.

    Raises:
        HTTPException: always (415).
    """
    fact = f"has the content type {kind[:40]!r}" if kind else "has no content type"
    raise_status(415, f"the body {fact}; send the header Content-Type: {remedy}")


def media_type(headers: Headers) -> str:
    """Return the media type of a request's body, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().casefold()


def raise_status(status: int, detail: str) -> NoReturn:
    """Reject a request with an HTTP status and close the connection: more of its body may follow.

    Raises:
        HTTPException: always.
    """
    raise HTTPException(status, detail, headers={"connection": "close"})
