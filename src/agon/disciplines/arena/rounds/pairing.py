"""Pair the bots of a round by the rule ``pairing``."""

from collections.abc import Iterable, Mapping

from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairings, pair
from agon.disciplines.arena.rounds.spread import History, pair_spread
from agon.disciplines.arena.rules import ArenaRules


def pair_by_rules(
    bots: Iterable[Entrant], *, histories: Mapping[str, History], rules: ArenaRules
) -> Pairings:
    """Return the pairings of a round by the rules.

    Args:
        bots: the qualified bots that are present, in any order.
        histories: their past rounds; only ``pairing = spread`` depends on them.
        rules: ``pairing``, ``matchmaking_range``, ``matchmaking_order``.
    """
    if rules.pairing == "spread":
        return pair_spread(bots, histories=histories, within=rules.matchmaking_range)
    return pair(
        bots,
        within=rules.matchmaking_range,
        descending=rules.matchmaking_order == "descending",
    )
