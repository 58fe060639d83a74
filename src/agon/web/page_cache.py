"""Keep rendered pages of the public for as long as nothing was stored, and one second at most."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from agon.web.cookies import chosen_theme
from agon.web.data import sent_path

LIFETIME_S: Final = 1.0
"""Maximum number of seconds a page is kept: some show the time."""

_MAX_PAGES: Final = 256
_MAX_THREADS: Final = 8
"""Maximum number of threads that render pages; more would only wait for each other."""

_MAX_QUICK: Final = 2
"""The same for quick pages: one computes while another waits for the database."""


@dataclass(frozen=True)
class _Entry:
    state: Hashable
    until: float
    response: "asyncio.Task[Response]"


class PageCache:
    """Renders pages in threads, and those of the public once for all who load them together.

    Used from one event loop.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        self._threads = CapacityLimiter(_MAX_THREADS)
        self._quick_threads = CapacityLimiter(_MAX_QUICK)

    async def respond(
        self, request: Request, make: Callable[[], Response], *, is_quick: bool = False
    ) -> Response:
        """Return the response to a request, which ``make`` returns in a thread.

        A quick page, which is computed in milliseconds, does not wait for slow ones. A page for a
        visitor without a session depends on its address, the choice of colors and what is stored.
        Others are not kept, nor are errors.
        """
        key, threads = _key(request), self._quick_threads if is_quick else self._threads
        if key is None:
            return await run_sync(make, limiter=threads)
        read_state: Callable[[], Awaitable[Hashable]] = request.scope["agon.state"]
        state, now = await read_state(), asyncio.get_running_loop().time()
        entry = self._entries.get(key)
        if entry is None or entry.state != state or entry.until < now:
            if len(self._entries) >= _MAX_PAGES:
                self._entries.clear()
            task = asyncio.ensure_future(run_sync(make, limiter=threads))
            entry = _Entry(state, now + LIFETIME_S, task)
            self._entries[key] = entry
        try:
            return await asyncio.shield(entry.response)
        except BaseException:
            if self._entries.get(key) is entry:
                del self._entries[key]
            raise


def _key(request: Request) -> Hashable | None:
    """Return what the page of a request depends on beyond what is stored; None: on the visitor."""
    scope = request.scope
    if scope.get("agon.who") != "anonymous" or scope["method"] != "GET" or "agon.format" in scope:
        return None
    accept = request.headers.get("accept", "")
    if "application/json" in accept:
        return None
    return (
        sent_path(scope),
        scope["query_string"],
        chosen_theme(request.headers),
        str(request.base_url),
    )
