"""Robust statistics: median, MAD, modified z, outliers; for one group and for many."""

from statistics import median as plain_median
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.robust import (
    grouped_mad,
    grouped_median,
    grouped_modified_z,
    grouped_outliers,
    mad,
    median,
    modified_z,
    outliers,
)
from sizes import size

law = settings(max_examples=size(60), deadline=None)
scores = st.floats(0, 1)


def plain_flags(values: list[float]) -> list[bool]:
    """Flag by the letter of the seed, with the standard library's median."""
    if len(values) < 3:
        return [False] * len(values)
    middle = plain_median(values)
    spread = plain_median([abs(value - middle) for value in values])
    spread = 0.01 if spread < 1e-9 else spread
    return [abs(0.6745 * (value - middle) / spread) > 3.5 + 1e-9 for value in values]


@pytest.mark.parametrize(
    ("values", "z_of_last", "flags"),
    [
        ([0.80, 0.82, 0.79, 0.81, 0.20], -40.47, [False, False, False, False, True]),
        ([0.8, 0.8, 0.8, 0.8, 0.2], -40.47, [False, False, False, False, True]),
        ([0.8, 0.8, 0.8, 0.8, 0.83], 2.02, [False] * 5),
    ],
)
def test_vectors_of_the_challenge_page(
    values: list[float], z_of_last: float, flags: list[bool]
) -> None:
    """The three vectors of step 3, the second and third with a MAD of zero."""
    assert modified_z(values, mad_when_zero=0.01)[-1].round(2) == z_of_last
    assert outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01).tolist() == flags


def test_the_threshold_itself_is_not_above_the_threshold() -> None:
    """0.6745 x 0.014 / 0.002698 is 3.5 in decimals and a last bit more in floats: not flagged."""
    values = [0.486, 0.497302, 0.5, 0.502698, 0.502698]
    assert modified_z(values, mad_when_zero=0.01)[0] < -3.5
    assert modified_z(values, mad_when_zero=0.01)[0].round(9) == -3.5
    assert not outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01).any()
    assert outliers(values, threshold=3.4999, min_values=3, mad_when_zero=0.01).tolist() == [
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("values", [[], [0.1], [0.1, 0.9]])
def test_fewer_than_three_values_flag_none(values: list[float]) -> None:
    """Of two values that disagree, neither can be called wrong."""
    assert outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01).tolist() == [
        False
    ] * len(values)


def test_the_mad_is_the_middle_deviation() -> None:
    """Deviations from 3 are 2, 1, 0, 1, 97; of an even number the two middle ones are averaged."""
    assert mad([1, 2, 3, 4, 100]) == 1.0
    assert mad([1, 2, 4, 8]) == 1.5


def test_nothing_has_no_median() -> None:
    """An empty group is said, not answered with NaN."""
    with pytest.raises(NotScorable, match="no values"):
        median([])
    with pytest.raises(NotScorable, match="group 1"):
        grouped_median([1.0, 2.0], [0, 1, 1, 2])


@pytest.mark.parametrize("offsets", [[], [0], [1, 2], [0, 2, 1, 2], [0, 3]])
def test_offsets_must_divide_the_values(offsets: list[int]) -> None:
    """Offsets that skip or repeat values would give wrong numbers."""
    with pytest.raises(ValueError, match="offsets"):
        grouped_median([1.0, 2.0], offsets)


def test_values_must_be_finite_numbers_in_a_row() -> None:
    """NaN would sort last and move every median quietly."""
    with pytest.raises(ValueError, match="value 1 is not finite"):
        median([1.0, np.nan])
    with pytest.raises(ValueError, match="dimensions"):
        median([[1.0], [2.0]])
    with pytest.raises(ValueError, match="mad_when_zero"):
        modified_z([1.0, 2.0], mad_when_zero=0.0)


@law
@given(st.lists(st.lists(scores, min_size=1, max_size=12), max_size=12))
def test_many_groups_at_once_equal_one_at_a_time(groups: list[list[float]]) -> None:
    """Groups of all sizes, mixed, against the standard library."""
    values = np.array([value for group in groups for value in group])
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(int)
    medians = [plain_median(group) for group in groups]
    assert grouped_median(values, offsets).tolist() == medians
    assert grouped_mad(values, offsets).tolist() == [
        plain_median([abs(value - middle) for value in group])
        for group, middle in zip(groups, medians, strict=True)
    ]
    assert grouped_outliers(
        values, offsets, threshold=3.5, min_values=3, mad_when_zero=0.01
    ).tolist() == [flag for group in groups for flag in plain_flags(group)]
    z = [modified_z(group, mad_when_zero=0.01) for group in groups]
    assert (
        grouped_modified_z(values, offsets, mad_when_zero=0.01).tolist()
        == np.concatenate([[], *z]).tolist()
    )


def test_groups_larger_and_more_than_a_block_are_computed_the_same() -> None:
    """Blocks exist for speed alone; the seams must not show."""
    dice = np.random.default_rng(7)
    for length, count in ((64, 3000), (70_001, 2)):
        rows = dice.random((count, length))
        offsets = np.arange(count + 1) * length
        assert (grouped_median(rows.ravel(), offsets) == np.median(rows, axis=1)).all()


def test_inputs_are_left_as_they_were() -> None:
    """Values are frozen at the border: sorting happens on copies."""
    values = np.array([3.0, 1.0, 2.0])
    grouped_outliers(values, np.array([0, 3]), threshold=3.5, min_values=3, mad_when_zero=0.01)
    assert values.tolist() == [3.0, 1.0, 2.0]


@law
@given(st.lists(scores, min_size=3, max_size=9), st.randoms())
def test_flags_do_not_depend_on_order(values: list[float], dice: Any) -> None:
    """Rows of a table have no order that means anything."""
    flags = dict(
        zip(
            values,
            outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01).tolist(),
            strict=True,
        )
    )
    dice.shuffle(values)
    assert outliers(values, threshold=3.5, min_values=3, mad_when_zero=0.01).tolist() == [
        flags[value] for value in values
    ]
