"""The distribution of a published board's scores and of their parts, counted in bins."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np
import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import LINES_PER_READ, PublishedBoard, find_board
from agon.app.service import Service
from agon.store.session import Session

MAX_BINS: Final = 24
MAX_PARTS: Final = 12
"""Maximum number of parts that are counted: those of most participants, by name."""

SCORE: Final = "score"

_FEW: Final = 4
"""Maximum number of distinct values that have a bin each."""

_EQUAL: Final = 1e-9
"""Values whose relative difference is at most this are in one bin."""


@dataclass(frozen=True, kw_only=True)
class Bin:
    """How many participants have a value from ``low`` to below ``high``; the last one has both.

    A bin of one value has equal ends.
    """

    low: float
    high: float
    n: int


@dataclass(frozen=True, kw_only=True)
class PartDistribution:
    """The values of the score or of one of its parts.

    Attributes:
        name: ``score`` or the part.
        n: number of participants that have it.
        bins: in rising order, adjacent and of equal width, or each of one value; their ``n`` sum
            to ``n``.
    """

    name: str
    n: int
    bins: tuple[Bin, ...]


class DistributionCache:
    """The distributions of the boards that were counted last, by the hash of the board."""

    def __init__(self, size: int = 32) -> None:
        self._size = size
        self._counted: OrderedDict[str, tuple[PartDistribution, ...]] = OrderedDict()
        self._lock = Lock()

    def of(self, session: Session, board: PublishedBoard) -> tuple[PartDistribution, ...]:
        """Return the distributions of a board; it is read only if it was not counted yet."""
        key = board.snapshot.board_sha256
        with self._lock:  # one thread reads a board, the others wait for its result
            if key not in self._counted:
                self._counted[key] = _distributions(_values(session, board))
            self._counted.move_to_end(key)
            while len(self._counted) > self._size:
                self._counted.popitem(last=False)
            return self._counted[key]


_CACHE: Final = DistributionCache()


def distribution(
    service: Service, view: View, board: str | None, *, as_of: str | None = None
) -> tuple[PublishedBoard, tuple[PartDistribution, ...]]:
    """Return a board with the distribution of its scores first, then of their parts.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of)
        return published, _CACHE.of(session, published)


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
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= _FEW:
        pairs = zip(distinct.tolist(), counts.tolist(), strict=True)
        return [Bin(low=value, high=value, n=count) for value, count in pairs]
    low, high = float(values.min()), float(values.max())
    step, places = _step(low, high, most)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    edges = [round(at * step, places) for at in range(first, last + 1)]
    counts, _ = np.histogram(values, bins=[min(edges[0], low), *edges[1:-1], max(edges[-1], high)])
    return [Bin(low=edges[at], high=edges[at + 1], n=int(count)) for at, count in enumerate(counts)]


def _step(low: float, high: float, most: int) -> tuple[float, int]:
    """Return the width of bins and its number of decimals."""
    if high - low <= _EQUAL * max(abs(low), abs(high)):
        return 1.0, 0
    power = math.floor(math.log10((high - low) / most))
    for exponent in (power, power + 1):
        for nice in (1, 2, 5):
            step = round(nice * 10.0**exponent, max(0, -exponent))
            if math.ceil(high / step - 1e-9) - math.floor(low / step + 1e-9) <= most:
                return step, max(0, -exponent)
    return 10.0 ** (power + 2), max(0, -power - 2)


def _values(session: Session, board: PublishedBoard) -> Mapping[str, list[float]]:
    """Return the values of the score and of each part."""
    values: dict[str, list[float]] = {SCORE: []}
    for line in _lines(session, board):
        row = orjson.loads(line)
        values[SCORE].append(row["score"])
        for name, points in row.get("components", {}).items():
            if isinstance(points, int | float) and not isinstance(points, bool):
                values.setdefault(name, []).append(points)
    return values


def _lines(session: Session, board: PublishedBoard) -> Iterator[bytes]:
    for start in range(0, board.snapshot.rows, LINES_PER_READ):
        yield from session.snapshots.lines(
            board.rows_snapshot.no, start=start, count=LINES_PER_READ
        )


def _distributions(values: Mapping[str, list[float]]) -> tuple[PartDistribution, ...]:
    names = sorted(values.keys() - {SCORE}, key=lambda name: (-len(values[name]), name))
    return tuple(
        PartDistribution(
            name=name,
            n=len(values[name]),
            bins=tuple(bins(np.array(values[name], dtype=np.float64))),
        )
        for name in [SCORE, *names[:MAX_PARTS]]
    )
