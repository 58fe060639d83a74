"""Combine what validators report into one score per submission, epoch by epoch.

:class:`RunningConsensus` is the one algorithm: it passes through the epochs once, computes again
only what changed, and provides all intermediate numbers of the epoch it has reached.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from agon.disciplines.challenge.eligibility import Eligibility, may_report
from agon.disciplines.challenge.facts import ALWAYS, NEVER, Evaluations, Facts, Seats, Stakes
from agon.disciplines.challenge.formulas import reaches, stake_fraction, stake_weighted_mean
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.robust import grouped_modified_z, grouped_outliers
from agon.kernel.weighted_median import (
    supported_levels,
    weighted_modified_z,
    weighted_outliers,
)


class Status(IntEnum):
    """Whether a submission has a score, else the first requirement it fails."""

    SCORED = 0
    DUPLICATE = 1
    NOT_EVALUATED = 2
    NO_QUORUM = 3
    TOO_LITTLE_STAKE = 4
    UNREGISTERED = 5


@dataclass(frozen=True)
class Reports:
    """The validators' reports up to an epoch: a row per submission, a column per validator.

    Attributes:
        epoch: the epoch.
        values: the latest score, 0 … 1; 0 where there is none.
        counted: whether it counts: still valid, its validator registered.
        since: the epoch of that evaluation.
        stakes: one per validator; 0 where it is not registered.
        registered: one per validator, whether it has a stake (even of 0) at this epoch.
    """

    epoch: int
    values: FloatArray
    counted: BoolArray
    since: IntArray
    stakes: FloatArray
    registered: BoolArray


@dataclass(frozen=True)
class Consensus:
    """The consensus at an epoch; one entry per submission, or a row with one per validator.

    Attributes:
        reports: what the validators had reported.
        flagged: outliers (submissions × validators).
        included: evaluations included in the mean (submissions × validators).
        stake_fractions: share of all stake of the evaluations included.
        scores: stake-weighted means; 0 where there is none.
        levels: the score that enough of the stake behind a submission gives by itself.
        status: :class:`Status`.
        uids: the uid that each submission scores for; -1 where its hotkey holds none.
        first_evaluated: the first epoch in which an evaluation of each submission counted.
    """

    reports: Reports
    flagged: BoolArray
    included: BoolArray
    stake_fractions: FloatArray
    scores: FloatArray
    levels: FloatArray
    status: IntArray
    uids: IntArray
    first_evaluated: IntArray

    @property
    def scored(self) -> BoolArray:
        """Return which submissions have a score."""
        return self.status == Status.SCORED


@dataclass(frozen=True)
class EpochScores:
    """The scores of one epoch, and the evaluations that changed in it.

    Attributes:
        epoch: the epoch.
        scores: one per submission; 0 where it has none.
        scored: one per submission, whether it has a score.
        levels, uids, first_evaluated: one per submission, as in :class:`Consensus`.
        rows: the submissions whose evaluations changed; for each of these a row of
            ``values``, ``counted`` and ``flagged``, as in :class:`Reports` and :class:`Consensus`.
    """

    epoch: int
    scores: FloatArray
    scored: BoolArray
    levels: FloatArray
    uids: IntArray
    first_evaluated: IntArray
    rows: IntArray
    values: FloatArray
    counted: BoolArray
    flagged: BoolArray


class RunningConsensus:
    """The consensus over epochs: advance to an epoch, then read its scores and their inputs.

    An epoch without changes has the scores of the previous one and is skipped. Cost:
    the evaluations, plus one outlier test for each submission evaluated in an epoch.

    Source: challenge, steps 1 to 5.
    """

    def __init__(self, facts: Facts, eligibility: Eligibility) -> None:
        submissions, validators = len(facts.submissions), len(facts.validators)
        shape = submissions, validators
        self._facts, self._eligibility = facts, eligibility
        self._epoch = ALWAYS
        self._values, self._since = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self._present, self._flagged, self._included = (
            np.zeros(shape, dtype=bool) for _ in range(3)
        )
        self._stakes, self._registered = np.zeros(validators), np.zeros(validators, dtype=bool)
        self._allowed = np.zeros((len(eligibility.outlier_rules), validators), dtype=bool)
        self._means, self._fractions = np.zeros(submissions), np.zeros(submissions)
        self._levels = np.full(submissions, math.inf)
        self._counts = np.zeros(submissions, dtype=np.int64)
        self._firsts = np.full(submissions, NEVER)
        self._seats = np.full(len(facts.submissions.hotkey_names), -1, dtype=np.int64)

    def advance(self, *, until: int) -> Iterator[EpochScores]:
        """Yield the scores of each epoch that changes anything, oldest first, and of ``until``."""
        for epoch in _steps(self._facts, self._eligibility, until):
            yield self._advance_to(epoch)

    def snapshot(self) -> Consensus:
        """Return every number on the way to the scores of the epoch reached."""
        reports = Reports(
            self._epoch,
            self._values.copy(),
            self._evaluations_that_count(np.arange(len(self._present))),
            self._since.copy(),
            self._stakes.copy(),
            self._registered.copy(),
        )
        status = self._status()
        return Consensus(
            reports,
            self._flagged.copy(),
            self._included.copy(),
            self._fractions.copy(),
            self._scores(status),
            self._levels.copy(),
            status,
            self._uids(),
            self._firsts.copy(),
        )

    def _advance_to(self, epoch: int) -> EpochScores:
        self._epoch = epoch
        self._seat(epoch)
        changed = self._evaluate(epoch)
        has_new_stakes = self._register(epoch, changed)
        rows = np.flatnonzero(changed)
        again = np.arange(len(changed)) if has_new_stakes else rows
        self._test(again if self._eligibility.has_weighted_outliers else rows)
        self._average(again)
        status = self._status()
        return EpochScores(
            epoch,
            self._scores(status),
            status == Status.SCORED,
            self._levels.copy(),
            self._uids(),
            self._firsts.copy(),
            rows,
            self._values[rows],
            self._evaluations_that_count(rows),
            self._flagged[rows],
        )

    def _evaluations_that_count(self, rows: IntArray) -> BoolArray:
        """Return which evaluations of submissions count: there, and by a validator who may."""
        counted: BoolArray = self._present[rows] & self._allowed[self._eligibility.groups[rows]]
        return counted

    def _test(self, rows: IntArray) -> None:
        """Find the outliers of submissions."""
        counted = self._evaluations_that_count(rows)
        flagged = _outliers(self._values[rows], counted, self._stakes, self._eligibility, rows)
        self._flagged[rows] = flagged
        self._included[rows] = counted & ~(flagged & self._eligibility.exclude[rows, None])
        self._counts[rows] = counted.sum(axis=1)
        evaluated = rows[self._counts[rows] > 0]
        self._firsts[evaluated] = np.minimum(self._firsts[evaluated], self._epoch)

    def _average(self, rows: IntArray) -> None:
        """Compute the means of submissions, the stake behind them, and what enough of it gives."""
        values, included = self._values[rows], self._included[rows]
        reported = np.where(
            self._eligibility.over_reported[rows, None],
            self._evaluations_that_count(rows),
            included,
        )
        self._means[rows], self._fractions[rows] = _means(values, included, reported, self._stakes)
        share = self._eligibility.improvement_stakes[rows]
        index = np.flatnonzero(share)
        self._levels[rows[index]] = supported_levels(
            values[index], included[index], self._stakes, share=share[index]
        )

    def _evaluate(self, epoch: int) -> BoolArray:
        """Store the evaluations of an epoch, drop expired ones; return which submissions change."""
        evaluations, windows = self._facts.evaluations, self._eligibility.windows
        new = _rows_of(evaluations, epoch)
        changed = np.zeros(len(windows), dtype=bool)
        evaluated = evaluations.submissions[new]
        cells = evaluated.astype(np.int64) * self._values.shape[1] + evaluations.validators[new]
        self._values.ravel()[cells] = evaluations.scores[new]
        self._present.ravel()[cells] = True
        self._since.ravel()[cells] = epoch
        changed[evaluated] = True
        if windows.any():
            expired = self._present & (windows > 0)[:, None]
            expired &= epoch - self._since >= windows[:, None]
            self._present &= ~expired
            changed |= expired.any(axis=1)
        return changed

    def _register(self, epoch: int, changed: BoolArray) -> bool:
        """Store the stakes of an epoch; return whether there were any.

        Submissions that gain or lose a validator who may report are marked in ``changed``.
        """
        stakes = self._facts.stakes
        new = _rows_of(stakes, epoch)
        validators = stakes.validators[new]
        if not len(validators):
            return False
        self._stakes[validators] = stakes.stakes[new]
        self._registered[validators] = True
        for group, rules in enumerate(self._eligibility.outlier_rules):
            allowed = may_report(self._stakes, self._registered, rules)
            flipped = np.flatnonzero(allowed != self._allowed[group])
            own = self._eligibility.groups == group
            changed |= own & self._present[:, flipped].any(axis=1)
            self._allowed[group] = allowed
        return True

    def _seat(self, epoch: int) -> None:
        """Store the seats of an epoch."""
        new = _rows_of(self._facts.seats, epoch)
        for hotkey, uid in zip(
            self._facts.seats.hotkeys[new].tolist(), self._facts.seats.uids[new].tolist(),
            strict=True,
        ):  # fmt: skip
            self._seats[hotkey] = uid

    def _uids(self) -> IntArray:
        """Return the uid that each submission scores for; -1: its hotkey holds none."""
        submissions = self._facts.submissions
        if not len(self._seats):
            return submissions.miners
        held = self._seats[np.maximum(submissions.hotkeys, 0)]
        return np.where(submissions.hotkeys < 0, submissions.miners, held)

    def _status(self) -> IntArray:
        """Return each submission's status; the first requirement it fails decides."""
        required = self._eligibility
        enough = reaches(self._fractions, required.min_stake_fractions) & (self._fractions > 0)
        status = np.where(enough, Status.SCORED, Status.TOO_LITTLE_STAKE)
        status = np.where(self._counts < required.min_validators, Status.NO_QUORUM, status)
        status = np.where(self._counts == 0, Status.NOT_EVALUATED, status)
        if self._eligibility.needs_seat:
            status = np.where(self._uids() < 0, Status.UNREGISTERED, status)
        return np.where(required.is_original, status, Status.DUPLICATE).astype(np.int64)

    def _scores(self, status: IntArray) -> FloatArray:
        return np.where(status == Status.SCORED, self._means, 0.0)


