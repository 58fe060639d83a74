"""Tests of the standing measurements of model judges."""

import pytest

from agon.app.arena.judging.measurements import MEASURES, counts_of_vote, measure
from agon.app.arena.judging.port import ModelVote, Side
from agon.entities.judging import JudgeCount


@pytest.mark.parametrize(
    ("choices", "flips", "first"),
    [(("a", "a"), 0, 1), (("b", "b"), 0, 1), (("a", "b"), 1, 2), (("b", "a"), 1, 0)],
)
def test_a_vote_counts_flips_and_first_shown(
    choices: tuple[Side, Side], flips: int, first: int
) -> None:
    """A judge by position flips always and chooses the first always; an honest one half."""
    counts = counts_of_vote(ModelVote(choices=choices, exchanges=(), tokens=0), judge="m")
    assert {count.measure for count in counts} <= set(MEASURES)
    assert [(count.successes, count.trials) for count in counts] == [(flips, 1), (first, 2)]


def test_without_trials_there_is_no_share() -> None:
    """An unknown share is not zero, and its interval says that nothing is known."""
    [empty] = measure(
        [JudgeCount(judge="m", measure="null", successes=0, trials=0)], confidence=0.95
    )
    assert empty.share is None
    assert (empty.interval.low, empty.interval.high) == (0.0, 1.0)
