"""Measure judge quality: κ against the consensus, accuracy against the estimated truth."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.facts import RATED, Codes, Facts, Numbers
from agon.disciplines.arena.formulas import TIE
from agon.disciplines.arena.history import Results
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.agreement.cohen_kappa import cohen_kappas
from agon.kernel.agreement.dawid_skene import dawid_skene, worker_accuracy
from agon.kernel.rounding import publish

_PLACES = 4  # decimals to which the iterations converge


@dataclass(frozen=True, eq=False)
class Quality:
    """The judges board's quality columns; judges without a number are left out.

    Attributes:
        kappa: Cohen's κ of a judge's votes with the consensus, by judge (its own vote is in it).
        accuracy, low, high: Dawid–Skene accuracy, 0 … 1, and its interval, by judge.
    """

    kappa: Mapping[int, float]
    accuracy: Mapping[int, float]
    low: Mapping[int, float]
    high: Mapping[int, float]

    def columns(self, judges: int) -> dict[str, pa.Array]:
        """Return the board's columns, one row per judge, empty where there is no number."""
        columns = {
            "kappa": self.kappa,
            "accuracy": self.accuracy,
            "accuracy_low": self.low,
            "accuracy_high": self.high,
        }
        return {
            name: pa.array([values.get(judge) for judge in range(judges)], pa.float64())
            for name, values in columns.items()
        }


def kappas_of(facts: Facts, results: Results) -> dict[int, float]:
    """Return each judge's κ with the consensus on rated matches.

    A judge without a vote on them, or with all votes on one side, is left out: chance alone
    agrees fully then, so κ is not defined.

    Source: arena, Integrity findings.
    """
    judge, match, side = _votes_of_rated_matches(facts)
    values = cohen_kappas(judge, side, results.panel[match], count=len(facts.judges))
    defined = np.flatnonzero(~np.isnan(values))
    return dict(zip(defined.tolist(), publish(values[defined]).tolist(), strict=True))


def quality_of(facts: Facts, results: Results, rules: ArenaRules) -> Quality:
    """Measure every judge on its votes in rated matches.

    Source: arena, Integrity findings.
    """
    judge, match, side = _votes_of_rated_matches(facts)
    kappas = kappas_of(facts, results)
    if not len(judge):
        return Quality(kappas, {}, {}, {})
    judges, worker = _distinct(judge)
    _, task = _distinct(match)
    classes = TIE + 1 if (side == TIE).any() else TIE
    fit = dawid_skene(task, worker, side, classes=classes)
    accuracy = worker_accuracy(fit, confidence=rules.confidence)
    value, low, high = (
        dict(zip(judges.tolist(), publish(numbers, places=_PLACES).tolist(), strict=True))
        for numbers in (accuracy.value, accuracy.low, accuracy.high)
    )
    return Quality(kappas, value, low, high)


def _distinct(numbers: Numbers) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the distinct numbers (from 0 up) in order, and the index of each among them."""
    occurs = np.bincount(numbers) > 0
    index = np.cumsum(occurs, dtype=np.intp) - 1
    return np.flatnonzero(occurs), index[numbers]


def _votes_of_rated_matches(facts: Facts) -> tuple[Numbers, Numbers, Codes]:
    """Return judge, match and side of the votes in rated matches."""
    votes = facts.votes
    rated = facts.matches.kind[votes.match] == RATED
    return votes.judge[rated], votes.match[rated], votes.side[rated]
