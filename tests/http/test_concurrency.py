"""Long answers: few at a time, whoever asks; short ones wait for none of them."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agon.app.contests.boards import explain
from agon.http.middleware.concurrency import (
    EXPENSIVE,
    MAX_PER_CALLER,
    MAX_RUNNING,
    Busy,
    ConcurrencyLimiter,
)
from fakes.instance import Instance
from fakes.routes import routes

CONTEST = "/api/v1/contests/{contest}"
PLAIN = "/api/v1/contests/spring"
WHY = f"{PLAIN}/boards/user-score/explanations/u1"


def test_places_are_few_and_fewer_for_each() -> None:
    """One caller must not take them all, nor two together more than there are."""

    async def story() -> None:
        limiter = ConcurrencyLimiter(max_running=3, max_per_caller=2, max_waiting=4, timeout_s=0.01)
        for who in ("a", "a", "b"):
            await limiter.acquire(who)
        for who in ("a", "b", "c"):
            with pytest.raises(Busy):
                await limiter.acquire(who)
        limiter.release("b")
        with pytest.raises(Busy):
            await limiter.acquire("a")
        await limiter.acquire("c")

    asyncio.run(story())


def test_whoever_waits_longest_comes_first_unless_they_have_their_share() -> None:
    """A place that is given back goes to the first in the row who may have it."""

    async def story() -> list[str]:
        limiter = ConcurrencyLimiter(max_running=2, max_per_caller=1, max_waiting=10, timeout_s=60)
        told: list[str] = []

        async def ask(who: str) -> None:
            await limiter.acquire(who)
            told.append(who)

        await ask("a")
        await ask("b")
        waiting = [asyncio.create_task(ask(who)) for who in ("a", "c", "d")]
        await asyncio.sleep(0)
        limiter.release("b")
        await asyncio.sleep(0.01)
        assert told == ["a", "b", "c"]
        limiter.release("a")
        await asyncio.sleep(0.01)
        limiter.release("c")
        await asyncio.gather(*waiting)
        return told

    assert asyncio.run(story()) == ["a", "b", "c", "a", "d"]


def test_the_queue_is_bounded_and_one_caller_does_not_fill_it() -> None:
    """Who may not even wait is told at once to come back."""

    async def story() -> None:
        limiter = ConcurrencyLimiter(max_running=1, max_per_caller=1, max_waiting=4, timeout_s=60)
        await limiter.acquire("a")
        waiting = [asyncio.create_task(limiter.acquire("a")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await limiter.acquire("a")
        waiting += [asyncio.create_task(limiter.acquire(who)) for who in ("b", "c")]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await limiter.acquire("d")
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        limiter.release("a")
        await limiter.acquire("d")  # those who went away hold nothing

    asyncio.run(story())


def test_whoever_waits_for_long_answers_keeps_nobody_else_out(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty explanations at once took every thread; the list of contests waited for all of them."""
    instance.contest("spring")
    going, inside, most = threading.Event(), 0, 0
    lock, really = threading.Lock(), explain.explain

    def slow(*given: Any, **options: Any) -> Any:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        going.wait(60)
        with lock:
            inside -= 1
        return really(*given, **options)

    monkeypatch.setattr("agon.api.operations.boards.explain", slow)
    with instance.client as client, ThreadPoolExecutor(60) as threads:
        asked = [threads.submit(client.get, WHY) for _ in range(MAX_PER_CALLER + 50)]
        answers = [client.get(PLAIN).status_code for _ in range(5)]
        refused = [one.result() for one in asked if one.done()]
        going.set()
        done = [one.result() for one in asked]
    assert answers == [200] * 5
    assert 1 <= most <= MAX_PER_CALLER < MAX_RUNNING
    statuses = {one.status_code for one in done}
    assert statuses == {200, 503}
    for one in (*refused, *done):
        if one.status_code == 503:
            assert one.headers["retry-after"] == "2"
            assert one.json()["code"] == "busy"
    assert client.get(WHY).status_code == 200


def test_a_token_has_places_of_its_own(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers of one's own network take none of them."""
    instance.contest("spring")
    seen: list[str] = []
    really = ConcurrencyLimiter.acquire

    async def noting(limiter: ConcurrencyLimiter, who: str) -> None:
        seen.append(who)
        await really(limiter, who)

    monkeypatch.setattr(ConcurrencyLimiter, "acquire", noting)
    assert instance.client.get(WHY).status_code == 200
    assert instance.client.get(WHY, headers=instance.as_("viewer")).status_code == 200
    assert seen == ["network None", instance.tokens["viewer"][5:27]]


def test_long_are_all_routes_that_read_a_board_and_no_others(instance: Instance) -> None:
    """A new one is counted among them by its address alone."""
    read = [one.template for one in routes(instance.app) if one.method == "GET"]
    long = {one.removeprefix(f"{CONTEST}/") for one in read if EXPENSIVE.fullmatch(one)}
    assert long == {
        "boards/{board}/proofs/{id}", "boards/{board}/explanations/{id}", "participants/{id}",
    }  # fmt: skip
