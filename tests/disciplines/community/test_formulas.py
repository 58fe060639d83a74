"""The seed's formulas, and the counting they rest on, against their plainest form."""

import doctest
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.community import achievements, components, formulas, id_index, simulate
from agon.disciplines.community.checks import exposure, handles
from agon.disciplines.community.counts import benchmarks, models
from agon.disciplines.community.id_index import IdIndex, expand
from sizes import size

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)


@pytest.mark.parametrize(
    "module",
    [achievements, benchmarks, id_index, components, exposure, formulas, handles, models, simulate],
)
def test_examples_in_the_documentation_hold(module: ModuleType) -> None:
    """A reader checks them with a pencil."""
    assert doctest.testmod(module).failed == 0


@settings(max_examples=size(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), max_size=40))
def test_everybodys_h_index_at_once_is_each_ones_own(rows: list[tuple[int, int]]) -> None:
    """The fast form and the definition agree."""
    people = np.array([who for who, _ in rows], dtype=np.int64)
    positives = np.array([count for _, count in rows], dtype=np.int64)
    expected = [formulas.h_index([n for who, n in rows if who == one]) for one in range(4)]
    assert formulas.h_indices(people, positives, size=4).tolist() == expected


@settings(max_examples=size(100), deadline=None)
@given(pairs)
def test_distinct_counts_are_those_of_sets(rows: list[tuple[int, int]]) -> None:
    """Sorting one number per pair counts the same."""
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    values = np.array([value for _, value in rows], dtype=np.int64)
    expected = [len({value for group, value in rows if group == one}) for one in range(5)]
    assert formulas.distinct_per_group(groups, values, sizes=(5, 7)).tolist() == expected
    one, other = formulas.distinct_pairs(groups, values, size=7)
    assert list(zip(one.tolist(), other.tolist(), strict=True)) == sorted(set(rows))


@settings(max_examples=size(60), deadline=None)
@given(
    st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 9), unique=True, max_size=12),
    st.lists(st.none() | st.integers(-(2**62), 2**62) | st.integers(-2, 12), max_size=30),
)
def test_codes_are_places_for_near_and_far_numbers_and_text(
    ids: list[int], looked_up: list[int | None]
) -> None:
    """Dense numbers are found by address, sparse ones and text by hash; empty ones have none."""
    expected = [ids.index(one) if one in ids else -1 for one in looked_up]
    numbers = IdIndex(pa.array(ids, pa.int64()))
    assert numbers.of(pa.array(looked_up, pa.int64())).tolist() == expected
    text = IdIndex(pa.array([str(one) for one in ids], pa.string()))
    texts = pa.array([None if one is None else str(one) for one in looked_up], pa.string())
    assert text.of(pa.chunked_array([texts[:5], texts[5:]])).tolist() == expected


@settings(max_examples=size(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12))
def test_runs_unfold_in_order(runs: list[tuple[int, int]]) -> None:
    """Each run gives its places one after the other."""
    starts = np.array([start for start, _ in runs], dtype=np.int64)
    counts = np.array([count for _, count in runs], dtype=np.int64)
    run, place = expand(starts, counts)
    expected = [(at, start + n) for at, (start, count) in enumerate(runs) for n in range(count)]
    assert list(zip(run.tolist(), place.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("scores", "wrong"),
    [([0.0], True), ([0.5], False), ([0.499999999], True), ([0.1, 0.7, 0.7], False),
     ([0.7, 0.1, 0.7], False), ([0.2, 0.8], False), ([0.2, 0.79], True)],
)  # fmt: skip
def test_a_mean_is_exact_in_any_order(scores: list[float], *, wrong: bool) -> None:
    """0.1 + 0.7 + 0.7 is not below 1.5, although floats added from the left say so."""
    total = sum(round(score * formulas.SCORE_GRID) for score in scores)
    result = formulas.are_wrong(np.array([total]), np.array([len(scores)]), threshold=0.5)
    assert result.tolist() == [wrong]