def z_scores(reports: Reports, eligibility: Eligibility) -> FloatArray:
    """Return the modified z-score of each counted value; 0 where there is none.

    Returns:
        Submissions × validators.

    Source: challenge, step 3.
    """
    z = np.zeros_like(reports.values)
    sizes = reports.counted.sum(axis=1)
    for group, rules in enumerate(eligibility.outlier_rules):
        tested = (eligibility.groups == group) & (sizes > 0)
        cells = reports.counted & tested[:, None]
        if rules.outlier_weights == "stake":
            z[tested] = weighted_modified_z(
                reports.values[tested],
                reports.counted[tested],
                reports.stakes,
                mad_when_zero=rules.mad_when_zero,
            )
            continue
        offsets = np.concatenate([[0], np.cumsum(sizes[tested])])
        z[cells] = grouped_modified_z(
            reports.values[cells], offsets, mad_when_zero=rules.mad_when_zero
        )
    return z


def _steps(facts: Facts, eligibility: Eligibility, until: int) -> list[int]:
    """Return the epochs in which evaluations begin or expire or stakes change, and ``until``."""
    steps = [facts.epochs, np.array([ALWAYS, until])]
    steps += [facts.epochs + window for window in np.unique(eligibility.windows) if window > 0]
    epochs = np.unique(np.concatenate(steps))
    return [int(epoch) for epoch in epochs[epochs <= until]]


