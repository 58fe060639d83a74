"""Probes of who met whom, and on which side: position, connectivity, coverage."""

from typing import Final

import numpy as np

from agon.disciplines.arena.audits.board import (
    SURPRISING_Z,
    AuditedBoard,
    answer,
    number_of,
    unknown,
)
from agon.kernel.figures import Probe
from agon.kernel.ratings.covariance import pair_matrix
from agon.kernel.ratings.likelihood import logistic

_LEAST_INFORMATION: Final = 1.0  # about four matches whose sides the pairs do not determine
_FEW_BRIDGES: Final = 10
_BRIDGE_SHARE: Final = 0.02  # of the matches of the smaller part
_MET: Final = 0.5
_UNEVEN: Final = 0.5


def position(board: AuditedBoard) -> Probe:
    """Say whether the side shown first wins more often than strengths explain.

    The score test of a common advantage of side a: what a took beyond its chances, over its
    standard deviation given the strengths.
    """
    counts, chance = board.strengths.counts, board.chance
    spread = chance * (1.0 - chance)
    effect = np.bincount(board.a, spread, counts.players) - np.bincount(
        board.b, spread, counts.players
    )
    wins = logistic(board.theta[counts.i] - board.theta[counts.j])
    bread = pair_matrix(counts, counts.matches * wins * (1.0 - wins), np.zeros(counts.players))
    information = float(spread.sum() - effect @ np.linalg.pinv(bread) @ effect)
    if information < _LEAST_INFORMATION:
        return unknown(
            "position",
            "the same bot of a pair is always on side a, so that strength and side cannot be told "
            "apart",
        )
    excess = float((board.score - chance).sum())
    z = excess / np.sqrt(information)
    share = float(board.score.mean())
    return answer(
        "position",
        figure=share,
        expected=float(chance.mean()),
        is_fine=abs(z) <= SURPRISING_Z,
        sentence=f"side a took {share:.1%} of the points, and {chance.mean():.1%} are expected "
        f"(advantage {excess / information:+.2f} in log-odds, z = {z:+.2f}; fine within "
        f"±{SURPRISING_Z:.2f}, not ±1.96, as all probes look at the same board)",
    )


def connectivity(board: AuditedBoard) -> Probe:
    """Say whether all bots are rated, and whether few matches hold two parts together."""
    strengths = board.strengths
    unrated = strengths.unrated
    ids = board.facts.bots.ids
    counts = strengths.counts
    if unrated:
        names = tuple(str(ids[bot]) for bot in sorted(unrated))
        return answer(
            "connectivity", figure=len(unrated), expected=0, is_fine=False,
            sentence=f"{number_of(len(unrated), 'bot')} with matches without a rating; the first: "
            f"{names[0]} {unrated[min(unrated)]}",
            records=names,
        )  # fmt: skip
    groups = strengths.intervals.covariance.connected
    if len(sizes := np.bincount(groups)) > 1:
        rest = np.flatnonzero(groups != sizes.argmax())
        return answer(
            "connectivity", figure=0, expected=_FEW_BRIDGES, is_fine=False,
            sentence=f"{len(sizes)} groups of bots never met: nothing is known of a rank between "
            "them",
            records=tuple(board.names[row] for row in rest),
        )  # fmt: skip
    if counts.players <= 3:  # noqa: PLR2004 (no two parts of two bots each)
        return answer(
            "connectivity", figure=0, expected=0, is_fine=True, sentence="all bots are connected"
        )
    laplacian = pair_matrix(counts, counts.matches.astype(np.float64), np.zeros(counts.players))
    part = np.linalg.eigh(laplacian)[1][:, 1] > 0  # the weakest cut, by Fiedler's vector
    across = part[counts.i] != part[counts.j]
    bridges = float(counts.matches[across].sum())
    inside = [
        float(counts.matches[(part[counts.i] == side) & ~across].sum()) for side in (True, False)
    ]
    enough = min(max(_FEW_BRIDGES, _BRIDGE_SHARE * min(inside)), *inside)
    weak = bridges < enough
    smaller = np.flatnonzero(part if part.sum() <= len(part) / 2 else ~part)
    return answer(
        "connectivity",
        figure=bridges,
        expected=enough,
        is_fine=not weak,
        sentence=f"{bridges:,.0f} matches hold the two parts of the weakest cut together, with "
        f"{inside[0]:,.0f} and {inside[1]:,.0f} inside (fine: at least {enough:,.0f})",
        records=tuple(board.names[row] for row in smaller) if weak else (),
    )


def coverage(board: AuditedBoard) -> Probe:
    """Say how many pairs met, and how evenly matches are spread over bots."""
    counts = board.strengths.counts
    pairs = counts.players * (counts.players - 1) / 2
    met = len(counts) / pairs if pairs else 1.0
    played = np.sort(counts.of_players())
    ranks = np.arange(1, len(played) + 1)
    gini = float((2 * ranks - len(played) - 1) @ played / (len(played) * played.sum()))
    least = int(np.argmin(counts.of_players()))
    return answer(
        "coverage",
        figure=met,
        expected=1.0,
        is_fine=met >= _MET and gini <= _UNEVEN,
        sentence=f"{met:.0%} of {pairs:,.0f} pairs met; the Gini coefficient of matches per bot is "
        f"{gini:.2f}, with {played[0]:,.0f} to {played[-1]:,.0f} matches (fine: at least "
        f"{_MET:.0%} of pairs, and a coefficient of at most {_UNEVEN:.2f})",
        records=(board.names[least],),
    )
