"""Pair bots of similar rating for one round."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from agon.kernel.boards import id_order


@dataclass(frozen=True)
class Entrant:
    """A qualified bot that waits for an opponent; without an owner it is its own."""

    id: str
    rating: float
    owner_id: str | None = None

    def shares_owner_with(self, other: "Entrant") -> bool:
        """Return whether both belong to the same owner."""
        return self.owner_id is not None and self.owner_id == other.owner_id


@dataclass(frozen=True)
class Pairing:
    """Two opponents and how far apart they are.

    ``in_range`` is false where no bot was within the range and the nearest was taken instead.
    """

    chooser: str
    opponent: str
    distance: float
    in_range: bool


@dataclass(frozen=True)
class Pairings:
    """The pairings of one round, in the order they were made, and who waits."""

    pairings: tuple[Pairing, ...]
    waiting: tuple[str, ...]


def pair(bots: Iterable[Entrant], *, within: float, descending: bool = False) -> Pairings:
    """Pair bots: in order of rating, then id, each takes the nearest opponent still free.

    Every unmatched bot in that order takes the unmatched bot of another owner at the smallest
    rating distance, preferably within ``within`` (inclusive); with none in range the nearest at
    any distance; equal distances go to the lower id. Bots of one owner never play. Who is left
    over waits.

    All free bots are on one side of the choosing bot's rating, so the nearest is the first of
    another owner further along. The time is O(n log n).

    Args:
        bots: the qualified bots, in any order; ids are unique.
        within: preferred rating distance.
        descending: whether the highest rating chooses first.

    Source: document 003, Matchmaking; order and ties: spec arena, Matchmaking.

    Example:
        >>> bots = [Entrant("a", 1000), Entrant("b", 1150), Entrant("c", 1180), Entrant("d", 1900)]
        >>> [(p.chooser, p.opponent, p.in_range) for p in pair(bots, within=200).pairings]
        [('a', 'b', True), ('c', 'd', False)]
    """
    entrants = list(bots)
    place = id_order(pa.array([bot.id for bot in entrants], pa.string())).tolist()
    sign = -1 if descending else 1
    order = sorted(
        range(len(entrants)), key=lambda index: (sign * entrants[index].rating, place[index])
    )
    runs = _owner_runs(entrants[index] for index in order)
    runs.reverse()
    pairings = []
    while len(runs) > 1:
        first, second = runs.pop(), runs.pop()
        chooser, opponent = first.popleft(), second.popleft()
        distance = abs(chooser.rating - opponent.rating)
        pairings.append(Pairing(chooser.id, opponent.id, distance, distance <= within))
        if second:
            runs.append(second)
        elif first and runs and first[0].shares_owner_with(runs[-1][0]):
            # Only the first run grows, so each bot is moved at most once.
            first.extend(runs.pop())
        if first:
            runs.append(first)
    return Pairings(tuple(pairings), tuple(bot.id for run in runs for bot in run))


def _owner_runs(bots: Iterable[Entrant]) -> list[deque[Entrant]]:
    """Split bots into runs of consecutive ones of one owner.

    The first free bot of another owner than the first run's is then the first of the second run.
    """
    runs: list[deque[Entrant]] = []
    for bot in bots:
        if runs and bot.shares_owner_with(runs[-1][0]):
            runs[-1].append(bot)
        else:
            runs.append(deque([bot]))
    return runs
