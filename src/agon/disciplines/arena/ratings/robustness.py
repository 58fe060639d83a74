"""Measure how robust ranks are: how few matches change them, and how far Elo ratings wander."""

from math import log, sqrt
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.formulas import Ints, Vector, score_of
from agon.disciplines.arena.history import Ratings
from agon.disciplines.arena.ratings.strengths import Strengths
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.figures import EloBand, NoiseFloor, RankRobustness
from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.likelihood import likelihood_of
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.weighted_pairs import WeightedPairs
from agon.kernel.statistics import two_sided_quantile

RANKS: Final = 10
"""Number of ranks that are examined by default."""

Cells: TypeAlias = npt.NDArray[np.signedinteger[Any]]

_PRECISION: Final = 1e-9  # of the influences; the proof is a refit
_TIED: Final = 1e-7
"""Log-strengths that differ by less are equal; a fit leaves an error of 1e-8."""

_GROWTH: Final = 1.3  # factor by which a number of matches that proved too few is enlarged


def noise_floors(rules: ArenaRules) -> tuple[NoiseFloor, NoiseFloor]:
    r"""Return Elo's noise floor for new and for established bots.

    A bot of constant strength expects no change, but each result moves its rating by K (S − E).
    With s = scale / ln 10 and v = p (1 − p), a match pulls an error e back by K v e / s and adds a
    variance of K² v; both balance at σ² = K s / 2, whatever p is. So even with endless matches the
    rating stays within z σ of its mean only at the level of confidence; a smaller difference of
    two ratings is noise.

    Args:
        rules: ``k_new``, ``k_established``, ``elo_scale`` and ``confidence`` count.

    Example:
        >>> new, established = noise_floors(ArenaRules())
        >>> round(new.deviation, 1), round(established.deviation, 1), round(established.width)
        (52.7, 37.3, 73)
    """
    z = two_sided_quantile(rules.confidence)

    def floor(k: float) -> NoiseFloor:
        deviation = sqrt(k * rules.elo_scale / log(10) / 2)
        return NoiseFloor(
            k=k, deviation=deviation, width=z * deviation, confidence=rules.confidence
        )

    return floor(rules.k_new), floor(rules.k_established)


def elo_bands(
    facts: Facts, ratings: Ratings, rules: ArenaRules, *, ranks: int = RANKS
) -> list[EloBand]:
    """Return the noise band of the first ratings, and the ranks that lie within.

    Two ratings with deviations σ_i and σ_j differ by chance by at most z √(σ_i² + σ_j²).
    """
    played = np.flatnonzero(ratings.games)
    rating, games = ratings.rating[played], ratings.games[played]
    order = np.lexsort((played, -rating))
    played, rating, games = played[order], rating[order], games[order]
    new, established = noise_floors(rules)
    width = np.where(games < rules.games_established, new.width, established.width)
    rank = 1 + np.searchsorted(-rating, -rating, side="left")
    bands = []
    for index in range(min(ranks, len(played))):
        same = np.flatnonzero(np.abs(rating - rating[index]) <= np.hypot(width, width[index]))
        bands.append(
            EloBand(
                rank=int(rank[index]),
                bot=str(facts.bots.ids[int(played[index])]),
                rating=float(rating[index]),
                matches=int(games[index]),
                low=float(rating[index] - width[index]),
                high=float(rating[index] + width[index]),
                rank_low=int(rank[same].min()),
                rank_high=int(rank[same].max()),
            )
        )
    return bands


def rank_robustness(
    facts: Facts,
    ratings: Ratings,
    strengths: Strengths,
    rules: ArenaRules,
    *,
    ranks: int = RANKS,
) -> list[RankRobustness]:
    """Return for each of the first ranks how many matches decide it, by influence and refit.

    With log-strengths θ, curvature H of the likelihood and a match of a against b with score s,
    leaving the match out changes θ_i − θ_j by about −(e_i − e_j)ᵀ H⁻¹ (e_a − e_b) (s − p_ab). The
    matches are left out in the order of this influence; the fewest of them after which a refit
    puts j before i are the answer. It is an upper bound: it is proved, but a smaller set may exist.

    Args:
        facts: the records.
        ratings: their rated matches.
        strengths: the Bradley–Terry strengths.
        rules: the rules they were fitted under.
        ranks: how many ranks.

    Raises:
        NotScorable: matches have shares or weights.

    Source: Broderick, Giordano, Meager (2020), Automatic Finite-Sample Robustness Metric; Huang et
    al. (2025), Dropping Just a Handful of Preferences Can Change Top LLM Rankings.
    """
    counts, regularization = strengths.counts, rules.bradley_terry_regularisation
    if counts.players <= 1:
        return []
    if isinstance(counts, WeightedPairs):
        raise NotScorable(
            "how many matches decide a rank is counted for wins, losses and ties of weight 1 only, "
            "and matches here have shares or weights"
        )
    theta = bradley_terry(counts, regularization=regularization).log_strength
    order = np.argsort(-theta, kind="stable")
    names = [str(name) for name in facts.bots.ids.take(strengths.bots[order]).to_pylist()]
    outcomes = _Outcomes(counts, theta, regularization)
    elo = rules.elo_scale / log(10)
    decided = []
    for index in range(min(ranks, len(order) - 1)):
        first, second = int(order[index]), int(order[index + 1])
        cells = outcomes.fewest(first, second)
        left_out = () if cells is None else _match_ids(facts, ratings, strengths, counts, cells)
        decided.append(
            RankRobustness(
                rank=index + 1,
                bot=names[index],
                next=names[index + 1],
                margin=float(theta[first] - theta[second]) * elo,
                matches=None if cells is None else len(left_out),
                share=None if cells is None else len(left_out) / float(counts.matches.sum()),
                left_out=left_out,
            )
        )
    return decided


