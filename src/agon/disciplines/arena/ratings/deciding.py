"""Find how few matches decide a Bradley–Terry rank or tier, proved by rating without them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from agon.disciplines.arena.facts import Bots
from agon.disciplines.arena.formulas import Ints
from agon.disciplines.arena.history import Standings
from agon.disciplines.arena.ratings.clusters import Verdicts
from agon.disciplines.arena.ratings.modeled import is_modeled
from agon.disciplines.arena.ratings.strengths import Strengths, scores_of, strengths_of
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.weighted_pairs import weigh_pairs

_MOST_MATCHES: Final = 200_000
_MOST_BOTS: Final = 300  # whose intervals are computed again a dozen times
_GROWTH: Final = 1.5
_DIGITS: Final = 12  # equal matches differ by rounding, according to their sides
_PAIRS: Final = 3


@dataclass(frozen=True)
class Deciding:
    """The fewest matches of the most influence without which a board says something else.

    Attributes:
        matches: places of the matches among the rated ones, the most influential first.
        pairs: the bots of most of them, with their number.
    """

    matches: tuple[int, ...]
    pairs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class RatedMatches:
    """The rated matches of a board, of which some can be left out.

    Attributes:
        bots: all bots.
        verdicts: the rated matches.
        rules: the rules of the board.
        names: returns the ids of the matches at some places.
    """

    bots: Bots
    verdicts: Verdicts
    rules: ArenaRules
    names: Callable[[Ints], list[str]]

    def of_order(self, strengths: Strengths, upper: int, lower: int) -> Deciding | None:
        """Return the matches without which the lower one of two rows is before the upper one."""
        return self._fewest(strengths, upper, lower, self._is_reversed)

    def of_distance(self, strengths: Strengths, upper: int, lower: int) -> Deciding | None:
        """Return the matches without which two bots that are apart are not apart any more."""
        if self.rules.interval == "bootstrap" or strengths.counts.players > _MOST_BOTS:
            return None
        return self._fewest(strengths, upper, lower, self._is_joined)

    def _fewest(
        self,
        strengths: Strengths,
        upper: int,
        lower: int,
        changes: Callable[[Verdicts, int, int], bool],
    ) -> Deciding | None:
        """Return the fewest matches, in the order of their influence, that change an answer.

        With m = A⁻¹ (e_upper − e_lower), a match of weight w, score s and chance p adds about
        w (s − p) (m_a − m_b) to the difference. That gives the order; each number of matches is
        tried by a fit. None: no number was seen to change it, or there are too many matches.
        """
        made = self.verdicts
        connected = strengths.intervals.covariance.connected
        if len(made.a) > _MOST_MATCHES or connected[upper] != connected[lower]:
            return None
        row = np.full(len(self.bots), -1)
        row[strengths.bots] = np.arange(len(strengths.bots))
        a, b = row[made.a], row[made.b]
        matrix, theta = strengths.intervals.covariance.estimates[-1], strengths.intervals.strength
        moved = matrix[:, upper] - matrix[:, lower]
        influence = (made.score - logistic(theta[a] - theta[b])) * (moved[a] - moved[b])
        if made.weight is not None:
            influence = influence * made.weight
        influence = np.where((a < 0) | (b < 0), 0.0, influence).round(_DIGITS)
        order = np.argsort(-influence, kind="stable")[: int((influence > 0).sum())]
        bots = int(strengths.bots[upper]), int(strengths.bots[lower])

        def is_enough(number: int) -> bool:
            rest = np.ones(len(made.a), dtype=bool)
            rest[order[:number]] = False
            try:
                return changes(_select(made, rest), *bots)
            except NotScorable:  # without these matches there is no board
                return False

        gap = float(theta[upper] - theta[lower])
        low = 0
        high = min(len(order), 1 + int(np.searchsorted(np.cumsum(influence[order]), gap)))
        while not high or not is_enough(high):
            if high == len(order):
                return None
            low, high = high, min(len(order), int(high * _GROWTH) + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        taken = order[:high]
        sides = np.sort(np.column_stack([row[made.a[taken]], row[made.b[taken]]]), axis=1)
        pairs = Counter((int(first), int(second)) for first, second in sides.tolist())
        most = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_PAIRS]
        return Deciding(tuple(taken.tolist()), tuple((*pair, number) for pair, number in most))

    def _is_reversed(self, rest: Verdicts, upper: int, lower: int) -> bool:
        if is_modeled(self.rules):
            made = self._rate(rest)
            bots, scores = made.bots, made.score
        else:
            pairs = weigh_pairs(rest.a, rest.b, rest.score, rest.weight, players=len(self.bots))
            bots, scores = scores_of(self.bots, _standings(pairs), pairs, self.rules)
        score = dict(zip(bots.tolist(), scores.tolist(), strict=True))
        return upper in score and lower in score and score[lower] > score[upper]

    def _is_joined(self, rest: Verdicts, upper: int, lower: int) -> bool:
        made = self._rate(rest)
        row = {bot: index for index, bot in enumerate(made.bots.tolist())}
        if upper not in row or lower not in row:
            return False
        return not is_apart(made, row[upper], row[lower])

    def _rate(self, rest: Verdicts) -> Strengths:
        pairs = weigh_pairs(rest.a, rest.b, rest.score, rest.weight, players=len(self.bots))
        return strengths_of(self.bots, _standings(pairs), pairs, self.rules, verdicts=lambda: rest)


def _standings(pairs: PairCounts) -> Standings:
    wins, losses, ties = pairs.results()
    return Standings(wins, losses, ties, wins + losses + ties)


def gap_and_error(strengths: Strengths, upper: int, lower: int) -> tuple[float, float]:
    """Return the difference of two log-strengths and its standard error; infinite: unknown."""
    gap = float(strengths.intervals.strength[upper] - strengths.intervals.strength[lower])
    if np.isnan(strengths.low[upper]) or np.isnan(strengths.high[lower]):
        return gap, np.inf  # an open end is above, or below, everything
    return gap, float(np.sqrt(strengths.intervals.covariance.of_differences(upper, lower)))


def is_apart(strengths: Strengths, upper: int, lower: int) -> bool:
    """Return whether a bot is above another one, with neighbors compared together."""
    gap, error = gap_and_error(strengths, upper, lower)
    return bool(gap > strengths.separation.critical * error)


def _select(verdicts: Verdicts, rest: np.ndarray) -> Verdicts:
    """Return some of the matches."""
    mask = pa.array(rest)
    return replace(
        verdicts,
        a=verdicts.a[rest],
        b=verdicts.b[rest],
        score=verdicts.score[rest],
        prompt=None if verdicts.prompt is None else verdicts.prompt.filter(mask),
        judge=None if verdicts.judge is None else verdicts.judge.filter(mask),
        weight=None if verdicts.weight is None else verdicts.weight[rest],
        covariates={name: values[rest] for name, values in verdicts.covariates.items()},
    )