def _rows_of(rows: Evaluations | Stakes | Seats, epoch: int) -> slice:
    low, high = np.searchsorted(rows.epochs, [epoch, epoch + 1])
    return slice(int(low), int(high))


def _outliers(
    values: FloatArray,
    counted: BoolArray,
    stakes: FloatArray,
    eligibility: Eligibility,
    rows: IntArray,
) -> BoolArray:
    """Return the outliers among the counted values of each row; ``rows`` are submissions."""
    flagged = np.zeros_like(counted)
    sizes = counted.sum(axis=1)
    for group, rules in enumerate(eligibility.outlier_rules):
        # Rows too small for outliers, which include the empty ones, are left out.
        tested = (eligibility.groups[rows] == group) & (sizes >= rules.outlier_min_values)
        if rules.outlier_weights == "stake":
            flagged[tested] = weighted_outliers(
                values[tested],
                counted[tested],
                stakes,
                threshold=rules.outlier_threshold,
                mad_when_zero=rules.mad_when_zero,
            )
            continue
        cells = counted & tested[:, None]
        flagged[cells] = grouped_outliers(
            values[cells],
            np.concatenate([[0], np.cumsum(sizes[tested])]),
            threshold=rules.outlier_threshold,
            min_values=rules.outlier_min_values,
            mad_when_zero=rules.mad_when_zero,
        )
    return flagged


def _means(
    values: FloatArray, included: BoolArray, reported: BoolArray, stakes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the included values of each row, and their share of all stake.

    The mean is over the stake of ``reported``, which are the included or more.
    """
    weights = included * stakes
    held = weights.sum(axis=1)
    means, fractions = np.zeros(len(held)), np.zeros(len(held))
    backed = held > 0
    if backed.any():
        means[backed] = stake_weighted_mean(values[backed], weights[backed])
        more = backed & (reported != included).any(axis=1)
        means[more] *= held[more] / (reported[more] * stakes).sum(axis=1)
        total = math.fsum(stakes.tolist())
        fractions[backed] = stake_fraction(remaining=held[backed], total=total)
    return means, fractions
