"""Detect renamed copies of an agent's source: runs of tokens that two sources share."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

RUN = 8
"""Tokens in a run: long enough that two authors rarely write the same one independently."""

_COMMON = 50  # of more sources with a run, only neighbors are compared
_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_WORDS = frozenset(
    """
    and as assert async await break case class const continue def del do elif else enum except
    finally fn for from function global if import in is lambda let match mut new nonlocal not or
    pass raise return struct switch try var while with yield
    """.split()  # noqa: SIM905 - fifty words read better as a text than as a list
)
"""Names that are the same in every program."""

Runs = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Likeness:
    """Two sources, ``first < second``, and |A ∩ B| / |A ∪ B| of their runs."""

    first: int
    second: int
    similarity: float


def runs(source: str) -> Runs:
    """Hash every run of tokens of a source; names and numbers count as placeholders.

    Returns:
        the distinct hashes, rising; none for a source shorter than a run.

    Example:
        >>> one = runs("def f(a): return a + 1 if a else 0")
        >>> other = runs("def work(x): return x + 2 if x else 3")
        >>> one.tolist() == other.tolist()
        True
    """
    tokens = np.array([_code(token) for token in _TOKEN.findall(source)])
    if len(tokens) < RUN:
        return np.zeros(0, dtype=np.uint64)
    hashed = np.zeros(len(tokens) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):
        hashed *= np.uint64(0x9E3779B97F4A7C15)  # odd, so no bit is lost
        hashed ^= tokens[place : place + len(hashed)].astype(np.uint64)
    return np.unique(hashed)


@lru_cache(maxsize=4_096)
def _code(token: str) -> int:
    """Return a number of the token: names, and numbers, have one each."""
    if token not in _WORDS and (token[0].isalnum() or token[0] == "_"):
        token = "0" if token[0].isdigit() else "name"
    return crc32(token.encode())


def similarity(first: Runs, second: Runs) -> float:
    """Return the part of their runs that two sources share: |A ∩ B| / |A ∪ B|; 0 without runs.

    Example:
        >>> similarity(np.array([1, 2], dtype=np.uint64), np.array([2, 3], dtype=np.uint64))
        0.3333333333333333
    """
    shared = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def near_copies(sources: Mapping[int, Runs], *, least: float) -> Iterator[Likeness]:
    """Return the pairs of sources that share at least ``least`` of their runs.

    Two such sources share one of their rarest runs: with ``least`` = 0.8, of the rarest fifth of
    each, and one more. Only pairs that do are compared, so the cost is that of the sources, not of
    all pairs. Where more than 50 sources share such a run, each is compared with the one before it
    only: a family of copies is found as a chain.

    Args:
        sources: runs of the sources by number.
        least: similarity from 0 to 1, above 0.
    """
    for first, second in sorted(_candidates(sources, least)):
        share = similarity(sources[first], sources[second])
        if share >= least:
            yield Likeness(first, second, share)


def _candidates(sources: Mapping[int, Runs], least: float) -> set[tuple[int, int]]:
    """Return the pairs that share a run which is among the rarest of both."""
    numbers = sorted(sources)
    lengths = np.array([len(sources[number]) for number in numbers], dtype=np.int64)
    if not lengths.sum():
        return set()
    owners = np.repeat(np.arange(len(numbers)), lengths)
    _, distinct, counts = np.unique(
        np.concatenate([sources[number] for number in numbers]),
        return_inverse=True,
        return_counts=True,
    )
    compared = lengths - np.ceil(least * lengths - 1e-9) + 1  # the rarest of each
    shared = counts[distinct] > 1
    compared -= np.bincount(owners[~shared], minlength=len(numbers))
    owners, distinct = owners[shared], distinct[shared]
    order = np.lexsort((distinct, counts[distinct], owners))
    starts = np.searchsorted(owners, np.arange(len(numbers)))
    leading = order[np.arange(len(owners)) - starts[owners] < compared[owners]]
    leading = leading[np.argsort(distinct[leading], kind="stable")]
    families = np.split(owners[leading], np.flatnonzero(np.diff(distinct[leading])) + 1)
    pairs: set[tuple[int, int]] = set()
    for family in families:
        held = [numbers[owner] for owner in family.tolist()]
        pairs.update(pairwise(held) if len(held) > _COMMON else combinations(held, 2))
    return pairs


def usual_similarity(sources: Mapping[int, Runs]) -> float:
    """Return the median similarity of neighboring sources, given their runs; 0 for fewer than two.

    Example:
        >>> usual_similarity({1: runs("def f(): return 1 + 2 * 3")})
        0.0
    """
    adjacent = [
        similarity(*pair) for pair in pairwise(hashed for _, hashed in sorted(sources.items()))
    ]
    return float(np.median(adjacent)) if adjacent else 0.0
