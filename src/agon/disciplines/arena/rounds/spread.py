"""Pair bots so that games, opponents and sides are spread evenly: rule ``pairing = spread``.

Two bots cost their rating distance, plus their rank distance as a share of the field, plus a
penalty for a rematch and for the same sides again; after lila's pairing of arenas. Bots in order of
rating take the cheapest partner close by; pairs that break a promise are then taken apart along
alternating paths (:mod:`agon.kernel.matching`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import pyarrow as pa

from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairing, Pairings, pair
from agon.kernel.boards import id_order
from agon.kernel.matching import NONE, augment_matching

MEMORY: Final = 5
"""Number of a bot's latest rounds whose opponents it should not meet again."""
MAX_STREAK: Final = 3
"""Number of matches in a row that a bot may have on one side."""
_CANDIDATES = 32  # free bots that each considers
_REACHES = (8, 48)  # ranks around a pair that repairs consider, one after the other
_WIDE_REPAIRS = 100  # a field with more pairs to repair considers only the narrow surroundings


@dataclass(frozen=True)
class History:
    """The past rounds of one bot.

    Attributes:
        present: rounds in which it was paired or waited.
        played: rounds in which it was paired.
        waited: latest rounds in a row in which it waited.
        opponents: its opponents of its latest rounds, newest first; None where it waited.
        side: the side of its last match.
        streak: its latest matches in a row on that side.
    """

    present: int = 0
    played: int = 0
    waited: int = 0
    opponents: tuple[str | None, ...] = ()
    side: str | None = None
    streak: int = 0

    def after_match(self, opponent: str, side: str) -> "History":
        """Return the history with one more round, in which the bot was paired."""
        return History(
            present=self.present + 1,
            played=self.played + 1,
            waited=0,
            opponents=(opponent, *self.opponents[: MEMORY - 1]),
            side=side,
            streak=self.streak + 1 if side == self.side else 1,
        )

    def after_wait(self) -> "History":
        """Return the history with one more round, in which the bot waited."""
        return replace(
            self,
            present=self.present + 1,
            waited=self.waited + 1,
            opponents=(None, *self.opponents[: MEMORY - 1]),
        )


@dataclass(frozen=True)
class PastRound:
    """A round that was paired: side a and side b of every match, and who waited."""

    pairs: Sequence[tuple[str, str]]
    waiting: Sequence[str] = ()


_NEW: Final = History()


def histories_of(
    rounds: Iterable[PastRound], *, since: Mapping[str, History] | None = None
) -> dict[str, History]:
    """Return the history of every bot after some rounds, oldest first.

    Args:
        rounds: the rounds.
        since: the histories before them.

    Example:
        >>> histories = histories_of([PastRound([("x", "y")], ["z"]), PastRound([("x", "z")])])
        >>> histories["x"].streak, histories["x"].opponents, histories["z"].played
        (2, ('z', 'y'), 1)
    """
    histories = dict(since or {})
    for past in rounds:
        for a, b in past.pairs:
            histories[a] = histories.get(a, _NEW).after_match(b, "a")
            histories[b] = histories.get(b, _NEW).after_match(a, "b")
        for bot in past.waiting:
            histories[bot] = histories.get(bot, _NEW).after_wait()
    return histories


