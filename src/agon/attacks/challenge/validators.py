"""What strategies of validators share."""

from collections.abc import Sequence

import numpy as np

from agon.attacks.challenge.season import Season
from agon.disciplines.challenge.simulate import TASKS
from agon.kernel.arrays import FloatArray
from agon.kernel.robust import grouped_outliers

STEPS = 100
"""Number of steps on which a validator tries scores, twice: from 0 to 1, then in the step."""


def join(season: Season, *, identities: int, share: float) -> list[str]:
    """Register validators that hold together a share of all stake, evenly.

    Example: a share of .5 is as much stake as all honest validators have.
    """
    stake = float(season.stakes.sum()) * share / (1 - share)
    return [season.join_as_validator(stake / identities) for _ in range(identities)]


def majority(season: Season) -> int:
    """Return one more than the number of honest validators."""
    return int((season.stakes > 0).sum()) + 1


def agree(season: Season, validators: Sequence[str], *, but: Sequence[int] = ()) -> None:
    """Report what a measurement at the public median would give, of all submissions except some.

    The numbers of two validators differ as those of honest ones do, so that none is a copy.
    """
    estimates = season.estimates
    estimates[list(but)] = np.nan
    public = np.flatnonzero(~np.isnan(estimates))
    for validator in validators:
        passed = season.dice.binomial(TASKS, estimates[public])
        season.report(validator, public, passed / TASKS)


def near(season: Season, score: float) -> float:
    """Return a score a few tasks from another one, so that two validators differ."""
    return float(np.clip(score + season.dice.integers(-3, 4) / TASKS, 0.0, 1.0))


def highest_unflagged(season: Season, submission: int) -> float:
    """Return the highest score that is no outlier among the public reports on a submission."""
    rough = _highest_unflagged(season, submission, np.arange(STEPS + 1) / STEPS)
    finer = rough + np.arange(STEPS + 1) / STEPS**2
    return _highest_unflagged(season, submission, np.minimum(finer, 1.0))


def _highest_unflagged(season: Season, submission: int, scores: FloatArray) -> float:
    public = season.reports[:, submission]
    public = public[~np.isnan(public)]
    groups = np.column_stack([np.tile(public, (len(scores), 1)), scores])
    flagged = grouped_outliers(
        groups.ravel(),
        np.arange(len(scores) + 1) * groups.shape[1],
        threshold=season.rules.outlier_threshold,
        min_values=season.rules.outlier_min_values,
        mad_when_zero=season.rules.mad_when_zero,
    ).reshape(groups.shape)[:, -1]
    return float(scores[~flagged].max())
