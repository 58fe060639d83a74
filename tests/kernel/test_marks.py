"""Distinct and repeated values by marks equal those of plain sets."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.disciplines.community.formulas import distinct_items
from agon.kernel import marks
from agon.kernel.marks import Groups, Lists, count_reached, count_rows, repeated_pairs, rows_with

GROUPS, VALUES, ITEMS = 4, 5, 6
ROWS = st.lists(st.tuples(st.integers(-1, GROUPS - 1), st.integers(-1, VALUES - 1)), max_size=30)


@pytest.fixture(autouse=True)
def _few_groups_per_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the few groups of these tests fall into several buckets and both lanes."""
    monkeypatch.setattr(marks, "_SHIFT", 1)


def grouped(rows: list[tuple[int, int]]) -> Groups:
    """Return the second numbers of rows by the first."""
    groups, values = np.array(rows, dtype=np.int64).reshape(-1, 2).T.copy()
    return Groups.of(groups, values, size=GROUPS)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_values_of_a_group_keep_the_order_of_their_rows(rows: list[tuple[int, int]]) -> None:
    """Rows of negative groups are left out; each group's values end where the next ones begin."""
    values = [
        part.values[begin:end].tolist()
        for part in grouped(rows).parts
        for begin, end in pairwise([0, *part.ends])
    ]
    assert values == [[value for at, value in rows if at == group] for group in range(GROUPS)]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_repeated_pairs_are_those_of_a_counter(rows: list[tuple[int, int]]) -> None:
    """Rows of a negative group or value count for none, and no group sees another one's marks."""
    known = Counter(row for row in rows if min(row) >= 0)
    repeated = sorted(group * VALUES + value for (group, value), n in known.items() if n > 1)
    assert repeated_pairs(grouped(rows), values=VALUES).tolist() == repeated


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, items=st.lists(st.sets(st.integers(0, ITEMS - 1)), min_size=5, max_size=5))
def test_reached_items_are_the_union_of_the_keys_lists(
    rows: list[tuple[int, int]], items: list[set[int]]
) -> None:
    """An item that several keys of a group list counts once, with and without compiled loops."""
    rows = [(group, key) for group, key in rows if min(group, key) >= 0]
    lists = Lists.of(
        np.cumsum([0, *map(len, items)]), [item for each in items for item in each], size=ITEMS
    )
    expected = [
        len({item for at, key in rows if at == group for item in items[key]})
        for group in range(GROUPS)
    ]
    assert count_reached(grouped(rows), lists).tolist() == expected
    groups, keys = np.array(rows, dtype=np.int32).reshape(-1, 2).T
    assert distinct_items(groups, keys, lists, size=GROUPS).tolist() == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, pairs=st.sets(st.integers(0, GROUPS * VALUES - 1)))
def test_rows_with_a_pair_are_those_of_a_set(rows: list[tuple[int, int]], pairs: set[int]) -> None:
    """Also where the bit of another pair is the same; an unknown group or value is in no pair."""
    groups, values = np.array(rows, dtype=np.int32).reshape(-1, 2).T.copy()
    expected = [
        at for at, (group, value) in enumerate(rows) if group * (VALUES + 1) + value in pairs
    ]
    sought = np.array(sorted(pairs), dtype=np.int64)
    assert rows_with(groups, values, sought, width=VALUES + 1).tolist() == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.integers(0, GROUPS - 1), st.booleans()), max_size=30))
def test_rows_of_a_group_are_counted_equally_with_and_without_compiled_loops(
    rows: list[tuple[int, bool]],
) -> None:
    """Both of all rows and of those that are chosen."""
    groups = np.array([group for group, _ in rows], dtype=np.int32)
    chosen = np.array([is_chosen for _, is_chosen in rows], dtype=bool)
    few = count_rows(groups, size=GROUPS), count_rows(groups, size=GROUPS, chosen=chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marks, "are_many", lambda *_, **__: True)
        many = count_rows(groups, size=GROUPS), count_rows(groups, size=GROUPS, chosen=chosen)
    counts = Counter(group for group, _ in rows)
    assert few[0].tolist() == [counts[group] for group in range(GROUPS)]
    assert [each.tolist() for each in few] == [each.tolist() for each in many]


def test_a_label_is_a_list_of_one_item_and_none_an_empty_list() -> None:
    """Creators of prompts are such labels; some prompts have no known creator."""
    lists = Lists.of_labels(np.array([4, -1, 2]), size=5)
    assert (lists.starts.tolist(), lists.items.tolist()) == ([0, 1, 1, 2], [4, 2])
