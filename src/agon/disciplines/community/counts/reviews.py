"""Compare each reviewer with the other reviewers of the same prompts (scores0001)."""

from dataclasses import dataclass

import numpy as np

from agon.disciplines.community.counts.feedback import Feedback
from agon.disciplines.community.formulas import sum_by_group
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import BoolArray, FloatArray, IntArray

_GRID = 2**31
"""Steps per unit by which rows are put into one order before they are summed."""


@dataclass(frozen=True)
class Correlations:
    """Each user's reviews of prompts with enough reviews, and Pearson's r over them.

    Attributes:
        reviewed: number of such prompts each user rated.
        r: correlation of each user; 0 without variance or without ratings.
    """

    reviewed: IntArray
    r: FloatArray


def correlations(feedback: Feedback, rules: CommunityRules, *, size: int) -> Correlations:
    """Correlate each user's ±1 with the mean ±1 of the other reviewers of the same prompts.

    r = Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² Σ(y − ȳ)²), 0 where x or y does not vary.

    Source: scores0001, reviewer; community page, reviewer board.
    """
    row, own, others = pairs_of(feedback, rules)
    return correlate(feedback.user[row].astype(np.int64), own, others, size=size)


def correlate(user: IntArray, own: FloatArray, others: FloatArray, *, size: int) -> Correlations:
    """Correlate each user's ±1 with the others' means, in one row per review.

    Args:
        user: who reviewed, 0 … size − 1.
        own: the opinion as ±1.
        others: the mean of the other opinions.
        size: number of users.
    """
    reviewed = np.bincount(user, minlength=size)
    # An order independent of the records' order; rows that tie in it have equal numbers.
    key = (user << 33) + (np.rint((others + 1.0) * (_GRID / 2)).astype(np.int64) << 1) + (own > 0)
    order = np.argsort(key)
    user, own, others = user[order], own[order], others[order]
    return Correlations(reviewed, _pearson_by(user, own, others, size=size))


def pairs_of(feedback: Feedback, rules: CommunityRules) -> tuple[IntArray, FloatArray, FloatArray]:
    """Pair each review with the others' mean, on prompts with enough reviews and other reviewers.

    Returns:
        row numbers of the feedback, own opinion as ±1, mean of the other opinions.
    """
    sign = np.where(feedback.positive, 1.0, -1.0)
    reviews = np.bincount(feedback.prompt)
    total = sum_by_group(feedback.prompt, sign, size=len(reviews))
    needed = max(rules.min_prompt_reviews, 2)
    row = np.flatnonzero((reviews >= needed)[feedback.prompt]) if len(reviews) else _NONE
    prompt, own = feedback.prompt[row], sign[row]
    return row, own, (total[prompt] - own) / (reviews[prompt] - 1)


_NONE = np.zeros(0, dtype=np.int64)


def _pearson_by(user: IntArray, x: FloatArray, y: FloatArray, *, size: int) -> FloatArray:
    """Return the correlation of x and y of each user; rows are sorted by user."""
    if not len(user):
        return np.zeros(size)
    count = np.maximum(np.bincount(user, minlength=size), 1)
    dx = x - (sum_by_group(user, x, size=size) / count)[user]
    dy = y - (sum_by_group(user, y, size=size) / count)[user]
    xx, yy = sum_by_group(user, dx * dx, size=size), sum_by_group(user, dy * dy, size=size)
    xy = sum_by_group(user, dx * dy, size=size)
    opens = np.flatnonzero(np.concatenate([[True], user[1:] != user[:-1]]))
    varies = np.zeros(size, dtype=bool)
    varies[user[opens]] = _spread(x, opens) & _spread(y, opens)
    spread = np.sqrt(np.where(varies, xx * yy, 1.0))
    return np.where(varies, np.clip(xy / np.where(spread > 0, spread, 1.0), -1.0, 1.0), 0.0)


def _spread(values: FloatArray, opens: IntArray) -> BoolArray:
    """Return which runs contain different values."""
    return np.maximum.reduceat(values, opens) > np.minimum.reduceat(values, opens)
