"""Pair bots of similar rating for one round."""

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
class Round:
    """The pairings of one round, in the order they were made, and who waits."""

    pairings: tuple[Pairing, ...]
    waiting: tuple[str, ...]


def pair(bots: Iterable[Entrant], *, within: float, descending: bool = False) -> Round:
    """Pair bots: in order of rating, then id, each takes the nearest opponent still free.

    Every unmatched bot in that order takes the unmatched bot of another owner at the smallest
    rating distance, preferably within ``within`` (inclusive); with none in range the nearest at
    any distance; equal distances go to the lower id. Bots of one owner never play. Who is left
    over waits.

    All free bots are on one side of the choosing bot's rating, so the nearest is the first of
    another owner further along.

    Args:
        bots: the qualified bots, in any order; ids are unique.
        within: preferred rating distance.
        descending: whether the highest rating chooses first.

    Source: seed 003, Matchmaking; order and ties: spec arena, Matchmaking.

    Example:
        >>> bots = [Entrant("a", 1000), Entrant("b", 1150), Entrant("c", 1180), Entrant("d", 1900)]
        >>> [(p.chooser, p.opponent, p.in_range) for p in pair(bots, within=200).pairings]
        [('a', 'b', True), ('c', 'd', False)]
    """
    remaining = list(bots)
    place = id_order(pa.array([bot.id for bot in remaining], pa.string())).tolist()
    sign = -1 if descending else 1
    order = sorted(range(len(remaining)), key=lambda at: (sign * remaining[at].rating, place[at]))
    free = [remaining[at] for at in order]
    pairings, waiting = [], []
    while free:
        chooser = free.pop(0)
        at = next((i for i, bot in enumerate(free) if not chooser.shares_owner_with(bot)), None)
        if at is None:
            waiting.append(chooser.id)
            continue
        opponent = free.pop(at)
        distance = abs(chooser.rating - opponent.rating)
        pairings.append(Pairing(chooser.id, opponent.id, distance, distance <= within))
    return Round(tuple(pairings), tuple(waiting))
