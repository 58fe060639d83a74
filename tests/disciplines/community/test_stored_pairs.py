"""Stored ids and pairs are found and counted as those of a plain set."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.community.id_index import IdIndex
from agon.disciplines.community.stored_ids import GrownIds, id_arrays
from agon.disciplines.community.stored_pairs import (
    GrownPairs,
    StoredPairs,
    ordered_pairs,
    pair_arrays,
)
from sizes import size

FAR = 2**40
"""Larger than what fits next to another number in 64 bits."""

PAIRS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9) | st.sampled_from([FAR, FAR + 1])), max_size=40
)
NUMBER = st.integers(-3, 30) | st.sampled_from([-(2**63), 2**62, 2**63 - 1])
NUMBERS = st.lists(NUMBER, unique=True) | st.integers(0, 9).map(lambda n: [*range(n, 3 * n)])


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return both numbers of pairs as arrays."""
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


@settings(max_examples=size(300), deadline=None)
@given(stored=PAIRS, added=PAIRS)
def test_pairs_are_those_of_a_set(
    stored: list[tuple[int, int]], added: list[tuple[int, int]]
) -> None:
    """Found, listed and counted, with first numbers that are not stored."""
    before, after = set(stored), {*stored, *added}
    arrays = dict(pair_arrays("p", *ordered_pairs(*columns(stored)), size=5))
    if any(first >= 5 for first, _ in stored):
        arrays = dict(pair_arrays("p", *ordered_pairs(*columns(stored)), size=7))
    pairs = StoredPairs(arrays, "p")
    found = pairs.find(*columns(added))
    assert (found >= 0).tolist() == [pair in before for pair in added]
    assert [sorted(before)[at] for at in found if at >= 0] == [
        one for one in added if one in before
    ]
    grown = GrownPairs(pairs, *columns(added))
    assert list(zip(*map(np.ndarray.tolist, grown.new), strict=True)) == sorted(after - before)
    counts = [len([pair for pair in after if pair[0] == first]) for first in range(7)]
    assert grown.counts(size=7).tolist() == counts
    at, second = grown.of(np.arange(7))
    assert sorted(zip(at.tolist(), second.tolist(), strict=True)) == sorted(after)


@settings(max_examples=size(300), deadline=None)
@given(stored=NUMBERS, added=NUMBERS, sought=st.lists(st.none() | NUMBER))
def test_grown_ids_have_the_places_of_a_list(
    stored: list[int], added: list[int], sought: list[int | None]
) -> None:
    """Numbers in a range, in order or in none, and text; empty ones and unknown ones have none."""
    late = [one for one in added if one not in stored]
    ids = stored + late
    expected = [ids.index(one) if one in ids else -1 for one in sought]
    for kind in (pa.int64(), pa.string()):
        first, then, which = (
            pa.array([None if one is None else str(one) for one in part], pa.string()).cast(kind)
            for part in (stored, late, sought)
        )
        index = GrownIds(dict(id_arrays("ids", IdIndex(first))), "ids", then)
        assert index.of(which).tolist() == expected
        assert [str(one) for one in index.ids.to_pylist()] == list(map(str, ids))
        assert (len(index), index.added.tolist()) == (len(ids), [*range(len(stored), len(ids))])


def test_consecutive_ids_take_no_space() -> None:
    """They continue the range, whatever else is added."""
    arrays = dict(id_arrays("ids", IdIndex(pa.array([5, 6, 7]))))
    assert [name for name, values in arrays.items() if len(values) > 2] == []
    assert GrownIds(arrays, "ids", pa.array([8, 9])).first == 5
    assert GrownIds(arrays, "ids", pa.array([9])).first is None
