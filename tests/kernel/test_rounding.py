"""Rounding: halves go away from zero, scores lie on a grid, shares add up."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.rounding import half_away, largest_remainder, publish, u16
from sizes import size

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
law = settings(max_examples=size(60), deadline=None)


def by_decimal(x: float, places: int) -> float:
    """Round with the standard library's decimals: the slow way to say the same."""
    number = Decimal(repr(x))
    if abs(number) > 2**60:  # whole, and longer than decimals are by default
        return x
    return float(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)) + 0.0


@pytest.mark.parametrize(
    ("x", "places", "expected"),
    [
        (0.5, 0, 1.0),
        (-0.5, 0, -1.0),
        (1.5, 0, 2.0),
        (2.5, 0, 3.0),
        (0.49999999999999994, 0, 0.0),
        (1.005, 2, 1.01),
        (2.675, 2, 2.68),
        (-0.285, 2, -0.29),
        (0.1234565, 6, 0.123457),
        (2.0**52 + 1, 0, 2.0**52 + 1),
        (2.0**49 + 0.5, 0, 2.0**49 + 1),
        (1e300, 6, 1e300),
    ],
)
def test_a_half_goes_away_from_zero(x: float, places: int, expected: float) -> None:
    """People round 1.005 to 1.01 though its double lies below: the shortest decimal decides."""
    assert half_away(x, places=places) == expected


def test_zero_has_no_sign() -> None:
    """A board that prints -0.0 hashes differently."""
    assert str(half_away(-0.2)) == "0.0"
    assert str(publish(-1e-9)) == "0.0"


@law
@given(st.lists(finite, max_size=20), st.integers(0, 9))
def test_half_away_equals_decimal_arithmetic(xs: list[float], places: int) -> None:
    """The vectorised rounding is clever; decimals are plain. They agree, arrays and scalars."""
    expected = [by_decimal(x, places) for x in xs]
    assert half_away(np.array(xs), places=places).tolist() == expected
    assert [half_away(x, places=places) for x in xs] == expected


@law
@given(st.integers(-(10**9), 10**9), st.integers(1, 7))
def test_every_decimal_half_is_recognised(step: int, places: int) -> None:
    """Halves of the grid are where binary floats betray; none may go towards zero."""
    x = float(Decimal(2 * step + 1).scaleb(-places) / 2)
    away = step + 1 if step >= 0 else step
    assert half_away(x, places=places) == float(Decimal(away).scaleb(-places))
    assert publish(x, places=places) == float(Decimal(away).scaleb(-places))


@law
@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_publishing_twice_changes_nothing(x: float, places: int) -> None:
    """Ranks are taken from published numbers; publishing is a projection."""
    once = publish(x, places=places)
    assert publish(once, places=places) == once
    assert abs(once - x) <= 0.5000001 * 10.0**-places + 1e-15 * abs(x)


def test_scores_that_differ_by_the_order_of_a_sum_are_published_equal() -> None:
    """The same parts added in another order must not give another rank."""
    assert 0.1 + 0.2 + 0.0000005 != 0.3 + 0.0000005
    one = publish(np.array([0.0000005 + 0.1 + 0.2, 0.1 + 0.2 + 0.0000005, 0.3000005]))
    assert set(one.tolist()) == {0.300001}


@pytest.mark.parametrize("places", [-1, 16])
def test_an_unknown_grid_is_rejected(places: int) -> None:
    """A double carries no more than 15 decimals, and hundreds are not a grid of scores."""
    with pytest.raises(ValueError, match="decimals"):
        publish(1.0, places=places)


@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_rejected(x: float) -> None:
    """NaN is no score."""
    with pytest.raises(ValueError, match="finite numbers"):
        publish(x)


def test_u16_rounds_each_weight_on_its_own() -> None:
    """The seed's letter: round(w x 65535), halves away from zero; the spec's burn example."""
    assert u16([0.5, 0.3, 0.2]).tolist() == [32768, 19661, 13107]
    shares = 0.6 * np.array([30000, 20000, 15535]) / 65535
    assert u16([0.4, *shares]).tolist() == [26214, 18000, 12000, 9321]
    assert u16([]).tolist() == []


@pytest.mark.parametrize("weights", [[1.1], [-0.1], [np.nan]])
def test_u16_rejects_weights_that_are_no_shares(weights: list[float]) -> None:
    """65536 does not fit into sixteen bits."""
    with pytest.raises(ValueError, match="normalize"):
        u16(weights)


def test_leftover_units_go_to_the_earlier_among_equals() -> None:
    """A tie needs a rule, and position is the one that can be seen."""
    assert largest_remainder([1, 1, 1], total=10).tolist() == [4, 3, 3]
    assert largest_remainder([0.1, 0.1, 0.1, 0.7], total=5).tolist() == [1, 1, 0, 3]


def plain_largest_remainder(weights: list[int], total: int) -> list[int]:
    """Share with exact fractions."""
    quotas = [Fraction(total * weight, sum(weights)) for weight in weights]
    units = [int(quota) for quota in quotas]
    order = sorted(range(len(quotas)), key=lambda i: (units[i] - quotas[i], i))
    for position in order[: total - sum(units)]:
        units[position] += 1
    return units


@law
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(0, 65535))
def test_largest_remainder_equals_exact_fractions(weights: list[int], total: int) -> None:
    """Floats decide ties as fractions would, and no unit is lost."""
    if not any(weights):
        with pytest.raises(NotScorable):
            largest_remainder(weights, total=total)
        return
    shared = largest_remainder(weights, total=total).tolist()
    assert sum(shared) == total
    assert shared == plain_largest_remainder(weights, total)


@law
@given(st.lists(st.floats(0, 1e308), min_size=1, max_size=60).filter(any))
def test_shares_always_add_up(weights: list[float]) -> None:
    """65535 units are on the table, 65535 leave it, whatever the size of the weights."""
    shared = largest_remainder(weights)
    assert shared.sum() == 65535
    assert (shared >= 0).all()


@pytest.mark.parametrize(("weights", "total"), [([-1.0], 5), ([np.nan], 5), ([1.0], -1)])
def test_impossible_shares_are_rejected(weights: list[float], total: int) -> None:
    """Negative weights and totals are mistakes of the caller."""
    with pytest.raises(ValueError, match=r"negative|total"):
        largest_remainder(weights, total=total)
