"""Say why bots have no Bradley–Terry rating, and what would give them one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agon.kernel.ratings.pair_counts import PairCounts, names_text

_LISTED = 3
_BRIDGE = "rated after a tie, or a win and a loss, against a rated bot"


def reasons(counts: PairCounts, rated: npt.NDArray[np.bool_]) -> dict[int, str]:
    """Return the reason and the cure of every player who is not in the rated group.

    The rated group is strongly connected, so points between it and a player outside went one way.

    Args:
        counts: outcomes per pair.
        rated: whether each player is rated.

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> counts = count_pairs([0, 0, 2, 2], [1, 1, 0, 0], [1, 0, 1, 1], players=3)
        >>> reasons(counts, np.array([True, True, False]))
        {2: 'won all 2 matches; rated after a loss or a tie against a rated bot'}
    """
    points = counts.points()
    losses = counts.to_players(counts.wins_j, counts.wins_i)
    matches = counts.of_players()
    opposed = rated[counts.i] != rated[counts.j]
    met = counts.to_players(counts.matches * opposed, counts.matches * opposed)
    taken = counts.to_players(counts.wins_i * opposed, counts.wins_j * opposed)
    return {
        player: _reason(points[player], losses[player], matches[player], taken[player], met[player])
        for player in np.flatnonzero(~rated).tolist()
    }


def _reason(points: float, losses: float, matches: float, taken: float, met: float) -> str:
    if losses == 0:
        fact = f"won {_all(matches)}"
    elif points == 0:
        fact = f"lost {_all(matches)}"
    elif not met:
        fact = "has no match against a rated bot"
    elif taken:
        fact = f"won {_all(met)} against rated bots"
    else:
        fact = f"lost {_all(met)} against rated bots"
    if met:
        cure = "a loss or a tie" if taken else "a win or a tie"
        return f"{fact}; rated after {cure} against a rated bot"
    if 0 in (points, losses):
        fact += ", against no rated bot"
    return f"{fact}; {_BRIDGE}"


def _all(matches: float) -> str:
    return "its only match" if matches == 1 else f"all {matches:,.0f} matches"


def left_out_notes(counts: PairCounts, rated: PairCounts) -> tuple[str, ...]:
    """Return a note on the matches that no rating follows from; nothing where there are none.

    Args:
        counts: outcomes of all pairs.
        rated: of the pairs of rated players.

    Example:
        >>> from agon.kernel.ratings.pair_counts import count_pairs
        >>> counts = count_pairs([0, 0, 2, 2], [1, 1, 0, 0], [1, 0, 1, 1], players=3)
        >>> left_out_notes(counts, counts.select(np.array([True, True, False])))
        ('no rating follows from 2 of 4 matches, which are with bots without a rating',)
    """
    total, used = int(counts.matches.sum()), int(rated.matches.sum())
    if used == total:
        return ()
    left_out = f"{total - used:,} of {total:,} matches"
    return (f"no rating follows from {left_out}, which are with bots without a rating",)


def separate_groups(connected: npt.NDArray[np.int32], names: Sequence[str]) -> str | None:
    """Return a note that names groups of players who never met; None: there is one group.

    Args:
        connected: the number of each player's group.
        names: of the players.

    Example:
        >>> separate_groups(np.array([0, 0, 1]), ["ann", "bob", "cy"])
        '2 groups never met, so ranks say nothing between them: {ann, bob}, {cy}'
    """
    groups = np.unique(connected)
    if len(groups) <= 1:
        return None
    members = [np.flatnonzero(connected == group) for group in groups[:_LISTED]]
    listed = ", ".join(f"{{{names_text(group, names, most=_LISTED)}}}" for group in members)
    more = f" and {len(groups) - _LISTED} more" if len(groups) > _LISTED else ""
    return f"{len(groups)} groups never met, so ranks say nothing between them: {listed}{more}"
