"""How much the generative suites try: a part of it in `make test`, all of it in `make test-all`."""

import os
from typing import Final

ALL: Final = os.environ.get("AGON_TEST_ALL") == "1"
"""Whether the generative suites run in full size."""

_PART: Final = 5


def size(full: int, *, at_least: int = 5) -> int:
    """Return how many cases a generative test tries: ``full``, or a fifth of it.

    Example:
        >>> size(10_000) in (2_000, 10_000), size(8) in (5, 8)
        (True, True)
    """
    return full if ALL else min(full, max(at_least, full // _PART))
