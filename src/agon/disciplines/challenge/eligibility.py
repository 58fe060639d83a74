"""Determine which evaluations and submissions count, by the rules of each competition."""

import math
from dataclasses import dataclass

import numpy as np

from agon.disciplines.challenge.facts import Submissions
from agon.disciplines.challenge.formulas import reaches
from agon.disciplines.challenge.rules import ChallengeRules
from agon.kernel.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Eligibility:
    """Which evaluations and submissions count, by the rules of each submission's competition.

    Attributes:
        windows: one per submission, epochs an evaluation stays valid; 0: without limit.
        min_validators: one per submission.
        min_stake_fractions: one per submission, parts of 1.
        exclude: one per submission, whether outliers are left out of the mean.
        originals: one per submission, the earliest submission of the same content (often itself).
        improvement_stakes: one per submission, the part of the stake behind it that must improve.
        over_reported: one per submission, whether its mean is over the stake of all that reported.
        needs_seat: whether a submission whose hotkey holds no uid has no score.
        groups: one per submission, the index in ``outlier_rules`` of the rules for its outliers.
        outlier_rules: the different sets of rules for outliers, and for who may report.
    """

    windows: IntArray
    min_validators: IntArray
    min_stake_fractions: FloatArray
    exclude: BoolArray
    originals: IntArray
    improvement_stakes: FloatArray
    over_reported: BoolArray
    needs_seat: bool
    groups: IntArray
    outlier_rules: tuple[ChallengeRules, ...]

    @property
    def is_original(self) -> BoolArray:
        """Return which submissions are not copies of earlier ones."""
        return self.originals == np.arange(len(self.originals))

    @property
    def has_weighted_outliers(self) -> bool:
        """Return whether stakes play a part in finding outliers, so that new stakes change them."""
        return any(rules.outlier_weights == "stake" for rules in self.outlier_rules)

    @classmethod
    def of(cls, submissions: Submissions, rules: tuple[ChallengeRules, ...]) -> "Eligibility":
        """Return the requirements of each submission, given the rules of each competition."""
        competitions = submissions.competitions
        keys = [
            (
                own.outlier_threshold,
                own.outlier_min_values,
                own.mad_when_zero,
                own.outlier_weights,
                own.zero_stake_counts,
                own.min_stake_of == "validator" and own.min_stake_fraction,
            )
            for own in rules
        ]
        distinct = dict(zip(keys, rules, strict=True))
        groups = [list(distinct).index(key) for key in keys]
        return cls(
            np.array([own.evaluation_window or 0 for own in rules])[competitions],
            np.array([own.min_validators for own in rules])[competitions],
            np.array([_least_fraction(own) for own in rules])[competitions],
            np.array([own.exclude_outliers for own in rules])[competitions],
            originals(submissions, scope=rules[0].duplicate_content),
            np.array([own.improvement_stake for own in rules])[competitions],
            np.array([own.mean_over == "reported" for own in rules])[competitions],
            rules[0].unregistered == "exclude",
            np.array(groups)[competitions],
            tuple(distinct.values()),
        )


def _least_fraction(rules: ChallengeRules) -> float:
    """Return the share of all stake that a submission's validators need together."""
    return rules.min_stake_fraction if rules.min_stake_of == "submission" else 0.0


def may_report(stakes: FloatArray, registered: BoolArray, rules: ChallengeRules) -> BoolArray:
    """Return the validators whose evaluations count.

    Args:
        stakes: of the epoch, one per validator.
        registered: whether a validator has a stake, even of 0.
        rules: those of a competition.

    Source: challenge, steps 2 and 4; rules ``zero_stake_counts`` and ``min_stake_of``.
    """
    allowed = registered if rules.zero_stake_counts else registered & (stakes > 0)
    total = math.fsum(stakes.tolist())
    if rules.min_stake_of == "validator" and total > 0:
        allowed = allowed & reaches(stakes / total, rules.min_stake_fraction)
    return allowed


def originals(submissions: Submissions, *, scope: str) -> IntArray:
    """Return for each submission the earliest one of the same content, which may be itself.

    Args:
        submissions: the submissions.
        scope: ``everywhere``, ``competition`` or ``allowed`` (each is its own original).

    Source: challenge, step 1.
    """
    own = np.arange(len(submissions))
    if scope == "allowed":
        return own
    competitions = submissions.competitions if scope == "competition" else np.zeros_like(own)
    order = np.lexsort([submissions.turns, competitions, submissions.contents])
    contents, competitions = submissions.contents[order], competitions[order]
    starts = np.ones(len(own), dtype=bool)
    starts[1:] = (contents[1:] != contents[:-1]) | (competitions[1:] != competitions[:-1])
    earliest = np.maximum.accumulate(np.where(starts, np.arange(len(own)), 0))
    first = np.empty_like(own)
    first[order] = order[earliest]
    return np.where(submissions.contents < 0, own, first)
