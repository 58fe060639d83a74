"""Rate players by Bradley–Terry: the strengths that make all matches together most likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.compiling import COMPILED_FROM, compile_loop
from agon.kernel.ratings.likelihood import Likelihood, likelihood_of
from agon.kernel.ratings.pair_counts import PairCounts, names_text
from agon.kernel.ratings.reachability import reaches_all


def groups_of(counts: PairCounts) -> tuple[int, npt.NDArray[np.int32]]:
    """Group players who beat (or tied) each other in a circle: ``(groups, group of each player)``.

    Bradley–Terry has a maximum-likelihood rating exactly when there is one group: however the
    players are split in two, each half has taken a point from the other (Ford 1957).

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> groups_of(count_pairs([0, 1, 2], [1, 2, 0], [1, 1, 1], players=3))[0]
        1
        >>> groups_of(count_pairs([0, 1], [1, 2], [1, 1], players=3))[0]
        3
    """
    if len(counts) >= COMPILED_FROM and compile_loop(_connects_all)(
        counts.i, counts.j, counts.exchanged, np.arange(counts.players)
    ):
        return 1, np.zeros(counts.players, dtype=np.int32)
    i_scored = counts.wins_i > 0
    j_scored = counts.wins_j > 0
    winners = np.concatenate([counts.i[i_scored], counts.j[j_scored]])
    losers = np.concatenate([counts.j[i_scored], counts.i[j_scored]])
    to_all = reaches_all(winners, losers, nodes=counts.players)
    if counts.players and to_all and reaches_all(losers, winners, nodes=counts.players):
        return 1, np.zeros(counts.players, dtype=np.int32)

    from scipy.sparse import coo_array  # takes 0.2 s; only needed here
    from scipy.sparse.csgraph import connected_components

    beaten = coo_array(
        (np.ones(len(winners), dtype=np.int8), (winners, losers)),
        shape=(counts.players, counts.players),
    )
    groups, group = connected_components(beaten.tocsr(), directed=True, connection="strong")
    return int(groups), group


def _connects_all(i: Any, j: Any, both_scored: Any, leader: Any) -> bool:
    """Return whether pairs in which both scored connect all players: the common, cheap case."""
    apart = len(leader) - 1
    for pair in range(len(i)):
        if both_scored[pair]:
            first, second = i[pair], j[pair]
            while leader[first] != first:
                # Union–find with path halving; the lower number leads.
                leader[first] = leader[leader[first]]
                first = leader[first]
            while leader[second] != second:
                leader[second] = leader[leader[second]]
                second = leader[second]
            if first != second:
                leader[max(first, second)] = min(first, second)
                # Every union joins two groups; after players − 1 of them one group is left.
                apart -= 1
                if apart == 0:
                    return True
    return apart <= 0


def rateable(counts: PairCounts) -> npt.NDArray[np.bool_]:
    """Return which players are in the largest group that has a rating, by its matches.

    A group is rated as if the others were not there. Between groups points went one way at most,
    so that nothing finite can be said about the distance. A group of one player has no match in
    it; where there is no other, nobody is rated.

    Source: spec ranking, Intervals and ranks 8.

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> rateable(count_pairs([0, 1, 2], [1, 0, 0], [1, 1, 1], players=3)).tolist()
        [True, True, False]
    """
    groups, group = groups_of(counts)
    if groups <= 1:
        return np.full(counts.players, len(counts) > 0)
    inner = group[counts.i] == group[counts.j]
    matches = np.bincount(group[counts.i[inner]], counts.matches[inner], groups)
    largest = int(np.lexsort((-np.bincount(group, minlength=groups), -matches))[0])
    return (group == largest) & bool(matches[largest] > 0)


def why_not_one(counts: PairCounts, names: Sequence[str] | None = None) -> str | None:
    """Return why no finite rating fits best, naming the players; ``None`` when one does.

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> why_not_one(count_pairs([0, 0], [1, 1], [1, 1], players=2), ["ada", "bob"])
        'ada never lost a point; bob never won a point'
    """
    groups, group = groups_of(counts)
    if groups <= 1:
        return None
    points = counts.points()
    losses = counts.to_players(counts.wins_j, counts.wins_i)
    facts = [
        ("never played", (points == 0) & (losses == 0)),
        ("never lost a point", (points > 0) & (losses == 0)),
        ("never won a point", (points == 0) & (losses > 0)),
    ]
    reasons = [
        f"{names_text(np.flatnonzero(players), names)} {fact}"
        for fact, players in facts
        if players.any()
    ]
    ordinary = (points > 0) & (losses > 0)
    sizes = np.bincount(group[ordinary], minlength=groups)
    if np.count_nonzero(sizes) > 1:
        size_of_group = np.where(ordinary, sizes[group], counts.players + 1)
        smallest = np.flatnonzero(ordinary & (group == group[size_of_group.argmin()]))
        reasons.append(
            f"the players fall into {groups} groups between which points went one way at most, "
            f"one of them {{{names_text(smallest, names)}}}"
        )
    return "; ".join(reasons)


Vector = npt.NDArray[np.float64]

_CLOSE = 1e-8  # error left by the last step, in log-strength: 2e-6 Elo
_MAX_STEPS = 200
_FINEST = 1e-6  # precision of a step; the steps themselves refine one another


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """The log-strength θ of each player (mean 0), and how it was computed.

    P(i beats j) = 1 / (1 + e^(θ_j - θ_i)). ``phantom`` is the strength of a regularization's
    phantom on this scale.
    """

    log_strength: Vector
    regularization: float
    steps: int
    phantom: float = 0.0

    @property
    def shares(self) -> Vector:
        """Return the strengths e^θ, normalized to sum 1."""
        strength = np.exp(self.log_strength - self.log_strength.max(initial=-np.inf))
        return strength / strength.sum()

    def elo(self, *, scale: float, mean: float) -> Vector:
        """Return the ratings on the Elo scale: see :func:`to_elo`."""
        return to_elo(self.log_strength, scale=scale, mean=mean)


def to_elo(log_strength: Vector, *, scale: float, mean: float) -> Vector:
    """Return log-strengths on the Elo scale: θ · scale / ln 10 + mean.

    Example:
        >>> to_elo(np.log(np.array([10.0, 0.1])), scale=400, mean=1000).round(6).tolist()
        [1400.0, 600.0]
    """
    return log_strength * (scale / log(10.0)) + mean


def bradley_terry(
    counts: PairCounts,
    *,
    names: Sequence[str] | None = None,
    regularization: float,
    start: Vector | None = None,
) -> BradleyTerry:
    """Return the maximum-likelihood log-strengths, a tie counting as half a win for each side.

    Maximizes Σ w_ij ln p_ij over ordered pairs, w_ij the score of i against j, by Newton's method
    on the pair counts. A step of size s solved to precision η leaves an error of about s (η + s);
    1e-8 is accepted, far below 0.001 Elo. With ``regularization`` λ > 0
    every player also played λ tied matches against a phantom of strength θ = 0; then a
    unique optimum always exists, and the fewer real matches, the nearer a player is to the mean.

    Args:
        counts: outcomes per pair.
        names: names of the players, for messages.
        regularization: λ ≥ 0, in matches.
        start: log-strengths near the optimum, where known.

    Raises:
        NotScorable: when λ = 0 and no finite optimum exists (who never lost or never won, or
            groups without a match between them), with the players and the remedy.
        ValueError: when λ is negative or not finite.

    Source: issue 2, Ratings; arena, Elo.

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> three_to_one = count_pairs([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], players=2)
        >>> bradley_terry(three_to_one, regularization=0).shares.round(6).tolist()
        [0.75, 0.25]
    """
    if not 0.0 <= regularization < np.inf:
        raise ValueError(f"regularization is {regularization}; it must be a number from 0 up")
    if counts.players <= 1:
        return BradleyTerry(np.zeros(counts.players), regularization, 0)
    if regularization == 0.0 and (reason := why_not_one(counts, names)):
        raise NotScorable(
            f"no finite Bradley–Terry rating fits best: {reason}. Rate with a regularization "
            "above 0, record more matches, or leave these players out"
        )
    return _climb(likelihood_of(counts, regularization), regularization, start)


def _climb(likelihood: Likelihood, regularization: float, start: Vector | None) -> BradleyTerry:
    """Maximize a likelihood by Newton's method with damped steps.

    Raises:
        NotScorable: the steps do not end.
    """
    theta = likelihood.guess() if start is None else start - start.mean()
    spread = 1.0
    for step_number in range(1, _MAX_STEPS + 1):
        precision = min(0.1, max(0.1 * spread, _FINEST))
        step = likelihood.newton_step(likelihood.gradient(theta), precision=precision)
        if not np.isfinite(step).all():
            break
        spread = float(np.ptp(step))
        theta = theta + (step if spread <= 1.0 else _damp(step, likelihood.reach(step)))
        if spread * (precision + spread) <= _CLOSE:
            mean = float(theta.mean())
            phantom = -mean if regularization else 0.0
            return BradleyTerry(theta - mean, regularization, step_number, phantom)
    raise NotScorable(
        "the Bradley–Terry rating cannot be computed: some players are so far apart, or some "
        "weights so much larger than others, that matches say nothing more. Rate with a larger "
        "regularization or record more matches"
    )


def _damp(step: Vector, reach: float) -> Vector:
    """Shorten a Newton step that moves two opponents apart by up to ``reach``.

    Within a reach of D the curvature changes by a factor of e^D at most. So a full step surely
    climbs while D ≤ 1, and ln(1 + D) / D of it does for any D (Bach 2010, self-concordance).
    """
    return step if reach <= 1.0 else step * (log1p(reach) / reach)
