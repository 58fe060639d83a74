"""Numbers of pairs, and the first of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.pairs import first_of_each, number_pairs
from sizes import size

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=20)


@pytest.mark.parametrize("rights", [5, 10**12])
@given(ROWS)
@settings(max_examples=size(50), deadline=None)
def test_equal_pairs_have_equal_numbers(rights: int, rows: list[tuple[int, int]]) -> None:
    """A table of all pairs must not be needed: free text makes as many tags as submissions."""
    left, right = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    numbers, bound = number_pairs(left, right, rights=rights)
    assert bound <= max(5 * 5, 4 * len(rows) + 1_000_000)
    assert all(0 <= number < bound for number in numbers)
    assert len(set(zip(rows, numbers.tolist(), strict=True))) == len(set(rows))
    assert len(set(numbers.tolist())) == len(set(rows))


@given(ROWS)
@settings(max_examples=size(50), deadline=None)
def test_the_first_of_each_is_the_first_read(rows: list[tuple[int, int]]) -> None:
    """Who was first gets the points, so the last assignment has to be the first row's."""
    left, right = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    numbers, bound = number_pairs(left, right, rights=5)
    expected = [pair not in rows[:at] for at, pair in enumerate(rows)]
    assert first_of_each(numbers, bound=bound).tolist() == expected
