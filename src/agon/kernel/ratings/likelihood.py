"""Compute the gradient and Hessian of the Bradley–Terry likelihood and its Newton step."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import compile_loop
from agon.kernel.ratings.pair_counts import Amounts, PairCounts

Vector = npt.NDArray[np.float64]

DENSE_PLAYERS = 250
"""Players up to which a dense solution is quick enough not to load compiled code."""

_MAX_ROUNDS = 400  # of conjugate gradients; beyond, elimination is used
_MAX_EXPONENT = 700.0  # exp overflows just above


class Likelihood:
    """The log-likelihood of the log-strengths θ: ℓ = Σ w_ij ln p_ij, with a prior λ.

    ``newton_step`` uses the curvature where ``gradient`` was last taken.
    """

    def __init__(self, counts: PairCounts, regularization: float) -> None:
        self._counts = counts
        self._regularization = regularization
        self._matches = counts.weights
        self._won, self._played = self._totals()
        self._pairs_curvature = np.zeros(0)
        self._curvature = np.zeros(counts.players)

    def guess(self) -> Vector:
        """Return starting values from shares of points, as if all opponents were average."""
        won = self._won + self._regularization / 2.0 + 0.5
        losses = self._played - self._won + self._regularization / 2.0 + 0.5
        theta = np.log(won / losses)
        return theta - theta.mean()

    def gradient(self, theta: Vector) -> Vector:
        """Return points won minus points expected, per player."""
        slope = self._won - self._expected_points(theta)
        if self._regularization == 0.0:
            return slope - slope.mean()  # 0 but for rounding, which a singular system cannot bear
        phantom = logistic(theta)
        self._curvature += self._regularization * phantom * (1.0 - phantom)
        return slope + self._regularization * (0.5 - phantom)

    def newton_step(self, slope: Vector, *, precision: float) -> Vector:
        """Solve curvature · step = slope, at least to ``precision``; without a prior, mean 0."""
        del precision  # solved exactly
        counts = self._counts
        matrix = np.zeros((counts.players, counts.players))
        matrix[counts.i, counts.j] = matrix[counts.j, counts.i] = -self._pairs_curvature
        np.fill_diagonal(matrix, self._curvature)
        if self._regularization == 0.0:
            matrix += self._curvature.mean() / counts.players  # regularizes the constant direction
        try:
            return np.linalg.solve(matrix, slope).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:  # the Hessian is singular; the caller reports it
            return np.full(counts.players, np.inf)

    @cached_property
    def _i(self) -> npt.NDArray[np.intp]:
        return self._counts.i.astype(np.intp)  # the type bincount needs, converted once

    @cached_property
    def _j(self) -> npt.NDArray[np.intp]:
        return self._counts.j.astype(np.intp)

    def _totals(self) -> tuple[Vector, Vector]:
        """Add up each player's points and matches."""
        won = self._to_players(self._counts.wins_i, self._counts.wins_j)
        return won, self._to_players(self._matches, self._matches)

    def reach(self, step: Vector) -> float:
        """Return by how much at most a step moves two opponents (or one and the phantom) apart."""
        gap = np.abs(step.take(self._i) - step.take(self._j)).max(initial=0.0)
        return float(max(gap, np.abs(step).max() if self._regularization else 0.0))

    def _expected_points(self, theta: Vector) -> Vector:
        """Return the expected points per player, and note the curvature."""
        wins = logistic(theta.take(self._i) - theta.take(self._j))
        expected = self._matches * wins
        self._pairs_curvature = expected * (1.0 - wins)
        self._curvature = self._to_players(self._pairs_curvature, self._pairs_curvature)
        return self._to_players(expected, self._matches - expected)

    def _to_players(self, to_i: Amounts, to_j: Amounts) -> Vector:
        """Add up per player what each pair gives its two sides."""
        n = self._counts.players
        return np.add(
            np.bincount(self._i, to_i, n), np.bincount(self._j, to_j, n), dtype=np.float64
        )


