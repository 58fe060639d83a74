"""Scales of axes: coordinates of values, round ticks, labels that do not overlap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A linear map of ``low`` … ``high`` to ``start`` … ``end``; one value maps to the middle.

    Example:
        >>> Scale(0, 10, 100, 200)(5)
        150.0
        >>> Scale(7, 7, 0, 50)(7)
        25.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        if self.high == self.low:
            return (self.start + self.end) / 2
        part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def ticks(low: float, high: float, *, most: int, integers: bool = False) -> list[float]:
    """Return round values between ``low`` and ``high``: steps of 1, 2 or 5 times a power of ten.

    Args:
        low: not above ``high``.
        high: both finite.
        most: maximum number of ticks, at least 2.
        integers: integers only (epochs).

    Example:
        >>> ticks(0, 100, most=6)
        [0, 20, 40, 60, 80, 100]
        >>> ticks(3, 17, most=5, integers=True)
        [5, 10, 15]
        >>> ticks(41, 41, most=5, integers=True)
        [41]
    """
    if high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    for step in (power * nice for nice in (1, 2, 5, 10, 20)):
        step = max(step, 1.0) if integers else step  # noqa: PLW2901 (the same step as an integer)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    places = max(0, -math.floor(math.log10(step)))
    values = (round(index * step, places) for index in range(first, last + 1))
    return [int(value) if value.is_integer() else value for value in values] or [low]


def spread(desired: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Return coordinates of labels, moved as little as possible to be ``gap`` apart.

    The sum of the squared moves is minimal, and the order stays. Labels stay within ``low`` …
    ``high`` if all of them fit.

    Args:
        desired: the desired coordinates, ascending.
        gap: minimum distance.
        low: minimum coordinate.
        high: maximum coordinate.

    Example:
        >>> spread([10.0, 11.0, 50.0], gap=5, low=0, high=100)
        [8.0, 13.0, 50.0]
    """
    # After subtracting the gaps before them, coordinates must not decrease: pool those that do
    # (isotonic regression).
    pools: list[tuple[float, int]] = []
    for index, place in enumerate(desired):
        mean, count = place - index * gap, 1
        while pools and pools[-1][0] > mean:
            before, pooled = pools.pop()
            mean = (mean * count + before * pooled) / (count + pooled)
            count += pooled
        pools.append((mean, count))
    last = high - gap * (len(desired) - 1)
    bounded = [max(low, min(mean, max(low, last))) for mean, count in pools for _ in range(count)]
    return [place + index * gap for index, place in enumerate(bounded)]
