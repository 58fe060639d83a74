"""Retrace the ratings of bots before each match, for explanations and pages of matches."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.history import Ratings


@dataclass(frozen=True, eq=False)
class RatingHistory:
    """The state of both bots before every rated match, and each bot's matches in order.

    Attributes:
        before_a, before_b: ratings before each match of :class:`Ratings`.
        played: numbers of matches in :class:`Ratings`, by bot, in order of play.
        opens: bot i's matches are ``played`` from ``opens[i]`` up to ``opens[i + 1]``.
    """

    before_a: Vector
    before_b: Vector
    played: Ints
    opens: Ints


def rating_history(ratings: Ratings, *, start: float) -> RatingHistory:
    """Retrace every bot's rating: the start plus its changes one after the other, bit by bit."""
    count = len(ratings.match)
    side = np.concatenate([ratings.a, ratings.b])
    change = np.concatenate([ratings.change_a, ratings.change_b])
    number = np.tile(np.arange(count), 2)
    order = np.lexsort((number, side))
    opens = np.searchsorted(side[order], np.arange(len(ratings.rating) + 1))
    before = np.empty(2 * count)
    for first, last in pairwise(opens.tolist()):
        of_bot = order[first:last]
        before[of_bot] = np.cumsum(np.concatenate([[start], change[of_bot]]))[:-1]
    return RatingHistory(before[:count], before[count:], number[order], opens)
