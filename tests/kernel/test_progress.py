"""Computations state their shares to an observer, and to none without one."""

from typing import Any

import numpy as np
import pytest

from agon.kernel.progress import count_steps, is_observed, observe, step
from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.intervals import Resampling, bootstrap_intervals
from agon.kernel.ratings.pair_counts import count_pairs


def test_nothing_is_stated_without_an_observer() -> None:
    """Scoring in a service pays nothing."""
    with step("reading", lambda: 1 / 0):
        assert not is_observed()
    assert list(count_steps(range(3), label="resampling", total=3)) == [0, 1, 2]


def test_steps_are_nested_and_end_with_their_blocks() -> None:
    """The innermost is the last, also after an error."""
    with observe() as steps:
        with step("reading", lambda: 0.25):
            for _ in count_steps(range(2), label="rows", total=2):
                assert [item.label for item in steps] == ["reading", "rows"]
            assert [item.label for item in steps] == ["reading"]
        with pytest.raises(KeyboardInterrupt), step("scoring", lambda: None):
            raise KeyboardInterrupt
        assert steps == []
    assert not is_observed()


def test_refits_state_how_many_are_done() -> None:
    """The share grows from refit to refit; the result does not depend on it."""
    counts = count_pairs([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 0], players=2)
    fit = bradley_terry(counts, regularization=0.1)

    def low_ends() -> Any:
        resampling = Resampling(refits=8, seed=1, level=0.9)
        center = np.array([0.5, 0.5])
        return bootstrap_intervals(counts, fit, resampling=resampling, center=center).low

    alone = low_ends()
    with observe() as steps:
        for done in count_steps(range(4), label="resampling", total=4):
            assert steps[-1].share() == done / 4
        assert np.array_equal(low_ends(), alone)
