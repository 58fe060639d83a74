"""Compute how uncertain Bradley–Terry strengths are together: of each, and of every difference.

Only differences of strengths mean anything, so the covariance is that of differences; a rating is
the difference to a weighted mean of all, which :attr:`Covariance.center` states.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.bradley_terry import BradleyTerry
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.reachability import reaches_all

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_BLOCK = 1 << 22  # differences at a time: 32 MB


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance of log-strengths by several estimates, of which the largest variance counts.

    Attributes:
        estimates: matrices over players, the robust ones first and the model's own last. A
            variance is the largest over them, so that it is never below the model's own.
        center: the weight of each player in the reference, of sum 1.
        connected: a number per player; between players of different numbers no match, and no
            chain of matches, says anything: their difference has an infinite variance.
        degrees: the degrees of freedom of the robust estimate: one less than the clusters of
            matches; infinite where matches are independent.
    """

    estimates: tuple[Vector, ...]
    center: Vector
    connected: npt.NDArray[np.int32]
    degrees: float = np.inf

    def model(self) -> "Covariance":
        """Return the model's own covariance, the last estimate, alone."""
        return replace(self, estimates=self.estimates[-1:], degrees=np.inf)

    def robust(self) -> "Covariance":
        """Return the robust covariance, without the model's own where there is one."""
        return replace(self, estimates=self.estimates[:-1] or self.estimates)

    def of_ratings(self) -> Vector:
        """Return the variance of each strength less the weighted mean of all."""
        return np.max([_against(matrix, self.center) for matrix in self.estimates], axis=0)

    def of_differences(self, i: npt.ArrayLike, j: npt.ArrayLike) -> Vector:
        """Return the variance of θ_i − θ_j: V_ii + V_jj − 2 V_ij, of arrays that broadcast."""
        first, second = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)
        variance = np.max(
            [
                diagonal[first] + diagonal[second] - 2.0 * matrix[first, second]
                for matrix in self.estimates
                for diagonal in (np.diagonal(matrix),)
            ],
            axis=0,
        )
        apart = self.connected[first] != self.connected[second]
        return np.where(apart, np.inf, np.maximum(variance, 0.0))

    def rows(self) -> Iterator[tuple[Numbers, Vector]]:
        """Yield some players at a time with the variances of their differences to all players."""
        players = np.arange(len(self.center))
        step = max(1, _BLOCK // max(1, len(players)))
        for begin in range(0, len(players), step):
            some = players[begin : begin + step]
            yield some, self.of_differences(some[:, None], players[None, :])


def sandwich_covariance(
    counts: PairCounts, fit: BradleyTerry, *, center: Vector, clusters: Clusters | None = None
) -> Covariance:
    """Return A⁻¹ B A⁻¹, robust to a misspecified model, and the model's own covariance beside it.

    A is the information n p (1 − p) of the pairs, B the sum of squared residuals (score − p)² of
    the matches, both as pair matrices. The model's own covariance has p (1 − p) in place of the
    squared residuals; with matches of weight 1 it is A⁻¹. Few matches can have small residuals by
    luck (one tie has none at all), which says nothing about the next: so a variance is the larger
    of both. Phantom matches of a regularized fit count in B with their expected variance, so that
    a player without matches has the width of the prior, not none. The matrices are dense: 8
    players² bytes each.

    Args:
        counts: outcomes per pair.
        fit: the ratings of these counts.
        center: the weight of each player in the reference, of sum 1.
        clusters: which matches depend on one another; None: they do not.

    Source: spec ranking, Intervals and ranks 1, 5, 6.

    Example:
        Two players with 8 matches each won half: A = B = 8/4 for the difference.

        >>> from agon.kernel.ratings.bradley_terry import bradley_terry
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> even = count_pairs([0] * 8, [1] * 8, [1, 0] * 4, players=2)
        >>> fit = bradley_terry(even, regularization=0)
        >>> made = sandwich_covariance(even, fit, center=np.array([0.5, 0.5]))
        >>> made.of_differences(0, 1).round(6).item(), made.of_ratings().round(6).tolist()
        (0.5, [0.125, 0.125])
    """
    bread, meats = pair_matrices(
        counts, fit.log_strength - fit.phantom, fit.regularization, clusters=clusters
    )
    inverse = invert(bread, singular=fit.regularization == 0.0)
    # A⁻¹ A A⁻¹ and A⁻¹ differ by a shift of all strengths at most, on which no difference depends.
    estimates = tuple(inverse if meat is bread else inverse @ meat @ inverse for meat in meats)
    return Covariance(estimates, center, connected_groups(counts), degrees_of(clusters))


def degrees_of(clusters: Clusters | None) -> float:
    """Return the degrees of freedom that clusters leave to the robust estimate."""
    return np.inf if clusters is None else max(1.0, min(clusters.groups) - 1.0)


def pair_matrices(
    counts: PairCounts,
    theta: Vector,
    regularization: float,
    *,
    clusters: Clusters | None = None,
) -> tuple[Vector, tuple[Vector, ...]]:
    """Return the information, and the sums of squared residuals with those expected as the last.

    With matches of weight 1 the last is the information, the same array.

    Args:
        counts: outcomes per pair.
        theta: the log-strengths; the phantom's is 0.
        regularization: tied matches of every player against the phantom.
        clusters: which matches depend on one another; None: they do not.
    """
    wins = logistic(theta[counts.i] - theta[counts.j])
    phantom = regularization * logistic(theta) * logistic(-theta)
    bread = pair_matrix(counts, counts.weights * wins * (1.0 - wins), phantom)
    squared = (
        (pair_matrix(counts, counts.squared_residuals(wins), phantom),)
        if clusters is None
        else tuple(meat + np.diag(phantom) for meat in clusters.meats(theta))
    )
    if np.array_equal(counts.weights, counts.squared_weights):
        return bread, (*squared, bread)
    expected = pair_matrix(counts, counts.squared_weights * wins * (1.0 - wins), phantom)
    return bread, (*squared, expected)


def invert(matrix: Vector, *, singular: bool) -> Vector:
    """Return the inverse; of a singular matrix, with a regularized constant direction.

    Differences, the only use of the result, do not have that direction.

    Raises:
        LinAlgError: the matrix is singular in another direction, too.
    """
    if singular and len(matrix):
        # c 11ᵀ has the eigenvalue c n; with c = trace / n² that is the mean of the others, so the
        # matrix is not conditioned worse than before.
        matrix = matrix + max(float(np.trace(matrix)), 1.0) / len(matrix) ** 2
    return np.linalg.inv(matrix).astype(np.float64, copy=False)


def resample_covariance(
    drawn: Vector,
    *,
    counts: PairCounts,
    center: Vector,
    floor: Covariance | None,
    clusters: Clusters | None = None,
) -> Covariance:
    """Return the covariance of refitted resamples, never below another one where there is one.

    Args:
        drawn: the log-strengths of each refit, refits × players.
        counts: outcomes per pair.
        center: the weight of each player in the reference, of sum 1.
        floor: the covariance whose model variances are the least; None: there is none.
        clusters: which matches were drawn together; None: each was drawn by itself.
    """
    spread = drawn - drawn.mean(axis=0)
    made = spread.T @ spread / max(1, len(drawn) - 1)
    model = () if floor is None else (floor.estimates[-1],)
    return Covariance((made, *model), center, connected_groups(counts), degrees_of(clusters))


def pair_matrix(counts: PairCounts, of_pairs: Vector, of_players: Vector) -> Vector:
    """Return Σ c_ij (e_i - e_j)(e_i - e_j)ᵀ + diag(d), players × players."""
    matrix = np.zeros((counts.players, counts.players))
    matrix[counts.i, counts.j] = matrix[counts.j, counts.i] = -of_pairs
    np.fill_diagonal(matrix, of_players - matrix.sum(axis=1))
    return matrix


def _against(matrix: Vector, center: Vector) -> Vector:
    """Return the variance of each strength less the weighted mean."""
    with_mean = matrix @ center
    variance = np.diagonal(matrix) - 2.0 * with_mean + center @ with_mean
    return np.maximum(variance, 0.0)


def connected_groups(counts: PairCounts) -> npt.NDArray[np.int32]:
    """Number the groups of players that a chain of matches connects."""
    ends = np.concatenate([counts.i, counts.j]), np.concatenate([counts.j, counts.i])
    if reaches_all(*ends, nodes=counts.players):
        return np.zeros(counts.players, dtype=np.int32)

    from scipy.sparse import coo_array  # takes 0.2 s; only needed here
    from scipy.sparse.csgraph import connected_components

    met = coo_array(
        (np.ones(len(counts), dtype=np.int8), (counts.i, counts.j)),
        shape=(counts.players, counts.players),
    )
    numbers: npt.NDArray[np.int32] = connected_components(met.tocsr(), directed=False)[1]
    return numbers
