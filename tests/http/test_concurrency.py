"""Expensive requests: a bounded number runs at a time; other requests do not wait for them."""

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


def test_running_requests_are_limited_in_total_and_per_caller() -> None:
    """One caller must not take all slots, and two together no more than there are."""

    async def scenario() -> None:
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

    asyncio.run(scenario())


def test_a_free_slot_goes_to_the_longest_waiting_caller_below_its_limit() -> None:
    """Callers at their limit must not block those behind them in the queue."""

    async def scenario() -> list[str]:
        limiter = ConcurrencyLimiter(max_running=2, max_per_caller=1, max_waiting=10, timeout_s=60)
        order: list[str] = []

        async def ask(who: str) -> None:
            await limiter.acquire(who)
            order.append(who)

        await ask("a")
        await ask("b")
        waiting = [asyncio.create_task(ask(who)) for who in ("a", "c", "d")]
        await asyncio.sleep(0)
        limiter.release("b")
        await asyncio.sleep(0.01)
        assert order == ["a", "b", "c"]
        limiter.release("a")
        await asyncio.sleep(0.01)
        limiter.release("c")
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(scenario()) == ["a", "b", "c", "a", "d"]


def test_the_queue_is_bounded_and_one_caller_does_not_fill_it() -> None:
    """A request that cannot be queued fails immediately with Busy."""

    async def scenario() -> None:
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
        for item in waiting:
            item.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        limiter.release("a")
        await limiter.acquire("d")  # canceled requests hold no slot

    asyncio.run(scenario())


def test_waiting_expensive_requests_do_not_block_other_requests(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty concurrent explanations took every thread, and the contest list waited for them."""
    instance.contest("spring")
    going, inside, most = threading.Event(), 0, 0
    lock, really = threading.Lock(), explain.explain

    def slow(*args: Any, **options: Any) -> Any:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        going.wait(60)
        with lock:
            inside -= 1
        return really(*args, **options)

    monkeypatch.setattr("agon.app.contests.boards.explain.explain", slow)
    client = instance.client
    with ThreadPoolExecutor(60) as threads:
        requests = [threads.submit(client.get, WHY) for _ in range(MAX_PER_CALLER + 50)]
        statuses_of_others = [client.get(PLAIN).status_code for _ in range(5)]
        rejected = [item.result() for item in requests if item.done()]
        going.set()
        responses = [item.result() for item in requests]
    assert statuses_of_others == [200] * 5
    assert 1 <= most <= MAX_PER_CALLER < MAX_RUNNING
    statuses = {item.status_code for item in responses}
    assert statuses == {200, 503}
    for item in (*rejected, *responses):
        if item.status_code == 503:
            assert item.headers["retry-after"] == "2"
            assert item.json()["code"] == "busy"
    assert client.get(WHY).status_code == 200


def test_requests_with_a_token_are_limited_by_token(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anonymous requests of the same network must not use up a token's slots."""
    instance.contest("spring")
    callers: list[str] = []
    really = ConcurrencyLimiter.acquire

    async def noting(limiter: ConcurrencyLimiter, who: str) -> None:
        callers.append(who)
        await really(limiter, who)

    monkeypatch.setattr(ConcurrencyLimiter, "acquire", noting)
    assert instance.client.get(WHY).status_code == 200
    assert instance.client.get(WHY, headers=instance.as_("viewer")).status_code == 200
    assert callers == ["network None", instance.tokens["viewer"][5:27]]


def test_the_expensive_routes_are_those_that_read_a_whole_board(instance: Instance) -> None:
    """A new route is classified by its path alone."""
    read = [item.template for item in routes(instance.app) if item.method == "GET"]
    long = {item.removeprefix(f"{CONTEST}/") for item in read if EXPENSIVE.fullmatch(item)}
    assert long == {
        "boards/{board}/proofs/{id}", "boards/{board}/explanations/{id}", "participants/{id}",
        "boards/{board}/movement", "boards/{board}/what-if/{id}", "boards/{board}/rules-effect",
    }  # fmt: skip
