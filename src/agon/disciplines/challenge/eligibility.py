"""Determine which evaluations and submissions count, by the rules of each competition."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.disciplines.challenge.facts import Submissions
from agon.disciplines.challenge.rules import ChallengeRules

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


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
        groups: one per submission, the index in ``outlier_rules`` of the rules for its outliers.
        outlier_rules: the different sets of rules for outliers.
    """

    windows: IntArray
    min_validators: IntArray
    min_stake_fractions: FloatArray
    exclude: BoolArray
    originals: IntArray
    improvement_stakes: FloatArray
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
            )
            for own in rules
        ]
        distinct = dict(zip(keys, rules, strict=True))
        groups = [list(distinct).index(key) for key in keys]
        return cls(
            np.array([own.evaluation_window or 0 for own in rules])[competitions],
            np.array([own.min_validators for own in rules])[competitions],
            np.array([own.min_stake_fraction for own in rules])[competitions],
            np.array([own.exclude_outliers for own in rules])[competitions],
            originals(submissions, scope=rules[0].duplicate_content),
            np.array([own.improvement_stake for own in rules])[competitions],
            np.array(groups)[competitions],
            tuple(distinct.values()),
        )


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
