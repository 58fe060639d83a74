"""Cohen's κ against its definition and a published value."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.agreement.cohen_kappa import cohen_kappa, cohen_kappas
from sizes import size

law = settings(max_examples=size(60), deadline=None)
pairs = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


def test_published_table() -> None:
    """Two readers of 50 proposals: 20 both yes, 15 both no, 5 and 10 apart give κ = 0.4."""
    first = ["y"] * 20 + ["y"] * 5 + ["n"] * 10 + ["n"] * 15
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    kappa = cohen_kappa(first, second)
    assert (kappa.observed, kappa.expected, kappa.items) == (0.7, 0.5, 50)
    assert kappa.value == pytest.approx(0.4)


@law
@given(pairs)
def test_kappa_equals_its_definition(labels: list[tuple[str, str]]) -> None:
    """(p_o - p_e) / (1 - p_e), counted by hand; symmetric in the raters."""
    first, second = (list(side) for side in zip(*labels, strict=True))
    n = len(labels)
    observed = sum(one == other for one, other in labels) / n
    expected = sum(first.count(k) * second.count(k) for k in "abc") / n**2
    if expected == 1:
        with pytest.raises(NotScorable, match="single label"):
            cohen_kappa(first, second)
        return
    kappa = cohen_kappa(first, second)
    assert kappa.value == pytest.approx((observed - expected) / (1 - expected))
    assert kappa.value == cohen_kappa(second, first).value <= 1


@law
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=40))
def test_many_raters_at_once_have_their_own_kappa(rows: list[tuple[int, int, int]]) -> None:
    """The same bits as one after the other; undefined ones are NaN."""
    raters, first, second = (
        (list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 3
    )
    values = cohen_kappas(raters, first, second, count=5).tolist()
    for rater, value in enumerate(values):
        own = [(one, other) for who, one, other in rows if who == rater]
        try:
            expected = cohen_kappa([one for one, _ in own], [other for _, other in own]).value
        except NotScorable:
            assert math.isnan(value)
        else:
            assert value == expected


def test_no_common_ids_are_reported() -> None:
    """No item, no agreement; and columns belong together."""
    with pytest.raises(NotScorable, match="no item"):
        cohen_kappa([], [])
    with pytest.raises(ValueError, match="shapes"):
        cohen_kappa([1, 2], [1])