class SparseLikelihood(Likelihood):
    """The likelihood for many players, in compiled passes over the pairs: memory O(pairs)."""

    def __init__(self, counts: PairCounts, regularization: float) -> None:
        begins = np.searchsorted(counts.i, np.arange(counts.players + 1).astype(np.int32))
        # Unsigned, as a loop first compares a signed index with 0: it may count from the end.
        # Without that, a pass takes two thirds of the time.
        self._begins = begins.astype(np.uint64)
        self._opponents = counts.j.astype(np.int32, copy=False).view(np.uint32)
        super().__init__(counts, regularization)
        self._pairs_curvature = np.empty(len(counts))  # the gradient fills it

    def newton_step(self, slope: Vector, *, precision: float) -> Vector:
        """Solve by conjugate gradients; if they converge slowly (long chains), by elimination."""
        step = np.zeros(self._counts.players)
        converged = compile_loop(_conjugate_gradients)(
            self._begins, self._opponents, self._pairs_curvature, self._curvature,
            slope, precision, step,
        )  # fmt: skip
        if not converged:
            step = self._eliminate(slope)
        return step if self._regularization else step - step.mean()

    def _totals(self) -> tuple[Vector, Vector]:
        counts = self._counts
        won, played = np.zeros((2, counts.players))
        compile_loop(_add_up)(
            self._begins, self._opponents, self._matches, *counts.parts_of_wins_i, won, played
        )
        return won, played

    def _expected_points(self, theta: Vector) -> Vector:
        center = (theta.max() + theta.min()) / 2.0
        if theta.max() - center > _MAX_EXPONENT / 2.0:  # where the faster e^θ would overflow
            return super()._expected_points(theta)
        expected = np.zeros(self._counts.players)
        self._curvature = np.zeros(self._counts.players)
        compile_loop(_expect)(
            self._begins, self._opponents, self._matches, np.exp(theta - center),
            expected, self._pairs_curvature, self._curvature,
        )  # fmt: skip
        return expected

    def _eliminate(self, slope: Vector) -> Vector:
        """Solve exactly; without a prior the last player is fixed."""
        from scipy.sparse import coo_array, diags_array
        from scipy.sparse.linalg import splu

        n = self._counts.players
        upper = coo_array((self._pairs_curvature, (self._i, self._j)), shape=(n, n))
        matrix = (diags_array(self._curvature) - upper - upper.T).tocsc()
        if self._regularization:
            return splu(matrix).solve(slope)
        return np.append(splu(matrix[:-1, :-1]).solve(slope[:-1]), 0.0)


def likelihood_of(counts: PairCounts, regularization: float) -> Likelihood:
    """Return the dense implementation for few players, which needs no compilation."""
    few = counts.players <= DENSE_PLAYERS
    return (Likelihood if few else SparseLikelihood)(counts, regularization)


def logistic(x: Vector) -> Vector:
    """Compute 1 / (1 + e^-x) without overflow.

    Example:
        >>> logistic(np.array([0.0, -1e9])).round(6).tolist()
        [0.5, 0.0]
    """
    return 1.0 / (1.0 + np.exp(np.minimum(-x, _MAX_EXPONENT)))


def _add_up(
    begins: Any, opponents: Any, matches: Any, won_i: Any, tied: Any, won: Any, played: Any
) -> None:
    """Add up points and matches per player in one pass over the pairs."""
    for player in range(len(won)):
        # Pairs are sorted by their first player: its sums stay in registers for the inner loop.
        points_of_one, matches_of_one = 0.0, 0.0
        for pair in range(begins[player], begins[player + 1]):
            points, opponent = won_i[pair] + tied[pair] / 2.0, opponents[pair]
            points_of_one += points
            matches_of_one += matches[pair]
            won[opponent] += matches[pair] - points
            played[opponent] += matches[pair]
        won[player] += points_of_one
        played[player] += matches_of_one


def _expect(
    begins: Any,
    opponents: Any,
    matches: Any,
    strength: Any,
    expected: Any,
    pairs_curvature: Any,
    curvature: Any,
) -> None:
    """Add up expected points and curvature in one pass over the pairs, first player by player."""
    for player in range(len(strength)):
        points_of_one, curvature_of_one = 0.0, 0.0
        for pair in range(begins[player], begins[player + 1]):
            opponent = opponents[pair]
            wins = strength[player] / (strength[player] + strength[opponent])
            points = matches[pair] * wins
            bend = points * (1.0 - wins)
            pairs_curvature[pair] = bend
            points_of_one += points
            curvature_of_one += bend
            expected[opponent] += matches[pair] - points
            curvature[opponent] += bend
        expected[player] += points_of_one
        curvature[player] += curvature_of_one


def _conjugate_gradients(
    begins: Any,
    opponents: Any,
    pairs_curvature: Any,
    curvature: Any,
    slope: Any,
    precision: float,
    step: Any,
) -> bool:
    """Solve for ``step`` in place, scaled by the diagonal; return whether it converged."""
    rest = slope.copy()
    scaled = rest / curvature
    direction = scaled.copy()
    size = (rest * scaled).sum()
    # Sizes are squared lengths, so the precision is squared as well.
    goal = precision * precision * size
    for _ in range(_MAX_ROUNDS):
        if size <= goal:
            return True
        # The Hessian is a Laplacian: its diagonal here, minus the curvature of each pair below.
        image = curvature * direction
        for player in range(len(slope)):
            towards_one, of_one = 0.0, direction[player]
            for pair in range(begins[player], begins[player + 1]):
                opponent = opponents[pair]
                towards_one += pairs_curvature[pair] * direction[opponent]
                image[opponent] -= pairs_curvature[pair] * of_one
            image[player] -= towards_one
        share = size / (direction * image).sum()
        step += share * direction
        rest -= share * image
        scaled = rest / curvature
        previous, size = size, (rest * scaled).sum()
        direction = scaled + (size / previous) * direction
    return False
