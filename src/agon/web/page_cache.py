"""Keep rendered pages of the public for as long as nothing was stored, within one second.

Pages say whether a contest has started or ended, so none is kept from one second of the service's
clock to the next: an end at 18:00:00 shows on the first page that is loaded then.
"""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from agon.api.costs import Kind
from agon.store.connection.direct import StateToken
from agon.store.state_cache import StateCache
from agon.web.cookies import chosen_theme
from agon.web.data import sent_path

MakeQuick: TypeAlias = Callable[[], Response | None]
"""Makes a page in milliseconds; None: it takes longer after all."""

T = TypeVar("T")

_MAX_PAGES: Final = 256
_MAX_QUICK: Final = 2
"""Maximum number of threads that make quick pages: one computes while another waits for the
database."""


class PageCache:
    """Renders pages, and those of the public once for all who load them together.

    Used from one event loop.

    Args:
        read_state: returns the state of the database.
        clock: returns the service's time.
        in_threads: whether reads wait for the database (PostgreSQL). Of SQLite quick pages are
            read on the event loop, one after another: readers never wait, and a thread costs half
            as much again.
    """

    def __init__(
        self,
        read_state: Callable[[], StateToken],
        *,
        clock: Callable[[], datetime],
        in_threads: bool,
    ) -> None:
        self._clock = clock
        self._read_state = read_state
        self._in_threads = in_threads
        self._pages: StateCache[asyncio.Task[Response]] = StateCache(most=_MAX_PAGES)
        self._threads = CapacityLimiter(_MAX_QUICK)
        self._turns = asyncio.Semaphore(1)

    async def respond(
        self,
        request: Request,
        make: Callable[[], Response],
        *,
        kind: Kind = "pages",
        make_quick: MakeQuick | None = None,
    ) -> Response:
        """Return the response to a request, which ``make`` returns in a thread, in a slot.

        A page for a visitor without a session depends on its address, the choice of colors, the
        second and what is stored. Others are not kept, nor are errors.

        Args:
            request: the request.
            make: returns the response.
            kind: of the work, whose slots it waits for; those who share a page share a slot.
            make_quick: returns the same in milliseconds, or None if ``make`` is needed after all.
                Such a page does not wait for slow ones. None: the page is not quick.
        """
        key = _key(request)
        if key is None:
            if make_quick is not None:
                return await run_sync(make, limiter=self._threads)
            return await in_slot(request, kind, make)

        async def respond() -> Response:
            response = None if make_quick is None else await self._quickly(make_quick)
            return await in_slot(request, kind, make) if response is None else response

        # The state is read before the page, so that what is stored in between makes it outdated.
        state = await self._quickly(self._read_state)
        second = self._clock().replace(microsecond=0)
        page = self._pages.get((key, second), state, lambda: asyncio.ensure_future(respond()))
        try:
            # Others wait for the same task: a visitor who leaves must not cancel it for them.
            return await asyncio.shield(page)
        except BaseException:
            # An error is not kept. Who waits for the page gets it even if it was dropped.
            self._pages.drop((key, second), page)
            raise

    async def _quickly(self, call: Callable[[], T]) -> T:
        """Return what takes no longer than a change of threads, besides waiting for PostgreSQL."""
        if self._in_threads:
            return await run_sync(call, limiter=self._threads)
        async with self._turns:  # other requests have turns between two pages
            return call()


async def in_slot(request: Request, kind: Kind, make: Callable[[], Response]) -> Response:
    """Return what ``make`` returns in a thread, while the request has a slot of a kind.

    Requests of a mirror, which are made one by one in this process, need none.
    """
    slot = request.scope.get("agon.slot")
    async with nullcontext() if slot is None else slot(kind):
        return await run_sync(make)


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
