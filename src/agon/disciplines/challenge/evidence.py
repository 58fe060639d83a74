"""Compare each evaluation with what the other validators had reported by then."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.disciplines.challenge.consensus import EpochScores, Reports, RunningConsensus
from agon.disciplines.challenge.facts import Evaluations
from agon.disciplines.challenge.weights import NetworkFacts
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.robust import grouped_median

MAX_EVALUATIONS = 5_000_000
"""About how many evaluations are examined, the latest ones; the rest would not fit into memory."""


@dataclass(frozen=True)
class Evidence:
    """Evaluations in the epoch they were made; one entry each.

    Attributes:
        reports: what the validators had reported by the scored epoch.
        epochs, submissions, validators: when, of what, by whom (numbers).
        scores: 0 … 1.
        medians: of all evaluations of that submission that counted then.
        tested: whether there were enough of them to test for outliers.
        flagged: whether it was an outlier.
    """

    reports: Reports
    epochs: IntArray
    submissions: IntArray
    validators: IntArray
    scores: FloatArray
    medians: FloatArray
    tested: BoolArray
    flagged: BoolArray

    def __len__(self) -> int:
        return len(self.epochs)


def gather(network: NetworkFacts) -> Evidence:
    """Return the latest evaluations up to the scored epoch, at most :data:`MAX_EVALUATIONS`.

    Epochs are complete: the first one may exceed the maximum.

    A duplicate's evaluations, and those of validators without a stake then, are left out.
    """
    evaluations = network.facts.evaluations
    until = int(np.searchsorted(evaluations.epochs, network.epoch, side="right"))
    first = evaluations.epochs[max(0, until - MAX_EVALUATIONS)] if until else network.epoch
    consensus = RunningConsensus(network.facts, network.eligibility)
    pieces = [
        _evaluations_of(network, scores)
        for scores in consensus.advance(until=network.epoch)
        if scores.epoch >= first
    ]
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    return Evidence(consensus.snapshot().reports, *columns)


def _evaluations_of(network: NetworkFacts, scores: EpochScores) -> tuple[npt.NDArray[Any], ...]:
    """Return the evaluations of one epoch with the reports they joined, as columns."""
    submissions, validators = _evaluated_pairs(network.facts.evaluations, scores.epoch)
    index = np.searchsorted(scores.rows, submissions)
    included = network.eligibility.is_original[submissions] & scores.counted[index, validators]
    submissions, validators, index = submissions[included], validators[included], index[included]
    sizes = scores.counted.sum(axis=1)
    filled = np.flatnonzero(sizes)
    medians = np.zeros(len(sizes))
    medians[filled] = grouped_median(
        scores.values[scores.counted], np.concatenate([[0], np.cumsum(sizes[filled])])
    )
    groups = network.eligibility.groups[submissions]
    least = np.array([rules.outlier_min_values for rules in network.eligibility.outlier_rules])
    return (
        np.full(len(index), scores.epoch),
        submissions,
        validators,
        scores.values[index, validators],
        medians[index],
        sizes[index] >= least[groups],
        scores.flagged[index, validators],
    )


def _evaluated_pairs(evaluations: Evaluations, epoch: int) -> tuple[IntArray, IntArray]:
    """Return the pairs evaluated in an epoch, once each."""
    low, high = np.searchsorted(evaluations.epochs, [epoch, epoch + 1])
    submissions = evaluations.submissions[low:high].astype(np.int64)
    validators = evaluations.validators[low:high].astype(np.int64)
    width = int(validators.max(initial=0)) + 1
    pairs = np.sort(submissions * width + validators)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    return pairs // width, pairs % width
