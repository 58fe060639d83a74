"""Let matches depend on one another: those of one prompt, or of one judge, are not independent."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.weighted_pairs import weigh_pairs

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

FEW: Final = 20
"""The number of clusters below which their covariance is not to be relied on."""

_MANY_WAYS = 2


@dataclass(frozen=True, eq=False)
class Clusters:
    """Matches with the clusters they are in, by one criterion or by two.

    Attributes:
        by: what the clusters are, for readers.
        players: how many players there are.
        a, b: player numbers of both sides of each match.
        score: 1 when a won, 0.5 on a tie, 0 when b won.
        of_match: of each criterion, the cluster of each match, numbered from 0 without gaps.
        weight: of each match; None: all are 1.
        match: the place of each match where it came from; None: as here.
    """

    by: str
    players: int
    a: npt.NDArray[np.integer]
    b: npt.NDArray[np.integer]
    score: Vector
    of_match: tuple[Numbers, ...]
    weight: Vector | None = None
    match: Numbers | None = None

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The number of clusters of each criterion."""
        return tuple(int(each.max(initial=-1)) + 1 for each in self.of_match)

    def meats(self, theta: Vector) -> tuple[Vector, ...]:
        """Return the sums of squared residuals where those of a cluster are added up first.

        B = G / (G − 1) Σ_g u_g u_gᵀ with u_g = Σ (s − p)(e_a − e_b) over the matches of cluster g.
        By two criteria the first is the sum of both less that of clusters which share both
        (Cameron, Gelbach, Miller 2011), with what is negative of it set to 0; those of each
        criterion alone follow. Few judges who agree add nothing to the first, and the difference
        takes off from it: a variance is then that of the other criterion (the largest of the
        three, as MacKinnon, Nielsen and Webb 2024 advise).

        Example:
            Two matches of one prompt that ended alike are one fact: B is 4 · ¼ per pair, not 2 · ¼.

            >>> twice = Clusters("prompt", 2, np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]),
            ...                  np.array([1.0, 1.0, 0.0, 0.0]), (np.array([0, 0, 1, 1]),))
            >>> [meat] = twice.meats(np.zeros(2))
            >>> meat.tolist()  # G / (G − 1) = 2
            [[4.0, -4.0], [-4.0, 4.0]]
        """
        from scipy.sparse import coo_array

        residual = self.score - logistic(theta[self.a] - theta[self.b])
        if self.weight is not None:
            residual *= self.weight
        match = np.arange(len(residual))
        changes = coo_array(
            (
                np.concatenate([residual, -residual]),
                (np.concatenate([match, match]), np.concatenate([self.a, self.b])),
            ),
            shape=(len(residual), self.players),
        )
        return self.squares(changes.tocsr())

    def squares(self, changes: Any) -> tuple[Vector, ...]:
        """Return B of what each match adds to the gradient (sparse, matches × parameters).

        By two criteria: of both, then of each alone.
        """
        alone = tuple(self._sum(each, changes) for each in self.of_match)
        if len(alone) != _MANY_WAYS:
            return alone
        first, second = self.of_match
        _, shared = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)
        values, vectors = np.linalg.eigh(alone[0] + alone[1] - self._sum(shared, changes))
        return ((vectors * np.maximum(values, 0.0)) @ vectors.T, *alone)

    def select(self, chosen: npt.NDArray[np.bool_]) -> "Clusters | None":
        """Return the clusters of some matches; None: a criterion has fewer than two left."""
        of_match = tuple(
            np.unique(each[chosen], return_inverse=True)[1].astype(np.int64)
            for each in self.of_match
        )
        some = replace(
            self,
            a=self.a[chosen],
            b=self.b[chosen],
            score=self.score[chosen],
            of_match=of_match,
            weight=None if self.weight is None else self.weight[chosen],
            match=None if self.match is None else self.match[chosen],
        )
        return some if min(some.groups) > 1 else None

    def resample(self, dice: np.random.Generator) -> PairCounts:
        """Draw as many clusters again, with replacement, and count their matches.

        By two criteria a match is in the resample as often as the product of both (Owen 2007).
        """
        times = np.ones(len(self.score), dtype=np.int64)
        for each, groups in zip(self.of_match, self.groups, strict=True):
            times *= dice.multinomial(groups, np.full(groups, 1.0 / groups))[each]
        again = np.repeat(np.arange(len(times)), times)
        weight = None if self.weight is None else self.weight[again]
        return weigh_pairs(
            self.a[again], self.b[again], self.score[again], weight, players=self.players
        )

    @staticmethod
    def _sum(of_match: Numbers, changes: Any) -> Vector:
        """Return G / (G − 1) Σ_g u_g u_gᵀ, u_g the sum of the changes of cluster g."""
        from scipy.sparse import coo_array

        groups, matches = int(of_match.max()) + 1, len(of_match)
        belongs = coo_array(
            (np.ones(matches), (of_match, np.arange(matches))), shape=(groups, matches)
        )
        sums = belongs.tocsr() @ changes
        squares = np.asarray((sums.T @ sums).todense(), dtype=np.float64)
        return squares * (groups / (groups - 1.0))
