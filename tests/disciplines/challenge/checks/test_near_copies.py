"""Names do not hide copies of a source, and all copies are found without comparing all pairs."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.challenge.checks.near_copies import RUN, Runs, near_copies, runs, similarity
from sizes import size

SETS = st.sets(st.integers(0, 40), max_size=40)


def test_a_rewritten_source_is_recognized_and_a_different_one_is_not() -> None:
    """Names, numbers and layout do not hide a program; the order of its steps reveals it."""
    one = "def f(a, b):\n    c = a * 2 + b\n    return [c for _ in range(10) if c > a]\n"
    renamed = "def g(x,y):\n  z=x*3+y\n  return [z for _ in range(9) if z>x]"
    other = "while True:\n    try:\n        yield queue.pop()\n    except IndexError: break\n"
    assert similarity(runs(one), runs(renamed)) == 1.0
    assert similarity(runs(one), runs(other)) < 0.2
    of = {at: runs(source) for at, source in {1: one, 2: other, 3: renamed}.items()}
    assert pairs_of(of, least=0.8) == [(1, 3)]
    assert len(runs("a b")) == 0
    assert RUN > 2


@settings(max_examples=size(100), deadline=None)
@given(
    st.lists(SETS, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.sets(st.integers(0, 40), max_size=4)), max_size=4),
    st.sampled_from([0.2, 0.5, 0.8, 1.0]),
)
def test_all_pairs_are_found(
    originals: list[set[int]], copies: list[tuple[int, set[int]]], least: float
) -> None:
    """Candidates share a rare run; no pair that is similar enough may be missed for that."""
    changed = [originals[at] ^ few for at, few in copies if at < len(originals)]
    of = {at: runs_of(hashes) for at, hashes in enumerate([*originals, *changed])}
    expected = [
        (first, second)
        for first, second in combinations(of, 2)
        if similarity(of[first], of[second]) >= least
    ]
    assert pairs_of(of, least=least) == expected


def test_a_family_of_copies_is_a_chain() -> None:
    """Many copies are no common usage; all are named, and not each pair of them."""
    of = {at: runs_of({*range(100), 1000 + at}) for at in range(60)}
    assert pairs_of(of, least=0.8) == [(at, at + 1) for at in range(59)]


def runs_of(hashes: set[int]) -> Runs:
    """Return hashes as those of a source."""
    return np.array(sorted(hashes), dtype=np.uint64)


def pairs_of(of: dict[int, Runs], *, least: float) -> list[tuple[int, int]]:
    """Return the pairs of near copies."""
    return [(pair.first, pair.second) for pair in near_copies(of, least=least)]
