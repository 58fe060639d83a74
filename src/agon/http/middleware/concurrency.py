"""Limit how many expensive requests are worked on at a time.

An explanation reads a contest's records, a proof hashes a whole board. Sixty of them together would
occupy every thread of the process, and its cheapest requests would wait for them.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.errors import Unavailable

MAX_RUNNING: Final = 8
"""Maximum number of expensive requests a process works on; it has five times as many threads."""

MAX_PER_CALLER: Final = 3
"""Maximum number of them from one caller: a token, or without one a network."""

MAX_WAITING: Final = 64
"""Maximum number of requests that wait for a slot; further ones get 503."""

TIMEOUT_S: Final = 10.0
"""Maximum number of seconds a request waits for a slot."""

EXPENSIVE: Final = re.compile(
    r"/api/v1/contests/[^/]+/(boards/[^/]+/(?!history/|rows/|(unscored|columns|distribution)$).+|participants/.+)"
    r"|/c/[^/]+/(people|judges|card)/.+"
)
"""Paths of expensive requests; searches on boards take their slot themselves."""


class Busy(Unavailable):
    """Too many expensive requests are being worked on."""

    retry_after = 2.0


class ConcurrencyLimiter:
    """Gives out slots: a number in total, fewer to each caller; first come, first served.

    Used from one event loop.

    Args:
        max_running: slots in total.
        max_per_caller: slots of one caller.
        max_waiting: maximum number of requests that wait.
        timeout_s: maximum number of seconds one waits.
    """

    def __init__(
        self,
        *,
        max_running: int = MAX_RUNNING,
        max_per_caller: int = MAX_PER_CALLER,
        max_waiting: int = MAX_WAITING,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._max_running = max_running
        self._max_per_caller = max_per_caller
        self._max_waiting = max_waiting
        self._timeout_s = timeout_s
        self._running: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, scope: Scope) -> AsyncIterator[None]:
        """Occupy a slot for the caller of a request.

        Raises:
            Busy: as for :meth:`acquire`.
        """
        caller = caller_key(scope)
        await self.acquire(caller)
        try:
            yield
        finally:
            self.release(caller)

    async def acquire(self, caller: str) -> None:
        """Wait for a free slot and occupy it; :meth:`release` frees it.

        Raises:
            Busy: too many wait already, or none became free in time.
        """
        if self._has_slot(caller):
            self._running[caller] += 1
            return
        # A caller that fills the queue alone would keep all others from ever waiting.
        own = sum(waiting_caller == caller for waiting_caller, _ in self._waiting)
        if len(self._waiting) >= self._max_waiting or own * 2 >= self._max_waiting:
            raise Busy("too many expensive requests are waiting; try again in a few seconds")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((caller, turn))
        try:
            await asyncio.wait_for(asyncio.shield(turn), self._timeout_s)
        except BaseException as error:
            if turn.done():
                self.release(caller)
            else:
                self._waiting.remove((caller, turn))
            if isinstance(error, TimeoutError):
                raise Busy(
                    "the server is busy with expensive requests; try again in a few seconds"
                ) from None
            raise

    def release(self, caller: str) -> None:
        """Free a slot; the longest waiting request gets it."""
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        for waiting in list(self._waiting):
            if self._has_slot(waiting[0]):
                self._waiting.remove(waiting)
                self._running[waiting[0]] += 1
                waiting[1].set_result(None)

    def _has_slot(self, caller: str) -> bool:
        return (
            self._running.total() < self._max_running
            and self._running[caller] < self._max_per_caller
        )


def caller_key(scope: Scope) -> str:
    """Return what a request's slots are counted under: its token, or without one its network."""
    key: str = scope["agon.who"]
    return f"network {scope['agon.caller'].network}" if key == "anonymous" else key


class ConcurrencyLimitMiddleware:
    """Lets expensive requests wait for a slot.

    A page that answers with the data of another address has a slot already (``agon.slot``).
    The slot is given back when the response begins: by then it is made, or is read in chunks at
    the pace of its client.
    """

    def __init__(self, app: ASGIApp, *, limiter: ConcurrencyLimiter) -> None:
        self.app = app
        self.limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it has a slot."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "agon.caller" not in scope
            or "agon.slot" in scope
            or EXPENSIVE.fullmatch(scope["path"]) is None
        ):
            await self.app(scope, receive, send)
            return
        caller = caller_key(scope)
        await self.limiter.acquire(caller)
        running = True

        def release() -> None:
            nonlocal running
            if running:
                running = False
                self.limiter.release(caller)

        async def release_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                release()
            await send(message)

        try:
            scope["agon.slot"] = True
            await self.app(scope, receive, release_and_send)
        finally:
            release()
