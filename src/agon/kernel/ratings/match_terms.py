"""Differentiate the log-likelihood of each match by its log-odds and by the tie parameter."""

from dataclasses import dataclass
from math import exp, tanh
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.likelihood import logistic

Vector = npt.NDArray[np.float64]
TieModel = Literal["half", "davidson", "rao-kupper"]

_HALF: Final = 0.5


@dataclass(frozen=True, eq=False)
class MatchTerms:
    """First and second derivatives of each match's log-likelihood, and the expected score.

    Attributes:
        logit, tie: by the log-odds η of side a, and by τ.
        ll, lt, tt: less the second derivatives, by η twice, by both, and by τ twice.
        expected: the score of side a.
    """

    logit: Vector
    tie: Vector | None
    ll: Vector
    lt: Vector | None
    tt: Vector | None
    expected: Vector


def terms_of(logits: Vector, score: Vector, ties: TieModel, tie: float) -> MatchTerms:
    """Return the derivatives of matches with these log-odds and scores of side a.

    Args:
        logits: η of each match.
        score: of side a; with a model of ties 0, 0.5 or 1.
        ties: the model of ties.
        tie: τ; without a model of ties it does not count.

    Example:
        Even players of whom a won: half a point more than expected, and σ(0)² of information.

        >>> made = terms_of(np.zeros(1), np.ones(1), "half", 0.0)
        >>> made.logit.tolist(), made.ll.tolist()
        ([0.5], [0.25])
    """
    if ties == "half":
        wins = logistic(logits)
        return MatchTerms(score - wins, None, wins * (1.0 - wins), None, None, wins)
    is_tie = score == _HALF
    if ties == "davidson":
        half = logits / 2.0
        largest = np.maximum(np.abs(half), tie)
        parts = [np.exp(each - largest) for each in (half, np.full_like(half, tie), -half)]
        total = parts[0] + parts[1] + parts[2]
        won, tied, lost = (each / total for each in parts)
        lead = (won - lost) / 2.0
        return MatchTerms(
            score - _HALF - lead,
            is_tie - tied,
            (won + lost) / 4.0 - lead**2,
            -lead * tied,
            tied * (1.0 - tied),
            won + tied / 2.0,
        )
    upper, lower = logistic(logits + tie), logistic(logits - tie)
    bend_upper, bend_lower = upper * (1.0 - upper), lower * (1.0 - lower)
    won, lost = score > _HALF, score < _HALF
    to_logit = np.where(is_tie, 1.0 - upper - lower, np.where(won, 1.0 - lower, -upper))
    to_tie = np.where(is_tie, 1.0 / tanh(tie) - upper + lower, np.where(won, lower - 1.0, -upper))
    above = np.where(won, 0.0, bend_upper)
    below = np.where(lost, 0.0, bend_lower)
    sharp = 4.0 / (exp(tie) - exp(-tie)) ** 2
    return MatchTerms(
        to_logit,
        to_tie,
        above + below,
        above - below,
        above + below + np.where(is_tie, sharp, 0.0),
        (upper + lower) / 2.0,
    )
