"""Check whether the matches determine a rating, and name the players who prevent it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import COMPILED_FROM, compiled
from agon.kernel.ratings.pair_counts import PairCounts, named


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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i_scored = counts.won_i + counts.tied > 0
    j_scored = counts.won_j + counts.tied > 0
    if len(counts) >= COMPILED_FROM and compiled(_joined)(
        counts.i, counts.j, i_scored & j_scored, np.arange(counts.players)
    ):
        return 1, np.zeros(counts.players, dtype=np.int32)
    winners = np.concatenate([counts.i[i_scored], counts.j[j_scored]])
    losers = np.concatenate([counts.j[i_scored], counts.i[j_scored]])
    beaten = coo_array(
        (np.ones(len(winners), dtype=np.int8), (winners, losers)),
        shape=(counts.players, counts.players),
    )
    groups, group = connected_components(beaten.tocsr(), directed=True, connection="strong")
    return int(groups), group


def _joined(i: Any, j: Any, both_scored: Any, leader: Any) -> bool:
    """Return whether pairs in which both scored connect all players: the common, cheap case."""
    apart = len(leader) - 1
    for pair in range(len(i)):
        if both_scored[pair]:
            first, second = i[pair], j[pair]
            while leader[first] != first:
                leader[first] = leader[leader[first]]
                first = leader[first]
            while leader[second] != second:
                leader[second] = leader[leader[second]]
                second = leader[second]
            if first != second:
                leader[max(first, second)] = min(first, second)
                apart -= 1
                if apart == 0:
                    return True
    return apart <= 0


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
    points = np.bincount(counts.i, counts.wins_i, counts.players) + np.bincount(
        counts.j, counts.wins_j, counts.players
    )
    losses = np.bincount(counts.i, counts.wins_j, counts.players) + np.bincount(
        counts.j, counts.wins_i, counts.players
    )
    facts = [
        ("never played", (points == 0) & (losses == 0)),
        ("never lost a point", (points > 0) & (losses == 0)),
        ("never won a point", (points == 0) & (losses > 0)),
    ]
    reasons = [
        f"{named(np.flatnonzero(players), names)} {fact}"
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
            f"one of them {{{named(smallest, names)}}}"
        )
    return "; ".join(reasons)
