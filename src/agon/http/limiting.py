"""Bound how often somebody may ask: by token, and by network for those without one."""

import time
from collections.abc import Callable, Mapping

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from agon.errors import TooMany

_TIDY_SECONDS = 10.0


class _Counts(MemoryStorage):
    """Count in memory, and forget what is over without the library's timer.

    Its timer starts a thread as often as every 10 ms, and that walks through every network known.
    """

    _tidied = 0.0

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count under a key that is forgotten ``expiry`` seconds after its first count."""
        now = time.time()
        if now - self._tidied > _TIDY_SECONDS:
            self._tidied = now
            for one in [one for one, end in self.expirations.items() if end <= now]:
                self.clear(one)
        self.get(key)  # forgets it where it is over
        self.storage[key] += amount
        self.expirations.setdefault(key, now + expiry)
        return self.storage[key]


class Limiter:
    """Count requests in one process against two rates.

    Args:
        token: what one token may do, in the notation ``20/second;600/minute``.
        address: what one network may do without a token.
        clock: seconds since 1970.

    Each process counts for itself: with several, a client may ask as many times as often.
    """

    def __init__(self, *, token: str, address: str, clock: Callable[[], float] = time.time) -> None:
        self._rates = {
            "token": tuple(parse_many(token)),
            "address": tuple(parse_many(address)),
        }
        self._clock = clock
        self._window = SlidingWindowCounterRateLimiter(_Counts())

    def hit_token(self, token_id: str) -> Mapping[str, str]:
        """Count a request of a token; return the headers that tell how much is left.

        Raises:
            TooMany: it was one too many.
        """
        return self._hit("token", token_id)

    def hit_address(self, network: str) -> Mapping[str, str]:
        """Count a request of a network (its keyed hash) without a token, or with a wrong one.

        Raises:
            TooMany: it was one too many.
        """
        return self._hit("address", network)

    def _hit(self, kind: str, who: str) -> Mapping[str, str]:
        tightest: tuple[int, RateLimitItem, float] | None = None
        for rate in self._rates[kind]:
            passed = self._window.hit(rate, kind, who)
            stats = self._window.get_window_stats(rate, kind, who)
            wait = max(0.0, stats.reset_time - self._clock())
            if not passed:
                raise TooMany(
                    f"more than {rate.amount} requests in {rate.get_expiry()} seconds by one "
                    f"{kind}; wait {max(1, round(wait + 0.5))} seconds, then go on more slowly",
                    retry_after=max(1.0, wait),
                )
            if tightest is None or stats.remaining < tightest[0]:
                tightest = (stats.remaining, rate, wait)
        if tightest is None:
            return {}
        left, rate, wait = tightest
        return {
            "ratelimit-limit": str(rate.amount),
            "ratelimit-remaining": str(max(0, left)),
            "ratelimit-reset": str(max(1, round(wait + 0.5))),
        }
