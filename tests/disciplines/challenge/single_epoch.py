"""Compute the consensus of one epoch from all its evaluations, with loops over the submissions.

The scoring itself carries the consensus from epoch to epoch; this begins again for each.
"""

import math
from dataclasses import dataclass

import numpy as np

from agon.disciplines.challenge.consensus import Status
from agon.disciplines.challenge.eligibility import Eligibility
from agon.disciplines.challenge.facts import Facts
from agon.disciplines.challenge.formulas import reaches, stake_fraction, stake_weighted_mean
from agon.disciplines.challenge.rules import ChallengeRules
from agon.kernel.robust import outliers
from agon.kernel.weighted_median import weighted_modified_z


@dataclass
class Submission:
    """The consensus on one submission; lists have one entry per validator."""

    values: list[float]
    since: list[int]
    counted: list[bool]
    flagged: list[bool]
    included: list[bool]
    stake_fraction: float
    score: float
    status: Status


def stakes_at(facts: Facts, epoch: int) -> dict[int, float]:
    """Return the latest stake of each registered validator, by its number."""
    rows = zip(facts.stakes.epochs, facts.stakes.validators, facts.stakes.stakes, strict=True)
    return {int(validator): float(stake) for since, validator, stake in rows if since <= epoch}


def consensus_at(facts: Facts, eligibility: Eligibility, epoch: int) -> list[Submission]:
    """Return the consensus on each submission at an epoch.

    Source: challenge, steps 1 to 5.
    """
    given = facts.evaluations
    latest: dict[tuple[int, int], tuple[int, float]] = {}
    for since, submission, validator, score in zip(
        given.epochs, given.submissions, given.validators, given.scores, strict=True
    ):
        if since <= epoch:
            latest[int(submission), int(validator)] = int(since), float(score)
    stakes = stakes_at(facts, epoch)
    return [
        _submission(facts, eligibility, epoch, stakes, latest, number)
        for number in range(len(facts.submissions))
    ]


def _allowed(stakes: dict[int, float], rules: ChallengeRules) -> set[int]:
    """Return the validators whose evaluations count."""
    total = math.fsum(stakes.values())
    return {
        one
        for one, stake in stakes.items()
        if (stake > 0 or rules.zero_stake_counts)
        and (
            rules.min_stake_of == "submission"
            or not total
            or reaches(stake / total, rules.min_stake_fraction)
        )
    }


def _submission(
    facts: Facts,
    eligibility: Eligibility,
    epoch: int,
    stakes: dict[int, float],
    latest: dict[tuple[int, int], tuple[int, float]],
    number: int,
) -> Submission:
    validators = range(len(facts.validators))
    window = int(eligibility.windows[number])
    rules = eligibility.outlier_rules[int(eligibility.groups[number])]
    rows = [latest.get((number, one), (0, 0.0)) for one in validators]
    since, values = [row[0] for row in rows], [row[1] for row in rows]
    allowed = _allowed(stakes, rules)
    counted = [
        (number, one) in latest and one in allowed and (not window or epoch - since[one] < window)
        for one in validators
    ]
    counting = [one for one in validators if counted[one]]
    if rules.outlier_weights == "stake":
        z = weighted_modified_z(
            np.array([values]),
            np.array([counted]),
            np.array([stakes.get(index, 0.0) for index in validators]),
            mad_when_zero=rules.mad_when_zero,
        )[0, counting]
        enough = len(counting) >= rules.outlier_min_values
        flags = enough & (np.abs(z) > rules.outlier_threshold + 1e-9)
    else:
        flags = outliers(
            [values[index] for index in counting],
            threshold=rules.outlier_threshold,
            min_values=rules.outlier_min_values,
            mad_when_zero=rules.mad_when_zero,
        )
    flagged = [False] * len(validators)
    for index, flag in zip(counting, flags.tolist(), strict=True):
        flagged[index] = flag
    exclude = bool(eligibility.exclude[number])
    included = [counted[index] and not (flagged[index] and exclude) for index in validators]
    weights = np.array([stakes.get(index, 0.0) * included[index] for index in validators])
    mean = fraction = 0.0
    if weights.any():
        mean = float(stake_weighted_mean(values, weights))
        reported = np.array([stakes.get(index, 0.0) * counted[index] for index in validators])
        if eligibility.over_reported[number] and counted != included:
            mean *= weights.sum() / reported.sum()
        total = math.fsum(stakes.values())
        fraction = float(stake_fraction(remaining=weights.sum(), total=total))
    if eligibility.originals[number] != number:
        status = Status.DUPLICATE
    elif not counting:
        status = Status.NOT_EVALUATED
    elif len(counting) < eligibility.min_validators[number]:
        status = Status.NO_QUORUM
    elif fraction > 0 and reaches(fraction, float(eligibility.min_stake_fractions[number])):
        status = Status.SCORED
    else:
        status = Status.TOO_LITTLE_STAKE
    score = mean if status == Status.SCORED else 0.0
    return Submission(values, since, counted, flagged, included, fraction, score, status)
