"""Expensive requests: a bounded number runs at a time; other requests do not wait for them."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient

from agon.api.costs import QUICK, Kind
from agon.app.contests.boards import explain
from agon.app.password_hashing import PasswordHashing
from agon.http.slots import Busy, ConcurrencyLimiter, Slots, StreamInSlots
from agon.web.site import _KINDS, _QUICK, DOCUMENTS, FORMS, PAGES
from fakes.instance import Instance, instance_at
from web.browser import Browser

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


@pytest.mark.exhaustive
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
        requests = [threads.submit(client.get, WHY) for _ in range(53)]
        statuses_of_others = [client.get(PLAIN).status_code for _ in range(5)]
        rejected = [item.result() for item in requests if item.done()]
        going.set()
        responses = [item.result() for item in requests]
    assert statuses_of_others == [200] * 5
    assert 1 <= most <= 3
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


@pytest.mark.exhaustive
def test_every_page_and_form_is_made_in_a_slot_of_its_kind(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new page is bounded without being listed; the pages of boards have two threads."""
    kinds: list[Kind] = []
    really = Slots.slot

    def noting(slots: Slots, kind: Kind, scope: Any) -> Any:
        if kind != QUICK:
            kinds.append(kind)
        return really(slots, kind, scope)

    monkeypatch.setattr(Slots, "slot", noting)
    browser = Browser(instance)
    browser.sign_in("operator")
    kinds.clear()
    for path, view in (*PAGES, *DOCUMENTS):
        browser.get(re.sub(r"\{\w+\}", "x1", path))
        assert kinds == ([] if view in _QUICK else [_KINDS.get(view, "pages")]), path
        kinds.clear()
    for path, view, _ in FORMS:
        if path == "/sign-out":
            continue
        browser.send(re.sub(r"\{\w+\}", "x1", path), {"a": "b"})
        assert kinds == [_KINDS.get(view, "forms")], path
        kinds.clear()


@pytest.mark.exhaustive
def test_every_way_to_hash_a_password_has_a_slot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hash needs 64 MiB: whatever computes one waits for its turn."""
    instance = instance_at(tmp_path)
    running, used, really = [], [], ConcurrencyLimiter.acquire
    limiter = instance.app.state.serving.slots._limiters["passwords"]

    async def noting(limiter_: ConcurrencyLimiter, who: str) -> None:
        await really(limiter_, who)
        if limiter_ is limiter:
            used.append(who)

    def hasher(**_: int) -> Any:
        running.append(limiter._running.total())
        return PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)

    monkeypatch.setattr(ConcurrencyLimiter, "acquire", noting)
    monkeypatch.setattr("agon.app.password_hashing._hasher", hasher)
    name = instance.contest("spring")
    code = instance.post(f"/contests/{name}/invitations", "organiser", json={"max_uses": 5}).json()
    secret = {"password": "correct horse battery"}
    desk = Browser(instance)
    desk.sign_in("operator")
    visitor = Browser(instance)
    ways: list[tuple[int, Callable[[], Any]]] = [
        (201, lambda: instance.post("/users", "operator", json={"id": "new1", **secret})),
        (200, lambda: instance.client.patch("/api/v1/users/new1", json=secret,
                                            headers=instance.as_("operator"))),
        (201, lambda: instance.post("/invitations/accept",
                                    json={"code": code["code"], "user": "new2", **secret})),
        (303, lambda: visitor.send("/sign-in", {"user": "new2", **secret})),
        (401, lambda: visitor.send("/sign-in", {"user": "nobody", **secret})),
        (303, lambda: Browser(instance).send("/join", {"code": code["code"], "user": "new3",
                                                       **secret})),
        (303, lambda: desk.submit("/desk/users", "/desk/users", {"id": "new4", **secret})),
        (303, lambda: desk.submit("/desk/users", "/desk/users/new4/password", secret)),
    ]  # fmt: skip
    for number, (status, way) in enumerate(ways):
        running.clear()
        used.clear()
        response = way()
        assert response.status_code == status, (number, response.text)
        assert running, number
        assert set(running) == {1}, number
        assert len(used) == 1, number
    instance.close()


@pytest.mark.exhaustive
def test_surplus_sign_ins_are_answered_at_once_and_other_networks_get_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flood from one address neither fills the memory nor keeps others from signing in."""
    instance = instance_at(tmp_path, trusted_proxies=("10.0.0.0/8",))
    begun, going = threading.Semaphore(0), threading.Event()

    class Hashing:
        running = most = 0

        def matches(self, _hash: str | None, _password: str) -> bool:
            self.running += 1
            self.most = max(self.most, self.running)
            begun.release()
            going.wait(60)
            self.running -= 1
            return False

    hashing = Hashing()
    monkeypatch.setattr(PasswordHashing, "matches", hashing.matches)

    def sign_in(address: str, number: int, accept: str = "*/*") -> Any:
        fields = {"user": f"invented{number}", "password": "correct horse battery"}
        headers = {"x-forwarded-for": address, "accept": accept}
        return client.post("/sign-in", data=fields, headers=headers)

    client = TestClient(instance.app, client=("10.0.0.2", 1))
    with client, ThreadPoolExecutor(60) as threads:
        flood = [threads.submit(sign_in, "192.0.2.1", number) for number in range(40)]
        assert begun.acquire(timeout=60)
        while sum(item.done() for item in flood) < 31:  # one is hashed, eight wait
            wait(flood, timeout=0.05)
        surplus = [item.result() for item in flood if item.done()]
        other = threads.submit(sign_in, "198.51.100.7", 99)
        assert begun.acquire(timeout=60)  # the other address has its turn next to the flood
        page = sign_in("192.0.2.1", 100, "text/html")
        me = client.get("/api/v1/me", headers=instance.as_("viewer"))
        going.set()
        statuses = {item.result().status_code for item in flood}
        assert other.result().status_code == 401
    assert hashing.most == 2
    assert statuses == {401, 503}
    assert len(surplus) == 31
    for response in surplus:
        assert (response.status_code, response.json()["code"]) == (503, "busy")
        assert int(response.headers["retry-after"]) >= 1
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "retry-after" in page.headers
    assert me.status_code == 200
    instance.close()


