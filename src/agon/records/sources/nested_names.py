"""Name a value inside a value: ``dedup_tag.sampled`` is the key ``sampled`` of ``dedup_tag``."""

from collections.abc import Collection, Iterator
from itertools import combinations, pairwise


def nested_paths(name: str, present: Collection[str]) -> list[list[str]]:
    """Return the ways in which a name may be a path into a column; keys may have points.

    Example:
        >>> nested_paths("tags.math_v0.1", ["tags"])
        [['tags', 'math_v0.1'], ['tags', 'math_v0', '1']]
        >>> nested_paths("tags", ["tags"]), nested_paths("matches.winner", ["winner"])
        ([], [])
    """
    if name in present:
        return []
    return [path for path in _splits(name.split(".")) if path[0] in present and len(path) > 1]


_MAX_POINTS = 6


def _splits(parts: list[str]) -> Iterator[list[str]]:
    places = range(1, min(len(parts), _MAX_POINTS + 1))
    for count in range(1, len(parts)):
        for cuts in combinations(places, count):
            edges = [0, *cuts, len(parts)]
            yield [".".join(parts[a:b]) for a, b in pairwise(edges)]
