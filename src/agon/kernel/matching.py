"""Match the vertices of a graph in pairs, as many as possible."""

from collections import deque
from collections.abc import Sequence

NONE = -1


def augment_matching(neighbors: Sequence[Sequence[int]], mate: Sequence[int]) -> list[int]:
    """Return a largest matching that covers every vertex that the given one covers.

    Edmonds' blossom algorithm: from each free vertex a breadth-first search for an alternating path
    to another free one, in which odd cycles are contracted to their base. Paths are the shortest
    that the search meets, along neighbors in their given order. O(V³).

    Args:
        neighbors: for each vertex those it may be matched with, the preferred first; symmetric.
        mate: for each vertex its partner in the matching to start from, or −1.

    Returns:
        For each vertex its partner, or −1.

    Example:
        >>> augment_matching([[1], [0, 2], [1, 3], [2]], [-1, 2, 1, -1])  # the path 0-1-2-3
        [1, 0, 3, 2]
    """
    matched = list(mate)
    for root in range(len(neighbors)):
        if matched[root] == NONE:
            _augment_from(root, neighbors, matched)
    return matched


def _augment_from(root: int, neighbors: Sequence[Sequence[int]], mate: list[int]) -> None:
    """Search an augmenting path from a free vertex, and exchange its edges."""
    size = len(neighbors)
    parent = [NONE] * size
    base = list(range(size))
    is_outer = [False] * size
    is_outer[root] = True
    queue = deque([root])
    while queue:
        vertex = queue.popleft()
        for other in neighbors[vertex]:
            # Within one blossom, or the matched edge by which the search came here.
            if base[vertex] == base[other] or mate[vertex] == other:
                continue
            # The other end is outer too: the two paths to the root and this edge are an odd cycle.
            if other == root or (mate[other] != NONE and parent[mate[other]] != NONE):
                _contract(vertex, other, mate, parent, base, is_outer, queue)
            elif parent[other] == NONE:
                parent[other] = vertex
                # A free vertex ends the path; otherwise the search goes on behind its mate.
                if mate[other] == NONE:
                    _exchange(other, mate, parent)
                    return
                is_outer[mate[other]] = True
                queue.append(mate[other])


def _exchange(end: int, mate: list[int], parent: Sequence[int]) -> None:
    """Match the vertices along a path in the other way, from its end to the root."""
    while end != NONE:
        previous = parent[end]
        following = mate[previous]
        mate[end], mate[previous] = previous, end
        end = following


def _contract(
    first: int,
    second: int,
    mate: Sequence[int],
    parent: list[int],
    base: list[int],
    is_outer: list[bool],
    queue: deque[int],
) -> None:
    """Contract the odd cycle that an edge between two outer vertices closes."""
    shared = _common_base(first, second, mate, parent, base)
    in_cycle = [False] * len(base)
    _mark_path(first, shared, second, mate, parent, base, in_cycle)
    _mark_path(second, shared, first, mate, parent, base, in_cycle)
    for vertex in range(len(base)):
        if in_cycle[base[vertex]]:
            base[vertex] = shared
            if not is_outer[vertex]:
                is_outer[vertex] = True
                queue.append(vertex)


def _common_base(
    first: int, second: int, mate: Sequence[int], parent: Sequence[int], base: Sequence[int]
) -> int:
    """Return the first base that the paths of two outer vertices to the root have in common."""
    seen = set()
    while True:
        first = base[first]
        seen.add(first)
        if mate[first] == NONE:
            break
        first = parent[mate[first]]
    while base[second] not in seen:
        second = parent[mate[base[second]]]
    return base[second]


def _mark_path(
    vertex: int,
    shared: int,
    child: int,
    mate: Sequence[int],
    parent: list[int],
    base: Sequence[int],
    in_cycle: list[bool],
) -> None:
    """Mark the bases from a vertex to the cycle's base, and let its parents lead around it."""
    while base[vertex] != shared:
        partner = mate[vertex]
        in_cycle[base[vertex]] = in_cycle[base[partner]] = True
        parent[vertex] = child
        child = partner
        vertex = parent[partner]