def test_a_request_waits_for_its_slot_only_when_its_body_has_arrived(instance: Instance) -> None:
    """A client that sends a byte a second occupies no slot with a hash in it."""
    slots = instance.app.state.serving.slots

    async def scenario() -> None:
        limiter = slots._limiters["passwords"]
        first, waiting, going = asyncio.Event(), asyncio.Event(), asyncio.Event()
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            if not first.is_set():
                first.set()
                return {"type": "http.request", "body": b"{", "more_body": True}
            waiting.set()
            await going.wait()
            return {"type": "http.request", "body": b"}", "more_body": False}

        async def send(message: Any) -> None:
            statuses.append(message.get("status", 0))

        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": "/api/v1/invitations/accept", "raw_path": b"/api/v1/invitations/accept",
            "root_path": "", "query_string": b"", "client": ("192.0.2.1", 5), "state": {},
            "headers": [(b"content-type", b"application/json"), (b"content-length", b"2")],
            "server": ("agon", 80),
        }  # fmt: skip
        task = asyncio.create_task(instance.app(scope, receive, send))
        await asyncio.wait_for(waiting.wait(), 60)
        assert limiter._running.total() == 0
        going.set()
        await task
        assert statuses[0] == 422

    asyncio.run(scenario())


def test_parts_of_streams_are_made_in_slots_and_a_slow_reader_occupies_none() -> None:
    """Forty downloads of a large board would occupy every thread for as long as they last."""

    async def scenario() -> None:
        slots = Slots(password_hashes=2)
        making = most = 0
        lock = threading.Lock()

        def parts() -> Generator[bytes, None, None]:
            nonlocal making, most
            for _ in range(3):
                with lock:
                    making += 1
                    most = max(most, making)
                time.sleep(0.001)
                with lock:
                    making -= 1
                yield b"part"

        bodies: list[bytes] = []
        blocked = asyncio.Event()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body" and message.get("body"):
                bodies.append(message["body"])

        async def send_slowly(message: Any) -> None:
            if message.get("body"):
                await blocked.wait()

        async def receive() -> Any:
            await asyncio.Event().wait()

        def stream(caller: str, sender: Any) -> Any:
            scope = {"type": "http", "agon.who": caller, "asgi": {"spec_version": "2.4"}}
            response = StreamInSlots(parts(), slots=slots, headers={}, media_type="text/csv")
            return asyncio.create_task(response(scope, receive, sender))

        slow = [stream(f"slow{number // 8}", send_slowly) for number in range(56)]
        quick = [stream("quick", send) for _ in range(8)]
        await asyncio.wait_for(asyncio.gather(*quick), 60)
        assert len(bodies) == 24
        assert most <= 4
        surplus = [stream("slow0", send), *(stream(f"new{number}", send) for number in range(10))]
        ended = await asyncio.wait_for(asyncio.gather(*surplus, return_exceptions=True), 60)
        assert isinstance(ended[0], Busy)  # eight streams of one caller
        assert sum(isinstance(item, Busy) for item in ended[1:]) == 2  # of 64 in all
        blocked.set()
        await asyncio.gather(*slow)
        assert slots._limiters["streams"]._running.total() == 0
        assert slots._parts._running.total() == 0

    asyncio.run(scenario())
