"""Count pairs whose matches have weights, or scores between a loss and a win."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.pair_counts import PairCounts, count_pairs

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WeightedPairs(PairCounts):
    """The matches of every pair, by score and weight; ``won_i`` and ``won_j`` count nearer sides.

    A match of weight w counts w times in the likelihood, and once as evidence: w judgments in one
    are as uncertain as a single one.

    Attributes:
        pair: the pair of each kind of match, by index, ascending.
        score: the score of ``i`` in it, from 0 to 1.
        weight: its weight, above 0.
        times: the number of such matches.
    """

    pair: Numbers
    score: Vector
    weight: Vector
    times: Numbers

    @property
    def exchanged(self) -> npt.NDArray[np.bool_]:
        """Return in which pairs both sides scored."""
        return (self.wins_i > 0) & (self.wins_j > 0)

    @cached_property
    def weights(self) -> Vector:
        """Sum the weights of the matches of each pair."""
        return self._sum(self.weight)

    @cached_property
    def wins_i(self) -> Vector:
        """Sum the weighted scores of ``i`` in each pair."""
        return self._sum(self.weight * self.score)

    @property
    def parts_of_wins_i(self) -> tuple[Vector, Vector]:
        """Return the wins of ``i`` with its ties in them, and no others."""
        return self.wins_i, np.zeros(len(self))

    @cached_property
    def wins_j(self) -> Vector:
        """Sum the weighted scores of ``j`` in each pair."""
        return self._sum(self.weight * (1.0 - self.score))

    @cached_property
    def squared_weights(self) -> Vector:
        """Sum the squared weights of the matches of each pair."""
        return self._sum(self.weight**2)

    def squared_residuals(self, wins: Vector) -> Vector:
        """Sum (weight · (score − p))² over the matches of each pair, p the chance that i wins."""
        return self._sum((self.weight * (self.score - wins[self.pair])) ** 2)

    def select(self, players: npt.NDArray[np.bool_]) -> "WeightedPairs":
        """Return the matches among some players, who are numbered again from 0."""
        numbers = np.cumsum(players) - 1
        inner = (players[self.i] & players[self.j])[self.pair]
        pair = self.pair[inner]
        return _of_kinds(
            numbers[self.i[pair]], numbers[self.j[pair]], self.score[inner],
            self.weight[inner], self.times[inner], players=int(np.count_nonzero(players)),
        )  # fmt: skip

    def resample(self, dice: np.random.Generator) -> "WeightedPairs":
        """Draw as many matches again, with replacement, with their scores and weights."""
        total = int(self.times.sum())
        times = dice.multinomial(total, self.times / max(total, 1))
        drawn = times > 0
        pair = self.pair[drawn]
        return _of_kinds(
            self.i[pair], self.j[pair], self.score[drawn], self.weight[drawn], times[drawn],
            players=self.players,
        )  # fmt: skip

    def _sum(self, of_kinds: Vector) -> Vector:
        return np.bincount(self.pair, of_kinds * self.times, len(self.i)).astype(np.float64)


def weigh_pairs(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score_a: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
    *,
    players: int,
) -> PairCounts:
    """Count the matches of every pair by score and weight.

    Matches that were won, lost or tied and have the weight 1 are counted as
    :func:`~agon.kernel.ratings.pair_counts.count_pairs` does.

    Args:
        a: player numbers of one side, one per match, in any order.
        b: player numbers of the other side.
        score_a: the score of side a, from 0 to 1.
        weight: of each match, above 0; None: all are 1.
        players: how many players there are.

    Example:
        >>> pairs = weigh_pairs([0, 1], [1, 0], [0.75, 0.5], [2, 1], players=2)
        >>> pairs.weights.tolist(), pairs.wins_i.tolist(), pairs.wins_j.tolist()
        ([3.0], [2.0], [1.0])
    """
    scores = np.asarray(score_a, dtype=np.float64)
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    if (weights is None or (weights == 1.0).all()) and np.isin(scores, (0.0, 0.5, 1.0)).all():
        return count_pairs(a, b, scores, players=players)
    first, second = (np.asarray(side).astype(np.int64) for side in (a, b))
    swapped = first > second
    return _of_kinds(
        np.minimum(first, second),
        np.maximum(first, second),
        np.where(swapped, 1.0 - scores, scores),
        np.ones(len(scores)) if weights is None else weights,
        np.ones(len(scores), dtype=np.int64),
        players=players,
    )


def _of_kinds(
    i: npt.NDArray[np.integer],
    j: npt.NDArray[np.integer],
    score: Vector,
    weight: Vector,
    times: Numbers,
    *,
    players: int,
) -> WeightedPairs:
    """Return the pairs of matches that are sorted and added up here."""
    order = np.lexsort((weight, score, j, i))
    i, j, score, weight, times = i[order], j[order], score[order], weight[order], times[order]
    changes = np.ones(len(order), dtype=bool)
    changes[1:] = np.any([each[1:] != each[:-1] for each in (i, j, score, weight)], axis=0)
    opens = np.flatnonzero(changes)
    times = np.add.reduceat(times, opens) if len(opens) else times
    i, j, score, weight = i[opens], j[opens], score[opens], weight[opens]
    new_pair = np.ones(len(i), dtype=bool)
    new_pair[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    pair = np.cumsum(new_pair) - 1
    pairs = np.count_nonzero(new_pair)
    won_i, won_j, tied = (
        np.bincount(pair[nearer], times[nearer], pairs).astype(np.int32)
        for nearer in (score > 0.5, score < 0.5, score == 0.5)  # noqa: PLR2004 (half a point)
    )
    return WeightedPairs(
        players=players,
        i=i[new_pair].astype(np.int32),
        j=j[new_pair].astype(np.int32),
        won_i=won_i,
        won_j=won_j,
        tied=tied,
        pair=pair,
        score=score,
        weight=weight,
        times=times,
    )
