"""Matchings: as large as the best that trying everything finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agon.kernel.matching import NONE, augment_matching
from sizes import size


def largest(edges: frozenset[tuple[int, int]]) -> int:
    """Return the size of a largest matching, by trying every edge with and without."""
    if not edges:
        return 0
    first = min(edges)
    without = edges - {first}
    apart = frozenset(edge for edge in without if not set(edge) & set(first))
    return max(1 + largest(apart), largest(without))


graphs = st.integers(2, 9).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.frozensets(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
                lambda edge: edge[0] < edge[1]
            ),
            max_size=13,
        ),
    )
)


@settings(max_examples=size(500), deadline=None)
@given(graphs, st.randoms(use_true_random=False))
def test_a_matching_is_as_large_as_any_and_covers_what_it_covered(
    graph: tuple[int, frozenset[tuple[int, int]]], dice: object
) -> None:
    """Odd cycles included; what had a partner has one afterwards."""
    count, edges = graph
    neighbors: list[list[int]] = [[] for _ in range(count)]
    for first, second in edges:
        neighbors[first].append(second)
        neighbors[second].append(first)
    start = [NONE] * count
    for first, second in dice.sample(sorted(edges), len(edges) // 3):  # type: ignore[attr-defined]  # Hypothesis gives a random.Random
        if start[first] == start[second] == NONE:
            start[first], start[second] = second, first
    result = augment_matching(neighbors, start)
    pairs = {(one, other) for one, other in enumerate(result) if one < other}
    assert pairs <= edges
    assert all(result[result[one]] == one for one in range(count) if result[one] != NONE)
    assert len(pairs) == largest(edges)
    assert all(result[one] != NONE for one in range(count) if start[one] != NONE)
