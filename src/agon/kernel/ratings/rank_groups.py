"""Compute rank intervals and groups of indistinguishable players from rating intervals."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankGroups:
    """The best (``rank_low``) and worst (``rank_high``) rank of each player by its interval.

    ``meeting_points`` has one value per group, best first: a point in the intervals of
    exactly the group's members. Groups overlap; each is as large as can be.
    """

    low: Vector
    high: Vector
    rank_low: Numbers
    rank_high: Numbers
    meeting_points: Vector

    def members(self, group: int) -> Numbers:
        """Return the players of a group (0 is the best), in player order."""
        point = self.meeting_points[group]
        return np.flatnonzero((self.low <= point) & (point <= self.high))

    def groups(self) -> list[list[int]]:
        """Return the players of every group, best group first."""
        return [self.members(group).tolist() for group in range(len(self.meeting_points))]


def rank_groups(low: npt.ArrayLike, high: npt.ArrayLike) -> RankGroups:
    """Return ranks of intervals: x is surely ahead of y when x's low end is above y's high end.

    rank_low = 1 + players surely ahead; rank_high = players - those surely behind. Players whose
    intervals share a point are indistinguishable; touching ends share a point.

    Raises:
        ValueError: when an interval has its ends swapped or not a number.

    Source: issue 2, Ratings (rank groups); arena, Elo.

    Example:
        >>> ranks = rank_groups([90, 70, 60, 10], [99, 80, 75, 20])
        >>> ranks.rank_low.tolist(), ranks.rank_high.tolist()
        ([1, 2, 2, 4], [1, 3, 3, 4])
        >>> ranks.groups()
        [[0], [1, 2], [3]]
    """
    lows, highs = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if lows.shape != highs.shape or not (lows <= highs).all():
        raise ValueError("each interval needs a low end at or below its high end")
    by_low, by_high = np.sort(lows), np.sort(highs)
    ahead = len(lows) - np.searchsorted(by_low, highs, side="right")
    behind = np.searchsorted(by_high, lows, side="left")
    # The players who share a low end's point are a largest group when an interval ends before
    # the next higher low end: moving the point up would lose a member.
    above = np.append(by_low, np.inf)[np.searchsorted(by_low, by_low, side="right")]
    first_end = by_high[np.searchsorted(by_high, by_low, side="left")]
    meeting_points = np.unique(by_low[first_end < above])[::-1]
    return RankGroups(
        low=lows,
        high=highs,
        rank_low=(1 + ahead).astype(np.int64),
        rank_high=(len(lows) - behind).astype(np.int64),
        meeting_points=meeting_points,
    )
