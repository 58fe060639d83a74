"""Values are kept for a state of the database, and made once for all who want them together."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agon.errors import NotFound
from agon.store.state_cache import StateCache


class Made:
    """Makes values, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        """Return the next value."""
        self.count += 1
        return f"value {self.count}"


def test_a_value_is_of_the_state_that_was_read() -> None:
    """What was cached before something was stored must not be shown after it."""
    cache, make = StateCache[str](most=9), Made()
    assert [cache.get("a", state, make) for state in (1, 1, 2, 1)] == [
        "value 1", "value 1", "value 2", "value 3",
    ]  # fmt: skip
    assert cache.get("b", 1, make) == "value 4"


def test_threads_that_want_a_value_together_share_it() -> None:
    """After a board changes, many clients request it at the same time."""
    cache, make, threads = StateCache[str](most=9), Made(), 8
    barrier = threading.Barrier(threads)

    def get(_: int) -> str:
        barrier.wait()
        return cache.get("a", 1, make)

    with ThreadPoolExecutor(threads) as pool:
        assert set(pool.map(get, range(threads))) == {"value 1"}


def test_threads_that_want_different_values_do_not_wait_for_each_other() -> None:
    """After a write all boards are looked up again; on PostgreSQL each lookup waits for it."""
    cache, other_is_made = StateCache[str](most=9), threading.Event()

    def wait() -> str:
        assert other_is_made.wait(timeout=60)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(cache.get, "a", 1, wait)
        assert cache.get("b", 1, lambda: "quick") == "quick"
        other_is_made.set()
        assert slow.result() == "slow"


def test_errors_are_not_kept() -> None:
    """A load succeeds as soon as the database is up again."""
    cache = StateCache[str](most=9)

    def fail() -> Any:
        raise NotFound("there is none; create it")

    with pytest.raises(NotFound):
        cache.get("a", 1, fail)
    assert (len(cache), cache.get("a", 1, Made())) == (0, "value 1")


def test_the_number_of_values_is_bounded() -> None:
    """Otherwise clients could fill the memory with arbitrary keys."""
    cache = StateCache[int](most=3)
    for key in range(10):
        assert cache.get(key, 1, lambda key=key: key) == key  # type: ignore[misc]  # bound at once
        assert len(cache) <= 3


def test_only_the_value_that_is_named_is_dropped() -> None:
    """A page that fails late must not drop the one that replaced it."""
    cache, make = StateCache[str](most=9), Made()
    first = cache.get("a", 1, make)
    second = cache.get("a", 2, make)
    cache.drop("a", first)
    assert cache.get("a", 2, make) is second
    cache.drop("a", second)
    cache.drop("a", second)
    assert cache.get("a", 2, make) == "value 3"
