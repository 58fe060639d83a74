"""Probes of ranks: which are apart, how few matches change the first, and what ties decide."""

from collections.abc import Callable
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.audits.board import AuditedBoard, answer, number_of, unknown
from agon.disciplines.arena.columns import two_digits
from agon.disciplines.arena.ratings.modeled import MAX_MODEL_BOTS
from agon.disciplines.arena.ratings.robustness import rank_robustness
from agon.errors import NotScorable
from agon.kernel.figures import Probe
from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.covariance import Covariance, sandwich_covariance
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.models import ModelRows, fit_model
from agon.kernel.ratings.separation import MANY
from agon.kernel.ratings.weighted_pairs import weigh_pairs

Numbers = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_Convention = tuple[Vector, Covariance | None]
"""Log-strengths by another convention of ties, and their covariance where it is known."""

_MOSTLY: Final = 0.5  # of the neighbors
_WIDE: Final = 400.0  # Elo: odds of ten to one
_FEW_MATCHES: Final = 0.001  # of all: so few that another week of votes has more
_COMPARED: Final = 500  # bots of the highest rating, among whom pairs are compared
_TRIADS: Final = 200  # bots among whom they are counted
_SIMULATIONS: Final = 400
_HALVINGS: Final = 12  # to a thousandth of a standard score
_SEED: Final = 20
_UPPER: Final = 0.998


def separation(board: AuditedBoard) -> Probe:
    """Say how many neighbors are apart: the ranks that the votes carry.

    Where not even a gap of ten to one would be seen, the votes are too few to say anything.
    """
    made = board.strengths.separation
    neighbors = len(made.gap)
    if not neighbors:
        return unknown("separation", "there is one rated bot, and none to compare it with")
    together, singly = int(made.apart.sum()), int(made.singly.sum())
    ranks = np.percentile(made.rank_high - made.rank_low + 1, 50, method="inverted_cdf")
    needed = float(np.median(made.needed))
    [whole] = two_digits(np.array([needed]))
    more = "more than a billion" if needed > MANY else f"{whole:,.0f}"
    widest = float(np.median(made.critical * made.error)) * board.rules.elo_scale / log(10.0)
    if not together and widest > _WIDE:
        return unknown(
            "separation",
            f"no neighbors are apart, and a gap of {_WIDE:.0f} would not be seen by so few matches "
            f"({float(board.strengths.counts.matches.sum()):,.0f})",
        )
    return answer(
        "separation",
        figure=together / neighbors,
        expected=_MOSTLY,
        is_fine=together >= _MOSTLY * neighbors,
        sentence=f"{together} of {neighbors} neighbors are apart together, {singly} singly "
        f"(fine: at least {_MOSTLY:.0%} together), in {number_of(int(made.tier.max()), 'tier')}; "
        f"half of the bots have at most {number_of(int(ranks), 'possible rank')}; the median gap "
        f"needs {more} more matches",
    )


def robustness(board: AuditedBoard) -> Probe:
    """Say how few matches put the second bot before the first."""
    arena = board.arena
    try:
        ranks = rank_robustness(board.facts, arena.ratings, board.strengths, board.rules, ranks=1)
    except NotScorable as error:
        return unknown("robustness", str(error))
    if not ranks:
        return unknown("robustness", "there is no second bot")
    [first] = ranks
    apart = bool(board.strengths.separation.apart[0])
    if first.matches is None or first.share is None:
        said = "" if apart else ", but the two are not apart"
        return answer(
            "robustness", figure=1.0, expected=_FEW_MATCHES, is_fine=apart,
            sentence=f"no number of matches was found that puts {first.next} before {first.bot}"
            f"{said}",
        )  # fmt: skip
    return answer(
        "robustness",
        figure=first.share,
        expected=_FEW_MATCHES,
        is_fine=first.share > _FEW_MATCHES and apart,
        sentence=f"{first.matches} of {len(board.match):,} matches decide the first rank: "
        f"without them {first.next} is before {first.bot}"
        f"{'' if apart else ', and the two are not apart'} (fine: more than {_FEW_MATCHES:.1%} of "
        "the matches, and bots that are apart)",
        records=first.left_out[:20],
    )


