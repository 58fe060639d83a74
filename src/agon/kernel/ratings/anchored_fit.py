"""Fit Bradley–Terry strengths while those of several players, the anchors, are held.

The distances between anchors are given, so they move as one: θ = (θ of all others, c), where an
anchor has the strength a + c. The likelihood is maximized over the others and c; then all are
shifted by -c, which gives each anchor its value exactly. With one anchor this is the fit of all
players, shifted. A regularization's phantom player is estimated like the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import (
    Covariance,
    connected_groups,
    degrees_of,
    invert,
    pair_matrices,
    pair_matrix,
)
from agon.kernel.ratings.intervals import (
    Intervals,
    Resampling,
    covariance_intervals,
    resample_intervals,
)
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.pair_counts import PairCounts

Vector = npt.NDArray[np.float64]

_CLOSE = 1e-9
_MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class AnchoredFit:
    """The log-strength of each player where the anchors have theirs, and how to refit it.

    Attributes:
        counts: outcomes per pair.
        held: the log-strength of each anchor, by player.
        regularization: tied matches of every player against a phantom.
        log_strength: of each player; an anchor's is the one held.
        phantom: the log-strength of the phantom.
    """

    counts: PairCounts
    held: Mapping[int, float]
    regularization: float
    log_strength: Vector
    phantom: float

    def intervals(self, *, level: float, clusters: Clusters | None = None) -> Intervals:
        """Return intervals by the sandwich formula, of no width for anchors."""
        covariance = self.covariance(clusters=clusters)
        return covariance_intervals(self.log_strength, covariance, level=level)

    def bootstrap(self, resampling: Resampling, *, clusters: Clusters | None = None) -> Intervals:
        """Return intervals by refits of resampled matches, anchors held in each."""

        def refit(resample: PairCounts, regularization: float) -> Vector:
            return hold_anchors(
                resample, self.held, regularization=regularization, start=self.log_strength
            ).log_strength

        floor = self.covariance()
        return resample_intervals(
            self.counts,
            self.log_strength,
            refit=refit,
            regularization=self.regularization,
            resampling=resampling,
            center=floor.center,
            floor=floor,
            clusters=clusters,
        )

    def covariance(self, *, clusters: Clusters | None = None) -> Covariance:
        """Return the covariance of the strengths, against the anchors.

        Args:
            clusters: which matches depend on one another; None: they do not.
        """
        bread, meats = pair_matrices(
            self.counts,
            self.log_strength - self.phantom,
            self.regularization,
            clusters=clusters,
        )
        place = _places(self.counts.players, self.held)
        inverse = invert(_merge(bread, place), singular=self.regularization == 0.0)
        estimates = tuple(
            (inverse @ _merge(each, place) @ inverse)[np.ix_(place, place)] for each in meats
        )
        center = np.zeros(self.counts.players)
        center[next(iter(self.held))] = 1.0
        return Covariance(estimates, center, connected_groups(self.counts), degrees_of(clusters))


def hold_anchors(
    counts: PairCounts, held: Mapping[int, float], *, regularization: float, start: Vector
) -> AnchoredFit:
    """Return the most likely log-strengths of which some are held.

    Args:
        counts: outcomes per pair, for which a finite optimum without anchors exists.
        held: the log-strength of each anchor, by player; at least one.
        regularization: λ ≥ 0, in tied matches against a phantom.
        start: log-strengths near the optimum.

    Raises:
        NotScorable: no optimum was reached: the anchors are too far from the matches.

    Example:
        With the first two 1 apart, the third, which took half the points of each, is between them.

        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> ties = count_pairs([0, 1, 0], [1, 2, 2], [0.5, 0.5, 0.5], players=3)
        >>> fit = hold_anchors(ties, {0: 2.0, 1: 3.0}, regularization=0, start=np.zeros(3))
        >>> fit.log_strength.round(6).tolist()
        [2.0, 3.0, 2.5]
    """
    place = _places(counts.players, held)
    players = np.fromiter(held, dtype=np.intp)
    values = np.fromiter(held.values(), dtype=np.float64)
    theta = start.copy()
    theta[players] = values - (values - start[players]).mean()
    for _ in range(_MAX_STEPS):
        chances = logistic(theta[counts.i] - theta[counts.j])
        missed = counts.wins_i - counts.weights * chances
        phantom = logistic(theta)
        slope = (
            np.bincount(counts.i, missed, counts.players)
            - np.bincount(counts.j, missed, counts.players)
            + regularization * (0.5 - phantom)
        )
        curvature = pair_matrix(
            counts,
            counts.weights * chances * (1.0 - chances),
            regularization * phantom * (1.0 - phantom),
        )
        merged = _merge(curvature, place)
        try:
            inverse = invert(merged, singular=regularization == 0.0)
        except np.linalg.LinAlgError:
            break
        step = inverse @ np.bincount(place, slope)
        step = (step - step.mean() if regularization == 0.0 else step)[place]
        size = float(np.abs(step).max())
        theta = theta + step / max(1.0, size)  # a step of 1 changes the curvature by e² at most
        if size <= _CLOSE:
            shift = float(values[0] - theta[players[0]])
            return AnchoredFit(counts, dict(held), regularization, theta + shift, shift)
        if not np.isfinite(size):
            break
    raise NotScorable(
        "the anchors cannot be held: they are too far apart for the matches between the others; "
        "state anchors nearer to their ratings, or one"
    )


def _places(players: int, held: Mapping[int, float]) -> npt.NDArray[np.intp]:
    """Return the variable of each player: one of its own, or the anchors' common one, the last."""
    free = np.ones(players, dtype=bool)
    free[list(held)] = False
    place = np.full(players, np.count_nonzero(free), dtype=np.intp)
    place[free] = np.arange(np.count_nonzero(free))
    return place


def _merge(matrix: Vector, place: npt.NDArray[np.intp]) -> Vector:
    """Return a matrix over players as one over variables: sums over the players of each."""
    size = int(place.max()) + 1
    rows = np.zeros((size, matrix.shape[1]))
    np.add.at(rows, place, matrix)
    merged = np.zeros((size, size))
    np.add.at(merged.T, place, rows.T)
    return merged
