"""Limit request rates: by token, and by network for requests without one."""

import time
from collections.abc import Mapping
from math import floor, inf
from typing import Final

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from agon.errors import TooMany

_CLEANUP_INTERVAL_S: Final = 10.0


class _Counts(MemoryStorage):
    """Counts in memory, and deletes expired counts without the library's timer.

    Its timer starts a thread as often as every 10 ms, which walks through all counts.
    """

    _cleaned_up = 0.0

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Add to the count under a key, which expires ``expiry`` seconds after its first count."""
        now = time.time()
        if now - self._cleaned_up > _CLEANUP_INTERVAL_S:
            self._cleaned_up = now
            for expired in [name for name, end in self.expirations.items() if end <= now]:
                self.clear(expired)
        if self.expirations.setdefault(key, now + expiry) <= now:
            self.clear(key)
            self.expirations[key] = now + expiry
        self.storage[key] += amount
        return self.storage[key]

    def get(self, key: str) -> int:
        """Return the count under a key; 0 if it expired."""
        return self.storage.get(key, 0) if self.expirations.get(key, 0) > time.time() else 0


class _SlidingWindow(SlidingWindowCounterRateLimiter):
    """Counts a request and returns the window's statistics in one step; the library reads twice."""

    def __init__(self, counts: _Counts) -> None:
        super().__init__(counts)
        self._counts = counts

    def count(self, rate: RateLimitItem, key: str) -> tuple[bool, int, float]:
        """Count a request, if the rate allows it.

        Args:
            rate: the rate.
            key: what the request is counted under.

        Returns:
            Whether it is allowed, how many more are, and the seconds until that number grows.
        """
        expiry = rate.get_expiry()
        before, before_ttl, count, ttl = self._counts.get_sliding_window(key, expiry)
        used = floor(self._weighted_count(rate, before, before_ttl, count))
        allowed = used < rate.amount
        if allowed:
            _, current_key = self._counts.sliding_window_keys(key, expiry, time.time())
            self._counts.incr(current_key, 2 * expiry)
            used, count = used + 1, count + 1
        wait = min(
            before_ttl % (expiry / before) if before else inf,
            ttl % expiry if count else inf,
        )
        return allowed, max(0, rate.amount - used), wait


class Limiter:
    """Counts requests in one process against two rates.

    Args:
        token: the rate of one token, in the notation ``20/second;600/minute``.
        address: the rate of one network without a token.

    Each process counts for itself: with several, a client may send as many times the requests.
    """

    def __init__(self, *, token: str, address: str) -> None:
        self._rates = {
            "token": tuple(parse_many(token)),
            "address": tuple(parse_many(address)),
        }
        self._window = _SlidingWindow(_Counts())

    def hit_token(self, token_id: str) -> Mapping[str, str]:
        """Count a request of a token; return the headers with what is left of its rate.

        Raises:
            TooMany: the rate is exceeded.
        """
        return self._hit("token", token_id)

    def hit_address(self, network: str) -> Mapping[str, str]:
        """Count a request of a network (its keyed hash) without a valid token; as hit_token.

        Raises:
            TooMany: the rate is exceeded.
        """
        return self._hit("address", network)

    def _hit(self, kind: str, key: str) -> Mapping[str, str]:
        tightest: tuple[int, RateLimitItem, float] | None = None
        for number, rate in enumerate(self._rates[kind]):
            allowed, remaining, wait = self._window.count(rate, f"{kind}/{number}/{key}")
            if not allowed:
                raise TooMany(
                    f"more than {rate.amount} requests in {rate.get_expiry()} seconds by one "
                    f"{kind}; wait {max(1, round(wait + 0.5))} seconds, then go on more slowly",
                    retry_after=max(1.0, wait),
                )
            if tightest is None or remaining < tightest[0]:
                tightest = (remaining, rate, wait)
        if tightest is None:
            return {}
        remaining, rate, wait = tightest
        return {
            "ratelimit-limit": str(rate.amount),
            "ratelimit-remaining": str(remaining),
            "ratelimit-reset": str(max(1, round(wait + 0.5))),
        }