def ties(board: AuditedBoard) -> Probe:
    """Say whether the order of bots that are apart depends on what a tie counts.

    Ties are half a win here; they are left out, or are an outcome of their own by the model of
    Davidson (1970). A bot that ties most of its matches has little information of its own in a
    board where a tie is half a win, and much less rating than its wins say: so two bots are
    compared both here and where ties are left out, and count where either sets them apart.
    """
    tied = board.score == 0.5  # noqa: PLR2004 (the score of a tie)
    if not tied.any():
        return answer(
            "ties", figure=0, expected=0, is_fine=True, sentence="there are no ties"
        )  # fmt: skip
    if tied.all():
        return unknown("ties", "all matches are ties, so that there is no board without them")
    try:
        others = {"left out": _without_ties(board, tied), "by Davidson": _by_davidson(board)}
    except NotScorable as error:
        return unknown("ties", f"without the ties there is no board: {error}")
    separated = board.strengths.separation
    order = separated.order
    shown = order[:_COMPARED]
    upper, lower = (shown[each] for each in np.triu_indices(len(shown), 1))
    apart = _apart(board.theta, board.strengths.intervals.covariance, board, upper, lower)
    is_reversed = np.zeros(len(upper), dtype=bool)
    said = []
    for name, other in others.items():
        if other is None:
            continue
        strength, covariance = other
        moved = int((np.argsort(-strength, kind="stable") != order).sum())
        surely = apart
        if covariance is not None:
            surely = apart | _apart(strength, covariance, board, lower, upper)
        turned = surely & (strength[upper] < strength[lower])
        said.append(
            f"{name} they change {moved} of {len(order)} ranks and reverse "
            f"{number_of(int(turned.sum()), 'pair')} of bots that are apart"
            f"{'' if covariance is None else ' with them or without'}"
        )
        is_reversed |= turned
    return answer(
        "ties",
        figure=int(is_reversed.sum()),
        expected=0,
        is_fine=not is_reversed.any(),
        sentence=f"{tied.mean():.1%} of matches are ties; {', '.join(said)}",
        records=tuple(board.names[bot] for bot in np.unique(lower[is_reversed])),
    )


def _apart(
    theta: Vector, covariance: Covariance, board: AuditedBoard, upper: Numbers, lower: Numbers
) -> Flags:
    """Return which of the first bots are above the second ones, by the board's critical value."""
    error = np.sqrt(covariance.of_differences(upper, lower))
    above: Flags = theta[upper] - theta[lower] > board.strengths.separation.critical * error
    return above


def _without_ties(board: AuditedBoard, tied: Flags) -> _Convention:
    """Return the strengths where ties are left out, and their covariance.

    Raises:
        NotScorable: there are none.
    """
    weight = None if board.weight is None else board.weight[~tied]
    players = len(board.names)
    counts = weigh_pairs(
        board.a[~tied], board.b[~tied], board.score[~tied], weight, players=players
    )
    fit = bradley_terry(counts, names=board.names, regularization=_prior(board))
    if players > MAX_MODEL_BOTS:
        return fit.log_strength, None
    clusters = board.strengths.clusters
    if clusters is not None:
        clusters = clusters.select(clusters.score != 0.5)  # noqa: PLR2004 (the score of a tie)
    center = np.full(players, 1.0 / players)
    return fit.log_strength, sandwich_covariance(counts, fit, center=center, clusters=clusters)


