"""Keep rendered pages of the public for as long as nothing was stored, and one second at most."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from agon.api.costs import Kind
from agon.store.connection.known_results import NotRead, Results
from agon.web.cookies import chosen_theme
from agon.web.data import sent_path
from agon.web.page import SharedReads

MakeQuick: TypeAlias = Callable[[SharedReads, Results | None], Response | None]
"""Makes a page of what such pages share, and of results of its other queries; None: it may query
the database."""

RunQuery: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]

LIFETIME_S: Final = 1.0
"""Maximum number of seconds a page, or what pages share, is kept: some show the time."""

_MAX_PAGES: Final = 256
_MAX_QUICK: Final = 2
"""Maximum number of threads that make quick pages: one computes while another waits for the
database."""

_MAX_QUERIES: Final = 4
"""Maximum number of queries for a page that is made on the event loop: for each, the page is begun
again."""


@dataclass(frozen=True)
class _Entry:
    state: Hashable
    until: float
    response: "asyncio.Task[Response]"


@dataclass(frozen=True)
class _StateReads:
    state: Hashable
    until: float
    reads: SharedReads


class PageCache:
    """Renders pages, and those of the public once for all who load them together.

    Used from one event loop.

    Args:
        in_threads: whether reads wait for the database (PostgreSQL). Then a quick page is made in
            a thread if other pages have not read most of what it shows. Of SQLite quick pages are
            read on the event loop, one after another: readers never wait, and a thread costs half
            as much again.
    """

    def __init__(self, *, in_threads: bool) -> None:
        self._in_threads = in_threads
        self._entries: dict[Hashable, _Entry] = {}
        self._quick_threads = CapacityLimiter(_MAX_QUICK)
        self._quick_turns = asyncio.Semaphore(_MAX_QUICK if in_threads else 1)
        self._shared = _StateReads(None, 0.0, {})

    async def respond(
        self,
        request: Request,
        make: Callable[[], Response],
        *,
        kind: Kind = "pages",
        make_quick: MakeQuick | None = None,
    ) -> Response:
        """Return the response to a request, which ``make`` returns in a thread, in a slot.

        A page for a visitor without a session depends on its address, the choice of colors and
        what is stored. Others are not kept, nor are errors.

        Args:
            request: the request.
            make: returns the response.
            kind: of the work, whose slots it waits for; those who share a page share a slot.
            make_quick: returns the same in milliseconds, or None if ``make`` is needed after all;
                it is given what such pages share. Such a page does not wait for slow ones. None:
                the page is not quick.
        """
        key = _key(request)
        if key is None:
            if make_quick is not None:
                return await run_sync(make, limiter=self._quick_threads)
            return await in_slot(request, kind, make)
        read_state: Callable[[], Awaitable[Hashable]] = request.scope["agon.state"]
        run_query: RunQuery = request.scope["agon.query"]
        state, now = await read_state(), asyncio.get_running_loop().time()
        entry = self._entries.get(key)
        if entry is None or entry.state != state or entry.until < now:
            if len(self._entries) >= _MAX_PAGES:
                self._entries.clear()
            task = asyncio.ensure_future(
                self._make(
                    partial(in_slot, request, kind, make), make_quick, read_state, run_query, state
                )
            )
            entry = _Entry(state, now + LIFETIME_S, task)
            self._entries[key] = entry
        try:
            return await asyncio.shield(entry.response)
        except BaseException:
            if self._entries.get(key) is entry:
                del self._entries[key]
            raise

    async def _make(
        self,
        make: Callable[[], Awaitable[Response]],
        make_quick: MakeQuick | None,
        read_state: Callable[[], Awaitable[Hashable]],
        run_query: RunQuery,
        state: Hashable,
    ) -> Response:
        response = None
        if make_quick is not None:
            async with self._quick_turns:  # other requests have turns between two pages
                common = self._reads_of(state)
                reads = dict(common)
                response = await self._call(make_quick, reads, run_query)
                if common and await read_state() != state:  # what was shared is older than the rest
                    response = await self._call(make_quick, {}, run_query)
                else:
                    common.update(reads)
        if response is None:
            response = await make()
        return response

    async def _call(
        self, make_quick: MakeQuick, reads: SharedReads, run_query: RunQuery
    ) -> Response | None:
        if not self._in_threads:
            return make_quick(reads, None)
        own: Results = {}
        for _ in range(_MAX_QUERIES + 1 if reads else 0):
            try:
                return make_quick(reads, own)
            except NotRead as missing:
                query = missing.query
                if query is None:
                    break
                rows = await run_query(query.sql, query.values)
                (reads if query.is_shared else own)[query.key] = rows
        return await run_sync(make_quick, reads, None, limiter=self._quick_threads)

    def _reads_of(self, state: Hashable) -> SharedReads:
        """Return what pages of a state share, for :data:`LIFETIME_S` at most."""
        now = asyncio.get_running_loop().time()
        if self._shared.state != state or self._shared.until < now:
            self._shared = _StateReads(state, now + LIFETIME_S, {})
        return self._shared.reads


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
