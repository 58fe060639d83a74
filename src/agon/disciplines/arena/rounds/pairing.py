"""Pair the bots of a round by the rule ``pairing``."""

from collections.abc import Iterable, Mapping

import numpy as np

from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.formulas import NONE
from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairings, pair
from agon.disciplines.arena.rounds.spread import History, PastRound, histories_of, pair_spread
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


def recorded_histories(facts: Facts) -> dict[str, History]:
    """Return the histories that records of matches show.

    Matches with one ``played_at`` are a round. Who waited is not recorded, and a honeypot's record
    names one of the two bots, so a live arena keeps its rounds and uses
    :func:`agon.disciplines.arena.rounds.spread.histories_of`.
    """
    matches = facts.matches
    names = [str(name) for name in facts.bots.ids.to_pylist()]
    both = np.flatnonzero((matches.bot_a != NONE) & (matches.bot_b != NONE))
    rounds: dict[int, list[tuple[str, str]]] = {}
    for played, a, b in zip(
        matches.played[both].tolist(),
        matches.bot_a[both].tolist(),
        matches.bot_b[both].tolist(),
        strict=True,
    ):
        rounds.setdefault(played, []).append((names[a], names[b]))
    return histories_of(PastRound(pairs) for _, pairs in sorted(rounds.items()))