def _by_davidson(board: AuditedBoard) -> _Convention | None:
    """Return the strengths where a tie is an outcome of its own; None: that cannot be fitted."""
    players = len(board.names)
    known = np.isin(board.score, (0.0, 0.5, 1.0))
    if players > MAX_MODEL_BOTS or not known.all():
        return None
    weight = np.ones(len(board.a)) if board.weight is None else board.weight
    # Equal rows are added up: strengths depend on their sums alone.
    cell = (board.a * players + board.b) * 3 + (2 * board.score).astype(np.int64)
    distinct, place = np.unique(cell, return_inverse=True)
    pair, outcome = np.divmod(distinct, 3)
    side_a, side_b = np.divmod(pair, players)
    rows = ModelRows(
        players,
        side_a,
        side_b,
        outcome / 2,
        np.bincount(place, weight).astype(np.float64),
        np.zeros((len(distinct), 0)),
    )
    try:
        fit = fit_model(rows, ties="davidson", regularization=_prior(board), start=board.theta)
    except NotScorable:
        return None
    return fit.strength, None  # equal rows are one here, so that the fit's covariance is not theirs


def cycles(board: AuditedBoard) -> Probe:
    """Say whether more triads are cyclic, or one is so more surely, than strengths explain.

    A triad is as sure as the least of its three results: |points of i − points of j| / √matches.
    One planted cycle hardly changes the number of them, and is far surer than chance makes any.
    """
    counts = board.strengths.counts
    size = min(counts.players, _TRIADS)
    shown = np.argsort(-counts.of_players(), kind="stable")[:size]
    place = np.full(counts.players, -1)
    place[shown] = np.arange(size)
    inner = (place[counts.i] >= 0) & (place[counts.j] >= 0)
    i, j = place[counts.i[inner]], place[counts.j[inner]]
    matches = counts.matches[inner].astype(np.int64)
    points = (counts.wins_i / counts.weights * counts.matches)[inner]
    met = _beats(i, j, np.ones(len(i), dtype=bool), size)
    met += met.T
    triads = float(np.vdot(met @ met, met)) / 6
    if not triads:
        return unknown("cycles", "no three bots have all met one another")

    def cyclic(won: Vector, sure: float) -> float:
        decided = np.abs(2 * won - matches) > sure * np.sqrt(matches)
        beats = _beats(i[decided], j[decided], (2 * won > matches)[decided], size)
        return float(np.vdot((beats @ beats).T, beats)) / 3

    observed = cyclic(points, 0.0)
    sure = _surest(lambda bound: cyclic(points, bound)) if observed else 0.0
    chance = logistic(board.theta[counts.i[inner]] - board.theta[counts.j[inner]])
    tied = counts.tied[inner]
    dice = np.random.default_rng(_SEED)
    simulated = np.empty(_SIMULATIONS)
    one_as_sure = not observed
    for number in range(_SIMULATIONS):
        drawn = dice.binomial((matches - tied).astype(np.int64), chance) + tied / 2
        simulated[number] = cyclic(drawn, 0.0)
        one_as_sure = one_as_sure or cyclic(drawn, sure) > 0
    low, high = np.quantile(simulated, [1 - _UPPER, _UPPER])
    sureness = (
        f"; the surest has z = {sure:.1f} or more in each of its results, and "
        f"{'some' if one_as_sure else 'none'} of {_SIMULATIONS} drawn boards has one as sure"
    )
    return answer(
        "cycles",
        figure=observed / triads,
        expected=simulated.mean() / triads,
        is_fine=observed <= high and one_as_sure,
        sentence=f"{observed:,.0f} of {triads:,.0f} triads are cyclic (a beats b, b beats c, c "
        f"beats a); the ratings explain {low:,.0f} to {high:,.0f}{sureness if observed else ''}",
    )


def _surest(cyclic: Callable[[float], float]) -> float:
    """Return the bound of a result's sureness at which no triad is cyclic any more, from below."""
    low, high = 0.0, 1.0
    while cyclic(high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if cyclic(middle) else (low, middle)
    return low


def _beats(i: Numbers, j: Numbers, i_won: Flags, size: int) -> npt.NDArray[np.float32]:
    """Return 1 where the bot of a row beat that of a column; single floats hold such counts."""
    beats = np.zeros((size, size), dtype=np.float32)
    beats[np.where(i_won, i, j), np.where(i_won, j, i)] = 1.0
    return beats


def _prior(board: AuditedBoard) -> float:
    return float(board.rules.bradley_terry_regularisation)
