"""Take request bodies in: bounded in size and in time, never unpacked, spooled before use."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from typing import IO, Any, Final, NoReturn

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE: Final = 10.0
"""So many seconds a client may be silent in the middle of a body."""

SLOWEST: Final = 1024
"""So many bytes a second a body must bring, after the first seconds of patience."""

_IN_MEMORY: Final = 1 << 20
_CHUNK: Final = 1 << 18


class Bounded:
    """Refuse bodies that are too large (413), too slow (408) or packed (415)."""

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
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.most:
            self._too_large()
        await self.app(scope, self._bounded(receive), send)

    def _bounded(self, receive: Receive) -> Receive:
        taken = 0
        began: float | None = None
        ended = False

        async def read() -> Message:
            nonlocal taken, began, ended
            if ended:
                return await receive()
            began = time.monotonic() if began is None else began
            try:
                message = await asyncio.wait_for(receive(), self.patience)
            except TimeoutError:
                self._too_slow()
            taken += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if taken > self.most:
                self._too_large()
            late = time.monotonic() - began - self.patience
            if not ended and late > 0 and taken < late * SLOWEST:
                self._too_slow()
            return message

        return read

    def _too_large(self) -> NoReturn:
        most = f"{self.most / (1 << 20):g} MiB"
        raise_status(413, f"the body is larger than {most}; send it in several requests")

    def _too_slow(self) -> NoReturn:
        raise_status(
            408,
            f"no more of the body came within {self.patience:g} seconds, or too little; "
            "send it again over a better line",
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


def chunks(body: IO[bytes]) -> Iterator[bytes]:
    """Yield a spooled body in pieces, and close it at the end."""
    with body:
        while piece := body.read(_CHUNK):
            yield piece


def media_type(request: Request) -> str:
    """Return what kind of body a request says it has, without parameters."""
    value: Any = request.headers.get("content-type", "")
    return str(value).partition(";")[0].strip().casefold()
