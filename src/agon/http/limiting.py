"""Bound how often somebody may ask: by token, and by network for those without one."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor

from limits import parse_many

from agon.errors import TooMany

_TIDY_SECONDS = 10.0


@dataclass(slots=True)
class _Count:
    """Count somebody's requests in one span of a rate, and remember those of the span before."""

    length: int
    span: int
    now: int = 0
    before: int = 0

    def begin(self, span: int) -> None:
        """Go on to a later span."""
        if span > self.span:
            self.before = self.now if span == self.span + 1 else 0
            self.span, self.now = span, 0


class Limiter:
    """Count requests in one process against two rates.

    Args:
        token: what one token may do, in the notation ``20/second;600/minute``.
        address: what one network may do without a token.
        clock: seconds since 1970.

    Each process counts for itself: with several, a client may ask as many times as often.

    Spans begin at multiples of their length. Of the requests of the span before, as many count as
    of its length lies within one length from now: ``count = before x (1 - passed / length) + now``.

    Example:
        60 in a minute; 40 in the minute before, and 15 seconds of this one have passed:
        40 x 0.75 = 30 count, 30 more may come.
    """

    def __init__(self, *, token: str, address: str, clock: Callable[[], float] = time.time) -> None:
        self._rates = {
            kind: [(rate.amount, rate.get_expiry()) for rate in parse_many(rates)]
            for kind, rates in (("token", token), ("address", address))
        }
        self._clock = clock
        self._counts: dict[tuple[str, str, int], _Count] = {}
        self._tidied = 0.0

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
        now = self._clock()
        self._tidy(now)
        tightest: tuple[int, int, float] | None = None
        for place, (amount, length) in enumerate(self._rates[kind]):
            span, rest = int(now // length), length - now % length
            key = (kind, who, place)
            count = self._counts.get(key)
            if count is None:
                count = self._counts[key] = _Count(length, span)
            count.begin(span)
            left = amount - floor(count.before * rest / length + count.now)
            if passed := left > 0:
                left, count.now = left - 1, count.now + 1
            wait = rest
            if count.before:
                wait = min(wait, rest % (length / count.before))
            if not passed:
                raise TooMany(
                    f"more than {amount} requests in {length} seconds by one "
                    f"{kind}; wait {max(1, round(wait + 0.5))} seconds, then go on more slowly",
                    retry_after=max(1.0, wait),
                )
            if tightest is None or left < tightest[0]:
                tightest = (left, amount, wait)
        if tightest is None:
            return {}
        left, amount, wait = tightest
        return {
            "ratelimit-limit": str(amount),
            "ratelimit-remaining": str(left),
            "ratelimit-reset": str(max(1, round(wait + 0.5))),
        }

    def _tidy(self, now: float) -> None:
        """Forget now and then what counts no more."""
        if now - self._tidied > _TIDY_SECONDS:
            self._tidied = now
            over = [
                key for key, count in self._counts.items() if now >= (count.span + 2) * count.length
            ]
            for key in over:
                del self._counts[key]
