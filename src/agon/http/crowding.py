"""Let few long answers be worked on at a time, so that whoever asks for them keeps nobody else out.

An explanation reads a contest's records, a proof hashes a whole board. Asked for by sixty people at
once they would hold every thread of the process, and its shortest answers would wait for them.
"""

import asyncio
import re
from collections import Counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.errors import Unavailable

AT_ONCE: Final = 8
"""So many long answers a process works on; it has five times as many threads."""

EACH: Final = 3
"""So many of them are one caller's: a token's, or without one a network's."""

WAITING: Final = 64
"""So many requests wait for their turn; those after them are sent away."""

PATIENCE: Final = 10.0
"""So many seconds a request waits for its turn."""

LONG: Final = re.compile(r"/api/v1/contests/[^/]+/(boards/[^/]+(/(?!history/).*)?|participants/.+)")


class Busy(Unavailable):
    """Say that too many long answers are being worked on."""

    retry_after = 2.0


class Crowd:
    """Hand out places: some in all, fewer to each caller; first come, first served.

    Used by one event loop alone.

    Args:
        at_once: places in all.
        each: places of one caller.
        waiting: so many may wait.
        patience: seconds one waits.
    """

    def __init__(
        self,
        *,
        at_once: int = AT_ONCE,
        each: int = EACH,
        waiting: int = WAITING,
        patience: float = PATIENCE,
    ) -> None:
        self._at_once = at_once
        self._each = each
        self._most_waiting = waiting
        self._patience = patience
        self._inside: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    async def enter(self, who: str) -> None:
        """Take a place, as soon as there is one; :meth:`leave` gives it back.

        Raises:
            Busy: too many wait already, or none became free in time.
        """
        if self._fits(who):
            self._inside[who] += 1
            return
        # Who fills the queue alone would keep others from ever waiting.
        mine = sum(one == who for one, _ in self._waiting)
        if len(self._waiting) >= self._most_waiting or mine * 2 >= self._most_waiting:
            raise Busy("too many long answers are asked for; come back in a moment")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((who, turn))
        try:
            await asyncio.wait_for(asyncio.shield(turn), self._patience)
        except BaseException as ended:
            if turn.done():
                self.leave(who)
            else:
                self._waiting.remove((who, turn))
            if isinstance(ended, TimeoutError):
                raise Busy("long answers take their time just now; come back in a moment") from None
            raise

    def leave(self, who: str) -> None:
        """Give a place back; whoever waits for it longest gets it."""
        self._inside[who] -= 1
        if not self._inside[who]:
            del self._inside[who]
        for one in list(self._waiting):
            if self._fits(one[0]):
                self._waiting.remove(one)
                self._inside[one[0]] += 1
                one[1].set_result(None)

    def _fits(self, who: str) -> bool:
        return self._inside.total() < self._at_once and self._inside[who] < self._each


class Orderly:
    """Let requests for long answers in one by one.

    A place is given back when the answer begins: by then it is made, or is read piece by piece at
    the pace of whoever reads it.
    """

    def __init__(self, app: ASGIApp, *, crowd: Crowd) -> None:
        self.app = app
        self.crowd = crowd

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "agon.caller" not in scope
            or LONG.fullmatch(scope["path"]) is None
        ):
            await self.app(scope, receive, send)
            return
        who = scope["agon.who"]
        if who == "anonymous":
            who = f"network {scope['agon.caller'].network}"
        await self.crowd.enter(who)
        inside = True

        def leave() -> None:
            nonlocal inside
            if inside:
                inside = False
                self.crowd.leave(who)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                leave()
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            leave()
