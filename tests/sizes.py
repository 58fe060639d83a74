"""How much generative and exhaustive tests try: a part in `make test`, all in `make test-all`."""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

Value = TypeVar("Value")

ALL: Final = os.environ.get("TEST_ALL_SIZES") == "1"
"""Whether these tests run in full size."""

_PART: Final = 8
_DEAR_PART: Final = 25


def size(full: int, *, at_least: int = 5, dear: bool = False) -> int:
    """Return how many cases a generative test tries: ``full``, or an eighth of it.

    Args:
        full: the number of cases in full size.
        at_least: the fewest cases.
        dear: a twenty-fifth instead of an eighth, for cases that take a good part of a second each.

    Example:
        >>> size(10_000) in (1_250, 10_000), size(8) in (5, 8), size(60, dear=True) in (5, 60)
        (True, True, True)
    """
    return full if ALL else min(full, max(at_least, full // (_DEAR_PART if dear else _PART)))


def sample(values: Sequence[Value], *, at_least: int = 5) -> Sequence[Value]:
    """Return the values an exhaustive test tries: all, or an eighth at equal distances.

    Example:
        >>> sample("abcdefghijklmnopqrstuvwxyz") in ("afkpuz", "abcdefghijklmnopqrstuvwxyz")
        True
    """
    return values if ALL else values[:: max(1, min(_PART, len(values) // at_least))]