def pair_spread(
    bots: Iterable[Entrant], *, histories: Mapping[str, History], within: float
) -> Pairings:
    """Pair all bots but those that cannot play: at most one, unless one owner has more than half.

    The one that waits has waited least often for the rounds it was present in, not in the last
    round, and is not new. No bot of one owner meets another of the same owner; no bot is more than
    ``MAX_STREAK`` matches in a row on one side; no two meet again within ``MEMORY`` rounds while
    one of them has another of another owner in range. The last two hold as far as the field allows:
    four bots have met after three rounds.

    Args:
        bots: the qualified bots, in any order; ids are unique.
        histories: the past rounds by bot; a bot without one is new.
        within: the range: rating distance within which opponents are preferred.

    Returns:
        The pairings by rating; the chooser has side a.

    Source: spec arena live, A round, step 2.

    Example:
        >>> bots = [Entrant("w", 1000), Entrant("x", 1010), Entrant("y", 1020), Entrant("z", 1030)]
        >>> histories = histories_of([PastRound([("w", "x"), ("y", "z")])])
        >>> [(p.chooser, p.opponent) for p in pair_spread(bots, histories=histories,
        ...                                               within=200).pairings]
        [('y', 'w'), ('x', 'z')]
    """
    entrants = list(bots)
    place = id_order(pa.array([bot.id for bot in entrants], pa.string())).tolist()
    order = sorted(range(len(entrants)), key=lambda index: (entrants[index].rating, place[index]))
    ranked = [entrants[index] for index in order]
    waiting = _waiting(ranked, histories)
    pool = _Pool([bot for bot in ranked if bot.id not in waiting], histories, within)
    mate = _nearest(pool)
    _repair(pool, mate)
    pairings = tuple(
        pool.pairing(first, second) for first, second in enumerate(mate) if first < second
    )
    return Pairings(pairings, tuple(bot.id for bot in ranked if bot.id in waiting))


def _waiting(ranked: Sequence[Entrant], histories: Mapping[str, History]) -> set[str]:
    """Return who cannot play: the surplus of one owner, or the odd one."""
    by_owner: dict[str, list[Entrant]] = {}
    for bot in ranked:
        if bot.owner_id is not None:
            by_owner.setdefault(bot.owner_id, []).append(bot)
    most = max(by_owner.values(), key=len, default=[])
    surplus = 2 * len(most) - len(ranked)
    if surplus > 0:
        candidates = most
    else:
        candidates, surplus = list(ranked), len(ranked) % 2

    def priority(bot: Entrant) -> tuple[bool, bool, float]:
        past = histories.get(bot.id, _NEW)
        waits = past.present - past.played
        return past.present == 0, past.waited > 0, waits / max(past.present, 1)

    return {bot.id for bot in sorted(candidates, key=priority)[:surplus]}


