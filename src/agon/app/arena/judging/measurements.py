"""Measure a model judge: how often the order decides, and how often it is wrong.

All measurements are shares with Wilson's interval. Their counts are kept per judge and grow with
each vote; nothing is sampled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agon.app.arena.judging.port import ModelVote
from agon.entities.judging import JudgeCount
from agon.kernel.statistics import Interval, wilson

MEASURES: Final = {
    "flip": "votes in which the other order gave the other choice",
    "first-shown": "calls that chose the answer shown first; without bias one half",
    "audit": "votes that agree with the audit of their match",
    "null": "comparisons won by a constant text that answers nothing; best is zero",
}
"""What is counted for every judge, by name."""

NULL_ANSWER: Final = "It depends on many things."
"""A text that answers no prompt; a judge that prefers it to a real answer does not read."""


@dataclass(frozen=True, kw_only=True)
class JudgeMeasurement:
    """A share of a judge with its interval.

    Attributes:
        judge: the judge.
        measure: one of :data:`MEASURES`.
        share: successes divided by trials; None without trials.
        interval: where the true share lies; 0 … 1 without trials.
        trials: number of trials.
    """

    judge: str
    measure: str
    share: float | None
    interval: Interval
    trials: int


def counts_of_vote(vote: ModelVote, *, judge: str) -> list[JudgeCount]:
    """Return the increments of a judge's counters for one vote.

    Example:
        >>> vote = ModelVote(choices=("a", "b"), exchanges=(), tokens=0)  # the first, both times
        >>> [(count.measure, count.successes, count.trials)
        ...  for count in counts_of_vote(vote, judge="m")]
        [('flip', 1, 1), ('first-shown', 2, 2)]
    """
    first = (vote.choices[0] == "a") + (vote.choices[1] == "b")
    chosen = sum(choice != "tie" for choice in vote.choices)
    return [
        JudgeCount(judge=judge, measure="flip", successes=int(vote.is_conflict), trials=1),
        JudgeCount(judge=judge, measure="first-shown", successes=first, trials=chosen),
    ]


def measure(counts: Iterable[JudgeCount], *, confidence: float) -> list[JudgeMeasurement]:
    """Return the measurements of counts: each share with Wilson's interval.

    Args:
        counts: counts of any judges.
        confidence: the probability that an interval covers the true share.

    Example:
        >>> [found] = measure([JudgeCount(judge="m", measure="flip", successes=8, trials=10)],
        ...                   confidence=0.95)
        >>> found.share, round(found.interval.low, 4), round(found.interval.high, 4)
        (0.8, 0.4902, 0.9433)
    """
    return [
        JudgeMeasurement(
            judge=count.judge,
            measure=count.measure,
            share=count.successes / count.trials if count.trials else None,
            interval=wilson(count.successes, trials=count.trials, confidence=confidence),
            trials=count.trials,
        )
        for count in counts
    ]
