"""Pages kept for the public: what is shared between them, and where they are rendered."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from agon.app.contests.boards import publish as publishing
from agon.store.connection.known_results import NotRead, Query, Results
from agon.web.page import SharedReads
from agon.web.page_cache import PageCache
from fakes.instance import instance_at
from fakes.service import service_at


@asynccontextmanager
async def slot(_kind: str) -> AsyncIterator[None]:
    """Give every page a slot."""
    yield


def request_for(path: str, states: Iterator[int]) -> Request:
    """Return a request of the public; ``states`` are the states of the database it reads."""

    async def state() -> int:
        return next(states)

    async def query(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [(sql, *values)]

    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [],
        "server": ("site", 80), "scheme": "http", "agon.who": "anonymous", "agon.state": state,
        "agon.query": query, "agon.slot": slot,
    }  # fmt: skip
    return Request(scope)


class Makers:
    """Make responses that name their thread and what they share."""

    def __init__(self, *, gives_up: bool = False) -> None:
        self.gives_up = gives_up
        self.calls: list[Any] = []

    def slow(self) -> Response:
        """Return a response from any thread."""
        self.calls.append(("slow", threading.current_thread() is threading.main_thread()))
        return Response("slow")

    def quick(self, shared: SharedReads, _results: Results | None) -> Response | None:
        """Return a response on the event loop, or None."""
        self.calls.append(("quick", dict(shared)))
        shared["contest"] = len(self.calls)
        return None if self.gives_up else Response("quick")


def ask(cache: PageCache, makers: Makers, *states: int) -> Callable[[str], Any]:
    """Return a function that requests a page while the database goes through states."""
    coming = iter(states)

    async def get(path: str) -> Any:
        request = request_for(path, coming)
        response = await cache.respond(request, makers.slow, make_quick=makers.quick)
        return response.body

    return get


@pytest.fixture(params=[False, True], ids=["on the event loop", "in threads"])
def cache(request: pytest.FixtureRequest) -> PageCache:
    """Return a cache as it is used with SQLite, and one as with PostgreSQL."""
    return PageCache(in_threads=request.param)


def test_quick_pages_of_one_state_share_what_they_read(cache: PageCache) -> None:
    """A contest is the same on all pages of its board, until something is stored."""
    makers = Makers()

    async def visit() -> None:
        get = ask(cache, makers, 1, 1, 1, 2)
        assert [await get(path) for path in ("/a", "/b", "/c")] == [b"quick"] * 3

    asyncio.run(visit())
    assert makers.calls == [("quick", {}), ("quick", {"contest": 1}), ("quick", {})]


def test_a_page_is_of_one_state_also_if_something_is_stored_meanwhile(cache: PageCache) -> None:
    """Shared reads of before and rows of after would be a state that never was."""
    makers = Makers()

    async def visit() -> None:
        get = ask(cache, makers, 1, 1, 2, 2)
        assert [await get(path) for path in ("/a", "/b", "/c")] == [b"quick"] * 3

    asyncio.run(visit())
    # The second page is made again, and shares nothing then.
    shared = [reads for _, reads in makers.calls]
    assert shared == [{}, {"contest": 1}, {}, {}]


def test_a_page_that_needs_few_queries_takes_no_thread() -> None:
    """Threads that make pages wait for each other longer than for PostgreSQL."""
    threads: list[tuple[str, bool]] = []

    def quick(shared: SharedReads, results: Results | None) -> Response:
        rows: Any = None
        if results is not None:
            for query in (
                Query("SELECT lines", [7], is_shared=False),
                Query("SELECT no", [], is_shared=True),
            ):
                known = shared if query.is_shared else results
                if query.key not in known:
                    raise NotRead(query)
            rows = results["SELECT lines", 7]
        threads.append((str(rows), running_loop() is None))
        shared["contest"] = "spring"
        return Response(str(rows))

    async def visit() -> None:
        cache, states = PageCache(in_threads=True), iter([1] * 9)
        for path in ("/a", "/b"):
            await cache.respond(request_for(path, states), Makers().slow, make_quick=quick)
        assert ("SELECT no",) in cache._reads_of(1)

    asyncio.run(visit())
    # The first page reads what they share in a thread.
    assert threads == [("None", True), (str([("SELECT lines", 7)]), False)]


@pytest.mark.parametrize("query", [None, "SELECT random()"])
def test_a_page_that_needs_many_queries_is_made_in_a_thread(query: str | None) -> None:
    """It would begin again and again on the event loop, on which all other requests wait."""
    calls: list[bool] = []

    def quick(shared: SharedReads, results: Results | None) -> Response:
        calls.append(running_loop() is None)
        if results is not None:
            raise NotRead(None if query is None else Query(query, [len(calls)], is_shared=False))
        shared["contest"] = "spring"
        return Response("page")

    async def visit() -> None:
        cache, states = PageCache(in_threads=True), iter([1] * 9)
        for path in ("/a", "/b"):
            request = request_for(path, states)
            response = await cache.respond(request, Makers().slow, make_quick=quick)
            assert response.body == b"page"

    asyncio.run(visit())
    assert (calls[0], calls[-1], len(calls)) == (True, True, 3 if query is None else 7)


def test_what_takes_long_is_made_in_a_thread() -> None:
    """A board that must be rebuilt takes minutes, in which other visitors load pages."""
    makers = Makers(gives_up=True)

    async def visit() -> None:
        assert await ask(PageCache(in_threads=False), makers, 1)("/a") == b"slow"
        assert await ask(PageCache(in_threads=True), makers, 1)("/a") == b"slow"

    asyncio.run(visit())
    assert makers.calls == [("quick", {}), ("slow", False)] * 2


def test_a_board_is_not_rebuilt_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a deleted snapshot is made in a thread, where its rows are rebuilt."""
    service = replace(service_at(tmp_path), snapshots_kept=2)
    with closing(instance_at(tmp_path, service=service)) as instance:
        instance.contest("league", people=3)
        first = instance.client.get("/api/v1/contests/league/boards/user-score?limit=1").json()
        for begin in range(3, 8):
            instance.people("league", 1, begin=begin)
        threads: list[bool] = []

        def rebuild(*arguments: Any, **keywords: Any) -> Any:
            threads.append(running_loop() is None)
            return plain(*arguments, **keywords)

        plain = publishing.rebuild
        monkeypatch.setattr(publishing, "rebuild", rebuild)
        response = instance.client.get("/c/league", params={"cursor": first["next"]})
    assert (response.status_code, threads) == (200, [True])


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
