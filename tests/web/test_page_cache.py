"""Pages kept for the public: how long, and where they are rendered."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from agon.app.contests.boards import publish as publishing
from agon.web.page_cache import PageCache
from fakes.instance import instance_at
from fakes.service import service_at

NOW = datetime(2026, 12, 24, 17, 59, 59, 900_000, tzinfo=UTC)


@asynccontextmanager
async def slot(_kind: str) -> AsyncIterator[None]:
    """Give every page a slot."""
    yield


def request_for(path: str, who: str = "anonymous") -> Request:
    """Return a request of the public, or of another."""
    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [],
        "server": ("site", 80), "scheme": "http", "agon.who": who, "agon.slot": slot,
    }  # fmt: skip
    return Request(scope)


class Makers:
    """Make responses that are numbered, and note their threads."""

    def __init__(self, *, gives_up: bool = False) -> None:
        self.gives_up = gives_up
        self.calls: list[tuple[str, bool]] = []

    def slow(self) -> Response:
        """Return a response from any thread."""
        self.calls.append(("slow", on_event_loop()))
        return Response(f"slow {len(self.calls)}")

    def quick(self) -> Response | None:
        """Return a response in a moment, or None."""
        self.calls.append(("quick", on_event_loop()))
        return None if self.gives_up else Response(f"quick {len(self.calls)}")


def visit(makers: Makers, *states: int, in_threads: bool, who: str = "anonymous") -> list[Any]:
    """Load a page several times, while the database goes through states."""
    coming = iter(states)
    cache = PageCache(lambda: next(coming), clock=lambda: NOW, in_threads=in_threads)

    async def load() -> list[Any]:
        bodies = []
        for _ in states:
            request = request_for("/a", who)
            response = await cache.respond(request, makers.slow, make_quick=makers.quick)
            bodies.append(response.body)
        return bodies

    return asyncio.run(load())


@pytest.mark.parametrize("in_threads", [False, True], ids=["on the event loop", "in threads"])
def test_a_page_is_rendered_once_until_something_is_stored(*, in_threads: bool) -> None:
    """Most visitors load the same page; none may see what was before."""
    makers = Makers()
    bodies = visit(makers, 1, 1, 2, 2, in_threads=in_threads)
    assert bodies == [b"quick 1", b"quick 1", b"quick 2", b"quick 2"]
    assert [on_loop for _, on_loop in makers.calls] == [not in_threads] * 2


def test_a_page_is_not_kept_beyond_the_second_in_which_a_contest_ends() -> None:
    """A page made a moment before the end says *open*, and none that is loaded then may."""
    makers, times = Makers(), [NOW, NOW + timedelta(milliseconds=99), NOW + timedelta(seconds=0.1)]
    coming = iter(times)
    cache = PageCache(lambda: 1, clock=lambda: next(coming), in_threads=False)

    async def load() -> list[Any]:
        return [(await cache.respond(request_for("/a"), makers.slow)).body for _ in times]

    assert asyncio.run(load()) == [b"slow 1", b"slow 1", b"slow 2"]


def test_a_page_for_a_visitor_who_is_signed_in_is_not_kept() -> None:
    """It shows what only that visitor sees."""
    assert visit(Makers(), 1, 1, in_threads=False, who="token") == [b"slow 1", b"slow 2"]


@pytest.mark.parametrize("in_threads", [False, True], ids=["on the event loop", "in threads"])
def test_visitors_together_share_a_page(*, in_threads: bool) -> None:
    """A board that was just published is loaded by all who wait for it."""
    makers = Makers()
    cache = PageCache(lambda: 1, clock=lambda: NOW, in_threads=in_threads)

    async def load() -> list[Any]:
        loads = (cache.respond(request_for("/a"), makers.slow) for _ in range(20))
        return [response.body for response in await asyncio.gather(*loads)]

    assert set(asyncio.run(load())) == {b"slow 1"}


def test_errors_are_not_kept() -> None:
    """The next visitor gets the page as soon as there is one."""
    fail: list[Callable[[], Response]] = [lambda: 1 / 0, lambda: Response("page")]  # type: ignore[list-item,return-value]  # it raises
    cache = PageCache(lambda: 1, clock=lambda: NOW, in_threads=False)

    async def load() -> bytes:
        with pytest.raises(ZeroDivisionError):
            await cache.respond(request_for("/a"), fail[0])
        return bytes((await cache.respond(request_for("/a"), fail[1])).body)

    assert asyncio.run(load()) == b"page"


def test_what_takes_long_is_made_in_a_thread() -> None:
    """A board that must be rebuilt takes minutes, in which other visitors load pages."""
    for in_threads in (False, True):
        makers = Makers(gives_up=True)
        assert visit(makers, 1, in_threads=in_threads) == [b"slow 2"]
        assert makers.calls == [("quick", not in_threads), ("slow", False)]


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
            threads.append(on_event_loop())
            return plain(*arguments, **keywords)

        plain = publishing.rebuild
        monkeypatch.setattr(publishing, "rebuild", rebuild)
        response = instance.client.get("/c/league", params={"cursor": first["next"]})
    assert (response.status_code, threads) == (200, [False])


def on_event_loop() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        return asyncio.get_running_loop() is not None
    except RuntimeError:
        assert threading.current_thread() is not threading.main_thread()
        return False
