"""Tails: how likely chance gives at least so many."""

from fractions import Fraction
from math import comb, exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.kernel.tails import (
    binomial_tail,
    binomial_tails,
    poisson_tail,
)
from sizes import size

law = settings(max_examples=size(60), deadline=None)


@law
@given(st.integers(0, 60), st.integers(-2, 62), st.integers(0, 100))
def test_binomial_tail_equals_exact_fractions(trials: int, at_least: int, percent: int) -> None:
    """Findings quote this number; it is right to twelve digits also where it is tiny."""
    p = Fraction(percent, 100)
    exact = sum(
        comb(trials, k) * p**k * (1 - p) ** (trials - k)
        for k in range(max(0, at_least), trials + 1)
    )
    result = binomial_tail(at_least, trials=trials, chance=percent / 100)
    assert result == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


def test_many_tails_equal_one_at_a_time() -> None:
    """The columns broadcast."""
    k, n = np.array([0, 3, 9, 10]), 9
    expected = [binomial_tail(int(each), trials=n, chance=0.3) for each in k]
    assert binomial_tails(k, trials=n, chances=0.3).tolist() == expected


@pytest.mark.parametrize(("at_least", "mean"), [(0, 2.0), (1, 0.0), (3, 0.5), (10, 2.5)])
def test_poisson_tail_equals_its_sum(at_least: int, mean: float) -> None:
    """Σ e^-m m^k / k! from k on, by hand."""
    exact = sum(exp(-mean) * mean**k / factorial(k) for k in range(at_least, at_least + 60))
    assert poisson_tail(at_least, mean=mean) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("chance", [-0.1, 1.1, float("nan")])
def test_a_chance_lies_between_0_and_1(chance: float) -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(ValueError, match="probabilities"):
        binomial_tail(1, trials=2, chance=chance)
    with pytest.raises(ValueError, match="trials"):
        binomial_tail(1, trials=-2, chance=0.5)
    with pytest.raises(ValueError, match="mean"):
        poisson_tail(1, mean=-0.5)
