"""Krippendorff's α against the reference package and the author's published example."""

from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.agreement.krippendorff_alpha import KrippendorffAlpha, krippendorff_alpha
from sizes import size

law = settings(max_examples=size(60), deadline=None)
Metric = Literal["nominal", "interval"]


def triples(table: np.ndarray[Any, Any]) -> tuple[list[int], list[int], list[float]]:
    """Turn a table raters x units with NaN for a gap into one row per rating."""
    rater, unit = np.nonzero(~np.isnan(table))
    return unit.tolist(), rater.tolist(), table[rater, unit].tolist()


tables = st.tuples(st.integers(2, 4), st.integers(1, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([1.0, 2.0, 3.0, np.nan]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def outcome(rows: list[tuple[Any, ...]], *, metric: Metric) -> KrippendorffAlpha | str:
    """Give α, or why there is none."""
    unit, rater, value = zip(*rows, strict=True) if rows else ((), (), ())
    try:
        return krippendorff_alpha(unit, rater, value, metric=metric)
    except NotScorable as reason:
        return str(reason)


@pytest.mark.parametrize(("metric", "expected"), [("nominal", 0.691), ("interval", 0.811)])
def test_published_example_with_missing_data(metric: Metric, expected: float) -> None:
    """The values Krippendorff prints for his table of three observers and fifteen units."""
    gap = np.nan
    table = np.array(
        [
            [gap, gap, gap, gap, gap, 3, 4, 1, 2, 1, 1, 3, 3, gap, 3],
            [1, gap, 2, 1, 3, 3, 4, 3, gap, gap, gap, gap, gap, gap, gap],
            [gap, gap, 2, 1, 3, 4, 4, gap, 2, 1, 1, 3, 3, gap, 4],
        ]
    )
    alpha = krippendorff_alpha(*triples(table), metric=metric)
    assert round(alpha.value, 3) == expected
    assert (alpha.values, alpha.units) == (26, 12)


@pytest.mark.parametrize("metric", ["nominal", "interval"])
@law
@given(table=tables)
def test_alpha_equals_the_reference_package(metric: Metric, table: list[list[float]]) -> None:
    """A second implementation, by coincidence matrices; where it is undefined, so is ours."""
    ratings = np.array(table)
    paired = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    kinds = np.unique(paired[~np.isnan(paired)])
    if len(kinds) < 2:
        with pytest.raises(NotScorable):
            krippendorff_alpha(*triples(ratings), metric=metric)
        return
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement=metric)
    result = krippendorff_alpha(*triples(ratings), metric=metric)
    assert result.value == pytest.approx(expected, abs=1e-12)


@law
@given(table=tables, dice=st.randoms())
def test_rows_have_no_order(table: list[list[float]], dice: Any) -> None:
    """The same ratings in another file order give the same bits."""
    rows = list(zip(*triples(np.array(table)), strict=True))
    shuffled = rows.copy()
    dice.shuffle(shuffled)
    metrics: tuple[Metric, ...] = ("nominal", "interval")
    for metric in metrics:
        assert outcome(rows, metric=metric) == outcome(shuffled, metric=metric)


def test_names_will_do() -> None:
    """Units, raters and nominal values are numbers or text, as records have them."""
    alpha = krippendorff_alpha(["u", "u", "v", "v"], ["x", "y", "x", "y"], ["a", "a", "b", "b"])
    assert alpha.value == 1.0


def test_what_cannot_be_compared_is_rejected() -> None:
    """One rating, equal ratings, two by one rater, or ragged columns: each has its message."""
    with pytest.raises(NotScorable, match="two ratings"):
        krippendorff_alpha([1, 2], [1, 1], [5, 5])
    with pytest.raises(NotScorable, match="two ratings"):
        krippendorff_alpha([], [], [])
    with pytest.raises(NotScorable, match="all ratings are equal"):
        krippendorff_alpha([1, 1], [1, 2], [5, 5], metric="interval")
    with pytest.raises(ValueError, match="twice"):
        krippendorff_alpha([1, 1], [1, 1], [5, 6])
    with pytest.raises(ValueError, match="one unit, rater and value"):
        krippendorff_alpha([1, 1], [1], [5, 6])
    with pytest.raises(ValueError, match="finite"):
        krippendorff_alpha([1, 1], [1, 2], [5, np.inf], metric="interval")
