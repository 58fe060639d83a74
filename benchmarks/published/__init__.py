"""Repeat published results about attacks, next to the publications' own figures."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.published import (
    anomalous_users,
    best_of_clones,
    campaign_costs,
    consensus_guarantees,
    few_votes,
    ladder,
    vote_rigging,
)
from benchmarks.published.figures import Experiment, Figure, Sources

from agon.kernel.progress import count_steps

EXPERIMENTS: Final = tuple(
    Experiment(name, module.SOURCE, module.figures)
    for name, module in (
        ("consensus guarantees", consensus_guarantees),
        ("few votes", few_votes),
        ("vote rigging", vote_rigging),
        ("campaign costs", campaign_costs),
        ("best of clones", best_of_clones),
        ("ladder", ladder),
        ("anomalous users", anomalous_users),
    )
)
"""The published results, in the order in which they are repeated."""


@dataclass(frozen=True)
class Row:
    """A published figure next to ours.

    Attributes:
        source: the publication.
        figure: both figures.
        seconds: how long the computation of all figures of the source up to this one took.
    """

    source: str
    figure: Figure
    seconds: float


def reproduce(sources: Sources, *, clock: Callable[[], float]) -> Iterator[Row]:
    """Yield every published figure next to ours.

    Args:
        sources: records of real contests, by name.
        clock: returns the time in seconds.
    """
    for experiment in count_steps(
        EXPERIMENTS, label="repeating published results", total=len(EXPERIMENTS)
    ):
        begin = clock()
        for figure in experiment.figures(sources):
            yield Row(experiment.source, figure, clock() - begin)