class _Outcomes:
    """The outcomes of all pairs: lost, tied, won by the first; equal ones have one influence."""

    def __init__(self, counts: PairCounts, theta: Vector, regularization: float) -> None:
        self._counts, self._theta, self._regularization = counts, theta, regularization
        self._likelihood = likelihood_of(counts, regularization)
        self._likelihood.gradient(theta)
        p = 1 / (1 + np.exp(theta[counts.j] - theta[counts.i]))
        self._table = np.column_stack([counts.won_j, counts.tied, counts.won_i])
        self._surprise = np.array([0.0, 0.5, 1.0])[None, :] - p[:, None]

    def fewest(self, first: int, second: int) -> Ints | None:
        """Return how many of each outcome to leave out so that the second is before the first.

        None: leaving out all matches that favor the first does not suffice.
        """
        apart = np.zeros(len(self._theta))
        apart[first], apart[second] = 1.0, -1.0
        moved = self._likelihood.newton_step(apart, precision=_PRECISION)
        counts = self._counts
        influence = ((moved[counts.i] - moved[counts.j])[:, None] * self._surprise).ravel()
        cells = np.flatnonzero((influence > 0) & (self._table.ravel() > 0))
        cells = cells[np.argsort(-influence[cells], kind="stable")]
        available = np.cumsum(self._table.ravel()[cells]).astype(np.int64)
        if not len(cells):
            return None
        each = np.repeat(influence[cells], self._table.ravel()[cells])
        margin = self._theta[first] - self._theta[second]
        estimate = 1 + int(np.searchsorted(np.cumsum(each), margin))
        return self._prove(first, second, cells, available, estimate)

    def _prove(
        self, first: int, second: int, cells: Cells, available: Ints, estimate: int
    ) -> Ints | None:
        """Return the fewest matches in the order of influence for which a refit changes ranks."""
        most = int(available[-1])
        high = min(most, max(1, estimate))
        while self._holds(first, second, self._prefix(cells, available, high)):
            if high == most:
                return None
            high = min(most, int(high * _GROWTH) + 1)
        low = 0  # nothing left out: the ranks are as they are
        while high - low > 1:
            middle = (low + high) // 2
            if self._holds(first, second, self._prefix(cells, available, middle)):
                low = middle
            else:
                high = middle
        taken = self._prefix(cells, available, high)
        return None if self._holds(first, second, taken) is None else taken

    def _prefix(self, cells: Cells, available: Ints, total: int) -> Ints:
        """Return how many of each outcome are left out, if so many matches are."""
        before = np.concatenate([[0], available[:-1]])
        taken = np.zeros(self._table.size, dtype=np.int64)
        taken[cells] = np.clip(total - before, 0, available - before)
        return taken

    def _holds(self, first: int, second: int, taken: Ints) -> bool | None:
        """Return whether a refit without some matches keeps the ranks.

        None: without them a bot has no finite rating, and without more matches it has none either.
        """
        rest = self._table - taken.reshape(self._table.shape)
        counts = self._counts
        fewer = PairCounts(
            counts.players,
            counts.i,
            counts.j,
            *(rest[:, part].astype(np.int32) for part in (2, 0, 1)),
        )
        met = fewer.matches > 0
        fewer = PairCounts(
            counts.players,
            *(part[met] for part in (fewer.i, fewer.j, fewer.won_i, fewer.won_j, fewer.tied)),
        )
        try:
            fit = bradley_terry(fewer, regularization=self._regularization, start=self._theta)
        except NotScorable:
            return None
        return bool(fit.log_strength[second] <= fit.log_strength[first] + _TIED)


def _match_ids(
    facts: Facts, ratings: Ratings, strengths: Strengths, counts: PairCounts, taken: Ints
) -> tuple[str, ...]:
    """Return the ids of as many matches of each outcome as are left out, the earliest first."""
    row = np.full(len(facts.bots), -1, dtype=np.int64)
    row[strengths.bots] = np.arange(len(strengths.bots))
    a, b = row[ratings.a], row[ratings.b]
    low, high = np.minimum(a, b), np.maximum(a, b)
    pair = np.searchsorted(_keys(counts.i, counts.j, counts), _keys(low, high, counts))
    rated = low >= 0  # others are of no pair
    score = np.where(a == low, score_of(ratings.result), 1 - score_of(ratings.result))
    outcome = np.where(rated, pair * 3 + np.rint(2 * score).astype(np.int64), -1)
    places: list[int] = []
    for cell in np.flatnonzero(taken).tolist():
        places += np.flatnonzero(outcome == cell)[: int(taken[cell])].tolist()
    return tuple(facts.matches.names(ratings.match[np.array(sorted(places), dtype=np.int64)]))


def _keys(i: Cells, j: Cells, counts: PairCounts) -> Ints:
    return i.astype(np.int64) * counts.players + j
