"""Limit how many expensive requests are worked on at a time.

An explanation reads a contest's records, a proof hashes a whole board, a sign-in fills 64 MiB.
Sixty of them together would occupy every thread of the process and all memory, and its cheapest
requests would wait for them. So each kind has slots of its own; :mod:`agon.api.costs` names the
kind of every operation.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agon.api.costs import QUICK, Kind
from agon.errors import Unavailable

TIMEOUT_S: Final = 10.0
"""Maximum number of seconds a request waits for a slot."""


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
        timeout_s: maximum number of seconds one waits; None: no limit.
    """

    def __init__(
        self,
        *,
        max_running: int,
        max_per_caller: int,
        max_waiting: int,
        timeout_s: float | None = TIMEOUT_S,
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


class Slots:
    """The slots of one process, by the kind of work.

    Args:
        password_hashes: maximum number of passwords hashed at a time.
    """

    def __init__(self, *, password_hashes: int) -> None:
        self._limiters: Mapping[Kind, ConcurrencyLimiter] = {
            "passwords": ConcurrencyLimiter(
                max_running=password_hashes,
                max_per_caller=max(1, password_hashes // 2),
                max_waiting=16,
            ),
            "reads": ConcurrencyLimiter(max_running=6, max_per_caller=3, max_waiting=64),
            "boards": ConcurrencyLimiter(max_running=2, max_per_caller=1, max_waiting=16),
            "pages": ConcurrencyLimiter(max_running=8, max_per_caller=4, max_waiting=256),
            "forms": ConcurrencyLimiter(max_running=16, max_per_caller=8, max_waiting=256),
            "pictures": ConcurrencyLimiter(max_running=2, max_per_caller=1, max_waiting=32),
            "bodies": ConcurrencyLimiter(max_running=4, max_per_caller=2, max_waiting=32),
            "endpoints": ConcurrencyLimiter(max_running=4, max_per_caller=1, max_waiting=16),
            "streams": ConcurrencyLimiter(max_running=64, max_per_caller=8, max_waiting=0),
        }
        # As many wait as there are streams, and none of them fails on its way.
        self._parts = ConcurrencyLimiter(
            max_running=4, max_per_caller=2, max_waiting=1024, timeout_s=None
        )

    def slot(self, kind: Kind, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Occupy a slot of a kind for the caller of a request, as long as the context lasts.

        Raises:
            Busy: as for :meth:`ConcurrencyLimiter.acquire`.
        """
        return nullcontext() if kind == QUICK else self._limiters[kind].slot(scope)

    def part(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Occupy a slot for the next part of a stream that has one."""
        return self._parts.slot(scope)


class StreamInSlots(StreamingResponse):
    """A response whose parts are made one by one, each in a slot.

    A client that reads slowly occupies one of many slots for streams, and none in which others'
    parts are made.

    Args:
        parts: makes the parts, in threads.
        slots: the slots of the process.
        headers: of the response.
        media_type: of the response.
    """

    def __init__(
        self,
        parts: Generator[bytes, None, None],
        *,
        slots: Slots,
        headers: Mapping[str, str],
        media_type: str,
    ) -> None:
        super().__init__((), headers=headers, media_type=media_type)
        self._parts = parts
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response.

        Raises:
            Busy: there are too many streams already; nothing was sent.
        """
        async with self._slots.slot("streams", scope):
            self.body_iterator = self._made_in_slots(scope)
            try:
                await super().__call__(scope, receive, send)
            finally:
                self._parts.close()

    async def _made_in_slots(self, scope: Scope) -> AsyncIterator[bytes]:
        while True:
            async with self._slots.part(scope):
                part = await run_in_threadpool(next, self._parts, None)
            if part is None:
                return
            yield part
