"""Take request bodies in: bounded in size and in time, never unpacked, spooled before use."""

import asyncio
import tempfile
import time
from typing import IO, Final, NoReturn

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE: Final = 10.0
"""So many seconds a client may be silent in the middle of a body."""

SLOWEST: Final = 1024
"""So many bytes a second a body must bring, after the first seconds of patience."""

FORM: Final = 8 << 20
"""So many bytes a body has that is read as one value, all of it in memory."""

PARTS: Final = 500_000
"""So many commas and brackets such a body has: each can become a value of a hundred bytes."""

SHORTEST: Final = 8
"""So many bytes the lines of other bodies have on the average; the shortest record has as many."""

_FEW: Final = 1 << 20

STRANGERS: Final = 64 << 10
"""So many bytes are read of a body that nobody's token came with; all it gets is a refusal."""

BULK: Final = ("/records", "/votes", "/contests/import")
"""Ends of addresses whose bodies are spooled and read piece by piece."""

_IN_MEMORY: Final = 1 << 20


class Bounded:
    """Refuse bodies that are too large (413), too slow (408), packed (415) or nobody's (401).

    Args:
        app: the application.
        most: so many bytes a body of records or a ledger may have.
        patience: so many seconds a client may be silent.
    """

    def __init__(self, app: ASGIApp, *, most: int, patience: float = PATIENCE) -> None:
        self.app = app
        self.most = most
        self.patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on whose body is bounded while it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        packing = headers.get("content-encoding", "identity").strip().casefold()
        if packing not in {"", "identity"}:
            raise_status(415, f"a body packed with {packing[:40]!r} is not taken; send it plain")
        kind = media_type(headers)
        bulk = scope["path"].endswith(BULK) and kind != "application/json"
        most = self.most if bulk else min(self.most, FORM)
        length = headers.get("content-length", "")
        if length and "transfer-encoding" in headers:
            raise_status(400, "two lengths are told of this body; send Content-Length or chunks")
        told = int(length) if length.isdecimal() else 0
        if told > most:
            _too_large(most)
        await self.app(scope, self._bounded(receive, scope, most, told, bulk=bulk), send)

    def _bounded(
        self, receive: Receive, scope: Scope, most: int, told: int, *, bulk: bool
    ) -> Receive:
        taken = parts = 0
        began: float | None = None
        ended = False

        async def read() -> Message:
            nonlocal taken, parts, began, ended
            if ended:
                return await receive()
            stranger = _is_stranger(scope)
            if stranger and told > STRANGERS:
                _of_nobody()
            began = time.monotonic() if began is None else began
            try:
                message = await asyncio.wait_for(receive(), self.patience)
            except TimeoutError:
                self._too_slow()
            body = message.get("body", b"")
            taken += len(body)
            ended = not message.get("more_body", False)
            if stranger and taken > STRANGERS:
                _of_nobody()
            if taken > most:
                _too_large(most)
            parts += sum(map(body.count, (b"\n",) if bulk else (b",", b"[", b"{")))
            _expect_few(parts, taken, bulk=bulk)
            late = time.monotonic() - began - self.patience
            if not ended and late > 0 and taken < late * SLOWEST:
                self._too_slow()
            return message

        return read

    def _too_slow(self) -> NoReturn:
        raise_status(
            408,
            f"no more of the body came within {self.patience:g} seconds, or too little; "
            "send it again over a better line",
        )


def _is_stranger(scope: Scope) -> bool:
    """Tell whether nobody's token came with a request; who asks is known when its body is read."""
    caller = scope.get("agon.caller")
    return caller is None or caller.role is None


def _of_nobody() -> NoReturn:
    raise HTTPException(
        401,
        "so long a body is read with a token only; send Authorization: Bearer agon_…",
        headers={"connection": "close", "www-authenticate": 'Bearer realm="agon"'},
    )


def _expect_few(parts: int, taken: int, *, bulk: bool) -> None:
    """Refuse a body of more lines, or of more values, than anybody has use for."""
    if not bulk and parts > PARTS:
        raise_status(413, f"the body has more than {PARTS:,} values; send fewer")
    if bulk and taken > _FEW and taken < parts * SHORTEST:
        raise_status(413, "the body has more lines than records; leave out empty ones")


def _too_large(most: int) -> NoReturn:
    raise_status(
        413, f"the body is larger than {most / (1 << 20):g} MiB; send it in several requests"
    )


def raise_status(status: int, detail: str) -> NoReturn:
    """Refuse a request in the words of HTTP; the connection is closed, its body may go on.

    Raises:
        HTTPException: always.
    """
    raise HTTPException(status, detail, headers={"connection": "close"})


async def spooled(request: Request) -> IO[bytes]:
    """Read the whole body into memory or, when it is large, into a file; closing it is yours.

    Only then work begins, so that a slow client never holds a transaction open.
    """
    kept: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (given on)
    try:
        async for chunk in request.stream():
            kept.write(chunk)
    except BaseException:
        kept.close()
        raise
    kept.seek(0)
    return kept


def media_type(headers: Headers) -> str:
    """Return what kind of body a request's headers tell of, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().casefold()
