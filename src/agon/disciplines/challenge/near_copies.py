"""Detect renamed copies of an agent's source: runs of tokens that two sources share."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

RUN = 8
"""Tokens in a run: long enough that two authors rarely write the same one independently."""

_SKETCH = 32  # smallest run hashes by which candidate pairs are selected
_COMMON = 50  # a run in more sources is common usage, not an author's
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
    tokens = np.array([crc32(_class(token).encode()) for token in _TOKEN.findall(source)])
    if len(tokens) < RUN:
        return np.zeros(0, dtype=np.uint64)
    hashed = np.zeros(len(tokens) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):
        hashed *= np.uint64(0x9E3779B97F4A7C15)  # odd, so no bit is lost
        hashed ^= tokens[place : place + len(hashed)].astype(np.uint64)
    return np.unique(hashed)


def _class(token: str) -> str:
    if token in _WORDS or not (token[0].isalnum() or token[0] == "_"):
        return token
    return "0" if token[0].isdigit() else "name"


def similarity(first: Runs, second: Runs) -> float:
    """Return the part of their runs that two sources share: |A ∩ B| / |A ∪ B|; 0 without runs.

    Example:
        >>> similarity(np.array([1, 2], dtype=np.uint64), np.array([2, 3], dtype=np.uint64))
        0.3333333333333333
    """
    shared = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def near_copies(sources: Mapping[int, str], *, least: float) -> Iterator[Likeness]:
    """Return the pairs of sources that share at least ``least`` of their runs.

    Pairs are compared when one of their few smallest hashes is the same, so the cost is that of
    the sources, not of all pairs.

    Args:
        sources: source text by number.
        least: similarity from 0 to 1.
    """
    of = {at: runs(source) for at, source in sources.items()}
    holders: dict[int, list[int]] = defaultdict(list)
    for at, hashes in of.items():
        for hashed in hashes[:_SKETCH].tolist():
            holders[hashed].append(at)
    pairs = {
        (min(source, other), max(source, other))
        for held in holders.values()
        if len(held) <= _COMMON
        for at, source in enumerate(held)
        for other in held[:at]
    }
    for first, second in sorted(pairs):
        share = similarity(of[first], of[second])
        if share >= least:
            yield Likeness(first, second, share)


def usual_similarity(sources: Mapping[int, str]) -> float:
    """Return the median similarity of neighboring sources; 0 for fewer than two.

    Example:
        >>> usual_similarity({1: "def f(): return 1 + 2 * 3"})
        0.0
    """
    hashed = [runs(source) for _, source in sorted(sources.items())]
    adjacent = [similarity(*pair) for pair in pairwise(hashed)]
    return float(np.median(adjacent)) if adjacent else 0.0
