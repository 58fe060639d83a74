"""The distribution of a published board's scores and of their parts, counted in bins."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import PublishedBoard, find_board
from agon.app.service import Service
from agon.entities.boards import Bin, PartDistribution

MAX_BINS: Final = 12
"""As many ranges as are read at a glance, and fit above a board."""

MAX_PARTS: Final = 12
"""Maximum number of parts that are counted: those of most participants, by name."""

SCORE: Final = "score"

_FEW: Final = 4
"""Maximum number of distinct values that have a bin each."""

_SAMPLE: Final = 1000
"""Number of values that usually show that there are more distinct ones."""

_EQUAL: Final = 1e-9
"""Values whose relative difference is at most this are in one bin."""


def distribution(
    service: Service, view: View, board: str | None, *, as_of: str | None = None
) -> tuple[PublishedBoard, tuple[PartDistribution, ...]]:
    """Return a board with the distribution of its scores first, then of their parts.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of)
        summary = session.snapshots.summary(published.rows_snapshot.no)
    return published, tuple(map(_part, summary.get("parts", ())))


def bins(values: "np.ndarray[Any, np.dtype[np.float64]]", *, most: int = MAX_BINS) -> list[Bin]:
    """Return how many values are in each of at most ``most`` bins with round edges.

    Their width is 1, 2 or 5 times a power of ten, the least that is enough. A few distinct values
    have a bin each, as ranges between them would all be empty.

    Example:
        >>> edges = np.array([0.0, 3.0, 4.0, 9.0, 9.5])
        >>> [(each.low, each.high, each.n) for each in bins(edges, most=5)]
        [(0.0, 2.0, 1), (2.0, 4.0, 1), (4.0, 6.0, 1), (6.0, 8.0, 0), (8.0, 10.0, 2)]
        >>> bins(np.array([0.0, 50.0, 50.0]))
        [Bin(low=0.0, high=0.0, n=1), Bin(low=50.0, high=50.0, n=2)]
    """
    # A sample with many values has shown enough: sorting all of a million rows is left out then.
    if len(np.unique(values[:_SAMPLE])) <= _FEW and len(distinct := np.unique(values)) <= _FEW:
        counts = [int(np.count_nonzero(values == value)) for value in distinct]
        pairs = zip(distinct.tolist(), counts, strict=True)
        return [Bin(low=value, high=value, n=count) for value, count in pairs]
    low, high = float(values.min()), float(values.max())
    step, places = _step(low, high, most)
    # A value that is an edge but for its last bits must not open a bin of its own.
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    edges = [round(index * step, places) for index in range(first, last + 1)]
    # Rounded edges may cut off the extreme values by such bits, which numpy would not count.
    outer = [min(edges[0], low), *edges[1:-1], max(edges[-1], high)]
    counted, _ = np.histogram(values, bins=outer)
    return [
        Bin(low=start, high=end, n=int(count))
        for (start, end), count in zip(pairwise(edges), counted, strict=True)
    ]


def _step(low: float, high: float, most: int) -> tuple[float, int]:
    """Return the width of bins and its number of decimals."""
    if high - low <= _EQUAL * max(abs(low), abs(high)):
        return 1.0, 0
    # No smaller power can do: even bins without round edges are wider.
    power = math.floor(math.log10((high - low) / most))
    for exponent in (power, power + 1):
        for nice in (1, 2, 5):
            step = round(nice * 10.0**exponent, max(0, -exponent))
            if math.ceil(high / step - 1e-9) - math.floor(low / step + 1e-9) <= most:
                return step, max(0, -exponent)
    return 10.0 ** (power + 2), max(0, -power - 2)


def distributions(
    values: Mapping[str, "np.ndarray[Any, np.dtype[np.float64]]"],
) -> tuple[PartDistribution, ...]:
    """Return the distribution of the scores first, then of their parts.

    Args:
        values: by ``score`` or the part those of the participants that have it.
    """
    names = sorted(values.keys() - {SCORE}, key=lambda name: (-len(values[name]), name))
    names = [name for name in names if len(values[name])]
    return tuple(
        PartDistribution(name=name, n=len(values[name]), bins=tuple(bins(values[name])))
        for name in [SCORE, *names[:MAX_PARTS]]
    )


def _part(value: Mapping[str, Any]) -> PartDistribution:
    """Return a distribution as it was stored."""
    return PartDistribution(
        name=value["name"], n=value["n"], bins=tuple(Bin(**each) for each in value["bins"])
    )