@dataclass(eq=False)
class _Pool:
    """The bots to pair, by rating, with what each pair costs; numbers are ranks."""

    bots: Sequence[Entrant]
    histories: Mapping[str, History]
    within: float
    ratings: list[float] = field(init=False)
    rank_cost: float = field(init=False)
    past: list[History] = field(init=False)
    recent: list[frozenset[str | None]] = field(init=False)
    run_starts: list[int] = field(init=False)
    run_ends: list[int] = field(init=False)
    alternatives: dict[int, bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Look up the histories, and find the runs of consecutive bots of one owner."""
        self.ratings = [bot.rating for bot in self.bots]
        self.rank_cost = self.within / max(len(self.bots), 1)
        self.past = [self.histories.get(bot.id, _NEW) for bot in self.bots]
        self.recent = [frozenset(past.opponents[:MEMORY]) for past in self.past]
        self.run_starts, self.run_ends = list(range(len(self.bots))), list(range(len(self.bots)))
        for index in range(1, len(self.bots)):
            # Bots are sorted by rating: a run of one owner's bots is skipped as a whole when
            # looking for an opponent.
            if self.bots[index].shares_owner_with(self.bots[index - 1]):
                self.run_starts[index] = self.run_starts[index - 1]
        for index in range(len(self.bots) - 2, -1, -1):
            if self.bots[index].shares_owner_with(self.bots[index + 1]):
                self.run_ends[index] = self.run_ends[index + 1]

    def cost(self, first: int, second: int) -> float:
        """Return distance and penalties; the distance alone grows with the rank distance."""
        cost = self.distance(first, second)
        if self.is_rematch(first, second):
            cost += 4 * self.within
        streak = self.common_streak(first, second)
        if streak >= MAX_STREAK:
            cost += 8 * self.within
        return cost + self.within * max(0, streak - 1) / 2

    def distance(self, first: int, second: int) -> float:
        """Return rating distance plus rank distance as a share of the field."""
        ratings = self.ratings[second] - self.ratings[first]
        return abs(ratings) + self.rank_cost * abs(second - first)

    def is_in_range(self, first: int, second: int) -> bool:
        """Return whether two bots are within the preferred distance."""
        return abs(self.ratings[first] - self.ratings[second]) <= self.within

    def is_rematch(self, first: int, second: int) -> bool:
        """Return whether two bots met in the latest rounds of one of them."""
        return (
            self.bots[second].id in self.recent[first] or self.bots[first].id in self.recent[second]
        )

    def common_streak(self, first: int, second: int) -> int:
        """Return the shorter streak of two bots that were on the same side; one continues it."""
        past, opposite = self.past[first], self.past[second]
        return min(past.streak, opposite.streak) if past.side == opposite.side else 0

    def has_alternative(self, bot: int) -> bool:
        """Return whether a bot of another owner is in range that it has not met recently."""
        if bot not in self.alternatives:
            self.alternatives[bot] = any(
                not self.is_rematch(bot, other) for other in self._in_range(bot)
            )
        return self.alternatives[bot]

    def _in_range(self, bot: int) -> Iterator[int]:
        """Yield the bots of other owners in range, nearest ranks first on each side."""
        for step, ends in ((-1, self.run_starts), (1, self.run_ends)):
            other = ends[bot] + step
            while 0 <= other < len(self.bots) and self.is_in_range(bot, other):
                if self.bots[bot].shares_owner_with(self.bots[other]):
                    other = ends[other]
                else:
                    yield other
                other += step

    def is_acceptable(self, first: int, second: int, *, needs_fresh: bool) -> bool:
        """Return whether two bots may meet without breaking a promise.

        Args:
            first: a rank.
            second: another.
            needs_fresh: whether rematches are allowed only to those without an alternative.
        """
        if self.bots[first].shares_owner_with(self.bots[second]):
            return False
        if self.common_streak(first, second) >= MAX_STREAK:
            return False
        if not needs_fresh:
            return True
        if self.is_rematch(first, second):
            return not (self.has_alternative(first) or self.has_alternative(second))
        return True

    def pairing(self, first: int, second: int) -> Pairing:
        """Return two opponents with their sides: against the longer streak, then the lower id."""
        past, opposite = self.past[first], self.past[second]
        swapped = _is_swapped(past, opposite)
        a, b = (second, first) if swapped else (first, second)
        distance = abs(self.bots[a].rating - self.bots[b].rating)
        return Pairing(self.bots[a].id, self.bots[b].id, distance, distance <= self.within)


def _is_swapped(past: History, opposite: History) -> bool:
    """Return whether the first of two bots has side b, from their last sides."""
    if past.side == opposite.side:
        return (past.side == "a") == (past.streak >= opposite.streak)
    return past.side == "a" or opposite.side == "b"


def _nearest(pool: _Pool) -> list[int]:
    """Match all: in order of rating each with the cheapest of the next free ones."""
    size = len(pool.bots)
    mate = [NONE] * size
    following = list(range(1, size + 1))  # the next rank that may be free
    left_over = []
    for first in range(size):
        if mate[first] != NONE:
            continue
        best, lowest = NONE, float("inf")
        previous, second = first, following[first]
        for _ in range(_CANDIDATES):
            while second < size and mate[second] != NONE:
                second = following[previous] = following[second]
            if second >= size or pool.distance(first, second) >= lowest:
                break
            if not pool.bots[first].shares_owner_with(pool.bots[second]):
                cost = pool.cost(first, second)
                if cost < lowest:
                    best, lowest = second, cost
            previous, second = second, following[second]
        if best == NONE:
            left_over.append(first)
        else:
            mate[first], mate[best] = best, first
    _match_left_over(pool, mate, left_over)
    return mate


def _match_left_over(pool: _Pool, mate: list[int], left_over: Sequence[int]) -> None:
    """Match those whose next free ones were of their owner, then split pairs for the rest."""
    rank = {pool.bots[first].id: first for first in left_over}
    made = pair((pool.bots[first] for first in left_over), within=pool.within)
    for entry in made.pairings:
        first, second = rank[entry.chooser], rank[entry.opponent]
        mate[first], mate[second] = second, first
    rest = [rank[bot] for bot in made.waiting]  # of one owner, an even number
    if not rest:
        return
    owner = pool.bots[rest[0]]
    splittable = (
        first
        for first, second in enumerate(mate)
        if first < second
        and not owner.shares_owner_with(pool.bots[first])
        and not owner.shares_owner_with(pool.bots[second])
    )
    # Both ascend in rating; the field has at least as many such pairs as the rest needs.
    pairs = list(splittable)
    step = len(pairs) / (len(rest) // 2)
    for index in range(0, len(rest), 2):
        first = pairs[int(index // 2 * step)]
        second = mate[first]
        mate[first], mate[rest[index]] = rest[index], first
        mate[second], mate[rest[index + 1]] = rest[index + 1], second


def _repair(pool: _Pool, mate: list[int]) -> None:
    """Take apart the pairs that break a promise, where the bots around them allow it."""
    for needs_fresh in (True, False):
        for reach in _REACHES:
            broken = [
                first
                for first, second in enumerate(mate)
                if first < second and not pool.is_acceptable(first, second, needs_fresh=needs_fresh)
            ]
            if reach > _REACHES[0] and len(broken) > _WIDE_REPAIRS:
                break
            for first in broken:
                if not pool.is_acceptable(first, mate[first], needs_fresh=needs_fresh):
                    _repair_around(pool, mate, first, reach=reach, needs_fresh=needs_fresh)


def _repair_around(
    pool: _Pool, mate: list[int], first: int, *, reach: int, needs_fresh: bool
) -> None:
    """Match the bots around a pair again, keeping acceptable pairs as long as possible."""
    size = len(pool.bots)
    around: set[int] = set()
    for center in (first, mate[first]):
        around.update(range(max(0, center - reach), min(size, center + reach + 1)))
    ranks = sorted(around | {mate[rank] for rank in around})
    number = {rank: index for index, rank in enumerate(ranks)}
    neighbors = []
    for rank in ranks:
        others = [
            other
            for other in ranks
            if other != rank and pool.is_acceptable(rank, other, needs_fresh=needs_fresh)
        ]
        others.sort(key=partial(pool.cost, rank))
        neighbors.append([number[other] for other in others])
    start = [
        number[mate[rank]] if number[mate[rank]] in neighbors[number[rank]] else NONE
        for rank in ranks
    ]
    result = augment_matching(neighbors, start)
    free = [ranks[index] for index, other in enumerate(result) if other == NONE]
    if len(free) == start.count(NONE):
        return
    changed = {ranks[index]: ranks[other] for index, other in enumerate(result) if other != NONE}
    changed |= _pairs_of_free(pool, mate, free)
    # What is left free may be of one owner; then the field stays as it was.
    if len(changed) == len(ranks):
        for rank, other in changed.items():
            mate[rank] = other


def _pairs_of_free(pool: _Pool, mate: Sequence[int], free: Sequence[int]) -> dict[int, int]:
    """Match those that a repair left free: as they were, else with the nearest of another owner."""
    rank = {pool.bots[first].id: first for first in free if mate[first] not in free}
    made = pair((pool.bots[first] for first in rank.values()), within=pool.within)
    pairs = {first: mate[first] for first in free if mate[first] in free}
    for entry in made.pairings:
        first, second = rank[entry.chooser], rank[entry.opponent]
        pairs |= {first: second, second: first}
    return pairs
