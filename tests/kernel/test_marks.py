"""Distinct and repeated values by marks equal those of plain sets."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.kernel.marks import Lists, count_distinct, count_reached, repeated_pairs

GROUPS, VALUES, ITEMS = 4, 5, 6
ROWS = st.lists(st.tuples(st.integers(-1, GROUPS - 1), st.integers(-1, VALUES - 1)), max_size=30)


def columns(rows: list[tuple[int, int]]) -> list[np.ndarray]:
    """Return rows as two columns."""
    return list(np.array(rows, dtype=np.int64).reshape(-1, 2).T.copy())


@settings(deadline=None)  # the first call compiles
@given(rows=ROWS)
def test_distinct_values_and_repeated_pairs_are_those_of_sets(rows: list[tuple[int, int]]) -> None:
    """Rows of a negative group or value count for none, and no group sees another one's marks."""
    groups, values = columns(rows)
    known = Counter(row for row in rows if min(row) >= 0)
    distinct = Counter(group for group, _ in known)
    sizes = (GROUPS, VALUES)
    assert count_distinct(groups, values, sizes=sizes).tolist() == [
        distinct[group] for group in range(GROUPS)
    ]
    repeated = sorted(group * VALUES + value for (group, value), n in known.items() if n > 1)
    assert repeated_pairs(groups, values, sizes=sizes).tolist() == repeated


@settings(deadline=None)  # the first call compiles
@given(rows=ROWS, lists=st.lists(st.sets(st.integers(0, ITEMS - 1)), min_size=5, max_size=5))
def test_reached_items_are_the_union_of_the_keys_lists(
    rows: list[tuple[int, int]], lists: list[set[int]]
) -> None:
    """An item that several keys of a group list counts once."""
    rows = [(group, key) for group, key in rows if key >= 0]
    groups, keys = columns(rows)
    starts = np.cumsum([0, *map(len, lists)])
    items = np.array([item for each in lists for item in sorted(each)], dtype=np.int32)
    reached = count_reached(groups, keys, Lists(starts, items, ITEMS), size=GROUPS)
    assert reached.tolist() == [
        len({item for at, key in rows if at == group for item in lists[key]})
        for group in range(GROUPS)
    ]
