"""Fleiss' κ against a published table, its definition, and Krippendorff's α."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.agreement.fleiss_kappa import fleiss_kappa
from agon.kernel.agreement.krippendorff_alpha import krippendorff_alpha
from sizes import size

law = settings(max_examples=size(60), deadline=None)
tables = st.integers(2, 4).flatmap(
    lambda each: st.lists(
        st.lists(st.sampled_from("abc"), min_size=each, max_size=each), min_size=1, max_size=8
    )
)


def columns(table: list[list[str]]) -> tuple[list[int], list[str]]:
    """Return items and labels, one row per rating."""
    rows = [(item, label) for item, labels in enumerate(table) for label in labels]
    return [item for item, _ in rows], [label for _, label in rows]


def test_published_table() -> None:
    """Fourteen raters of ten subjects in five classes: κ = 0.210."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    table = [[str(k) for k, n in enumerate(row) for _ in range(n)] for row in counts]
    kappa = fleiss_kappa(*columns(table))
    assert (round(kappa.observed, 3), round(kappa.expected, 3)) == (0.378, 0.213)
    assert kappa.value == pytest.approx(0.210, abs=5e-4)
    assert (kappa.items, kappa.ratings) == (10, 14)


@law
@given(tables)
def test_kappa_equals_its_definition(table: list[list[str]]) -> None:
    """The share of equal pairs, counted pair by pair, against squared frequencies."""
    labels = [label for row in table for label in row]
    pairs = [pair for row in table for pair in combinations(row, 2)]
    observed = sum(x == y for x, y in pairs) / len(pairs)
    expected = sum((labels.count(k) / len(labels)) ** 2 for k in "abc")
    if len(set(labels)) == 1:
        with pytest.raises(NotScorable, match="all ratings are equal"):
            fleiss_kappa(*columns(table))
        return
    assert fleiss_kappa(*columns(table)).value == pytest.approx(
        (observed - expected) / (1 - expected)
    )


@law
@given(tables)
def test_alpha_is_kappa_corrected_for_few_ratings(table: list[list[str]]) -> None:
    """1 - α = (1 - κ)(1 - 1/N) with N ratings: α counts pairs without replacement."""
    items, labels = columns(table)
    if len(set(labels)) == 1:
        return
    raters = [rater for row in table for rater in range(len(row))]
    alpha = krippendorff_alpha(items, raters, labels).value
    kappa = fleiss_kappa(items, labels).value
    assert 1 - alpha == pytest.approx((1 - kappa) * (1 - 1 / len(labels)))


def test_ratings_without_pairs_and_gaps_are_refused() -> None:
    """A number for them would be about other items than the caller's."""
    with pytest.raises(NotScorable, match="no rating"):
        fleiss_kappa([], [])
    with pytest.raises(NotScorable, match="two ratings"):
        fleiss_kappa([1, 2], ["a", "b"])
    with pytest.raises(ValueError, match=r"1 to 2 ratings.*krippendorff_alpha"):
        fleiss_kappa([1, 1, 2], ["a", "b", "b"])
    with pytest.raises(ValueError, match="one each per rating"):
        fleiss_kappa([1, 1], ["a"])
