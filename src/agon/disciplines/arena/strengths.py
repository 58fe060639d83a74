"""Rate bots by Bradley–Terry on the same matches as Elo, in addition to it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agon.disciplines.arena.boards import BRADLEY_TERRY, NO_MATCH, on_board
from agon.disciplines.arena.facts import Bots
from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.history import Standings
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.boards import Board
from agon.kernel.captions import interval_caption
from agon.kernel.explanations import Explanation, Part
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry
from agon.kernel.ratings.elo import expected_score
from agon.kernel.ratings.intervals import (
    Intervals,
    bootstrap_intervals,
    rank_groups,
    sandwich_intervals,
)
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.rounding import publish

_SANDWICH_BOTS = 5000  # above it the matrices of the sandwich take minutes and gigabytes


@dataclass(frozen=True, eq=False)
class Strengths:
    """Published Bradley–Terry ratings with intervals; one row per bot with a rated match.

    Attributes:
        bots: bot numbers, ascending.
        counts: outcomes per pair, players numbered by row.
        score, low, high: on the Elo scale, with mean ``elo_start``.
        rank_low, rank_high: best and worst rank the intervals allow.
        intervals: the method of the interval ends.
    """

    bots: Ints
    counts: PairCounts
    score: Vector
    low: Vector
    high: Vector
    rank_low: Ints
    rank_high: Ints
    intervals: Intervals


def strengths_of(
    everyone: Bots, standings: Standings, pairs: PairCounts, rules: ArenaRules
) -> Strengths:
    """Fit the strengths that make all rated matches together most likely (spec arena, Elo).

    Args:
        everyone: all bots.
        standings: their matches.
        pairs: the outcomes of every pair of them.
        rules: of the fit and the intervals.

    Raises:
        NotScorable: when no finite rating fits best and no regularization is set, naming
            the bots; or when the sandwich estimate for all bots does not fit into memory.
    """
    bots, counts, fit = _fit_of_bots(everyone, standings, pairs, rules)
    intervals = _intervals(counts, fit, rules)
    low, high = intervals.elo(scale=rules.elo_scale, mean=rules.elo_start)
    low, high = publish(low), publish(high)
    ranks = rank_groups(low, high)
    score = publish(fit.elo(scale=rules.elo_scale, mean=rules.elo_start))
    return Strengths(bots, counts, score, low, high, ranks.rank_low, ranks.rank_high, intervals)


def scores_of(
    everyone: Bots, standings: Standings, pairs: PairCounts, rules: ArenaRules
) -> tuple[Ints, Vector]:
    """Return the bots with a rated match and their ratings, without intervals.

    Raises:
        NotScorable: when no finite rating fits best and no regularization is set.
    """
    bots, _, fit = _fit_of_bots(everyone, standings, pairs, rules)
    return bots, publish(fit.elo(scale=rules.elo_scale, mean=rules.elo_start))


def _fit_of_bots(
    everyone: Bots, standings: Standings, pairs: PairCounts, rules: ArenaRules
) -> tuple[Ints, PairCounts, BradleyTerry]:
    """Return the bots with a rated match, their outcomes by pair, and the fit of both."""
    bots = np.flatnonzero(standings.games)
    row = np.zeros(len(everyone), dtype=np.int32)
    row[bots] = np.arange(len(bots))
    counts = replace(pairs, players=len(bots), i=row[pairs.i], j=row[pairs.j])
    names = [str(name) for name in everyone.ids.take(bots).to_pylist()]
    return bots, counts, _fit(counts, names, rules)


def _fit(counts: PairCounts, names: list[str], rules: ArenaRules) -> BradleyTerry:
    try:
        return bradley_terry(counts, names=names, regularization=rules.bradley_terry_regularisation)
    except NotScorable as error:
        raise NotScorable(
            f"{error}. The rule is bradley_terry_regularisation, now "
            f"{rules.bradley_terry_regularisation:g}; the bots board needs none"
        ) from error


def _intervals(counts: PairCounts, fit: BradleyTerry, rules: ArenaRules) -> Intervals:
    if rules.interval == "bootstrap":
        return bootstrap_intervals(
            counts,
            fit,
            refits=rules.bootstrap_rounds,
            seed=rules.bootstrap_seed,
            level=rules.confidence,
        )
    if counts.players > _SANDWICH_BOTS:
        raise NotScorable(
            f"sandwich intervals of {counts.players:,} bots need too much memory: "
            "set interval=bootstrap"
        )
    return sandwich_intervals(counts, fit, level=rules.confidence)


def intervals_of(board: str, rules: ArenaRules) -> dict[str, Any] | None:
    """Return the method and level of a board's intervals; None for a board without any.

    Example:
        >>> intervals_of("bradley-terry", ArenaRules())
        {'method': 'sandwich', 'confidence': 0.95}
    """
    if board != BRADLEY_TERRY:
        return None
    return {"method": rules.interval, "confidence": rules.confidence}


def interval_context(board: Board, *, method: str, confidence: float) -> Board:
    """Return a board that names the method and level of its intervals."""
    return replace(
        board,
        context={"intervals": {"method": method, "confidence": confidence}},
        caption=interval_caption(method=method, confidence=confidence),
    )


def strengths_board(
    bots: Bots, standings: Standings, strengths: Strengths, rules: ArenaRules
) -> Board:
    """Rank every bot with a rated match by its Bradley–Terry rating."""
    games = standings.games

    def spread(values: Any) -> Any:
        filled = np.zeros(len(bots), dtype=values.dtype)
        filled[strengths.bots] = values
        return filled

    columns = {
        "low": spread(strengths.low),
        "high": spread(strengths.high),
        "rank_low": spread(strengths.rank_low),
        "rank_high": spread(strengths.rank_high),
        "matches": games,
        "provisional": standings.of_version < rules.provisional_matches,
    }
    score = spread(strengths.score)
    made = on_board(BRADLEY_TERRY, bots.ids, score, columns, games > 0, NO_MATCH)
    return interval_context(made, method=rules.interval, confidence=rules.confidence)


def explain_strength(
    bot: int, *, board: Board, bots: Bots, strengths: Strengths, rules: ArenaRules
) -> Explanation:
    """Explain a Bradley–Terry rating: at it, points expected equal points taken."""
    name = str(bots.ids[bot])
    mean = Part(
        "mean",
        rules.elo_start,
        {},
        {"elo_start": rules.elo_start},
        f"The ratings of all bots have mean {rules.elo_start:g}.",
    )
    row = int(np.searchsorted(strengths.bots, bot))
    if row == len(strengths.bots) or strengths.bots[row] != bot:
        missing = Part("strength", 0.0, {"matches": 0}, {}, "No match.", missing=_first(rules))
        return Explanation(BRADLEY_TERRY, name, None, None, (mean, missing), reason=NO_MATCH)
    opponents = _opponents(row, bots, strengths, rules)
    matches = sum(opponent["matches"] for opponent in opponents)
    points = sum(opponent["points"] for opponent in opponents)
    expected = publish(sum(opponent["expected"] for opponent in opponents))
    score = float(strengths.score[row])
    prior = rules.bradley_terry_regularisation
    strength = Part(
        "strength",
        publish(score - rules.elo_start),
        {"matches": matches, "opponents": len(opponents), "points": points, "expected": expected},
        {"elo_scale": rules.elo_scale, "bradley_terry_regularisation": prior},
        f"Took {points:g} points in {matches} matches against {len(opponents)} opponents; at "
        f"{score:.0f} it is expected to take {expected:.4g}"
        + (f", pulled to the mean by {prior:g} tied matches." if prior else "."),
    )
    board_row = board.row(name)
    context = {key: board_row[key] for key in ("low", "high", "rank_low", "rank_high")}
    context["opponents"] = opponents
    return Explanation(
        BRADLEY_TERRY,
        name,
        board_row["rank"],
        board_row["score"],
        (mean, strength),
        notes=(_interval_note(board_row, strengths, rules),),
        context=context,
    )


def _first(rules: ArenaRules) -> str:
    """Return what a bot without matches needs for a finite rating."""
    if rules.bradley_terry_regularisation > 0:
        return "one rated match"
    return "one rated tie, or a rated win and a rated loss, against a bot with a rating"


def _opponents(
    row: int, bots: Bots, strengths: Strengths, rules: ArenaRules
) -> list[dict[str, Any]]:
    """Return a bot's opponents with the number of matches, actual and expected points."""
    counts = strengths.counts
    listed = []
    for side, opponent, score in (
        (counts.i, counts.j, counts.wins_i),
        (counts.j, counts.i, counts.wins_j),
    ):
        for pair in np.flatnonzero(side == row).tolist():
            against = int(opponent[pair])
            chance = expected_score(
                float(strengths.score[row]),
                float(strengths.score[against]),
                scale=rules.elo_scale,
            )
            matches = int(counts.matches[pair])
            listed.append(
                {
                    "opponent": str(bots.ids[int(strengths.bots[against])]),
                    "matches": matches,
                    "points": float(score[pair]),
                    "expected": publish(matches * chance),
                }
            )
    return sorted(listed, key=lambda item: (-item["matches"], item["opponent"]))


def _interval_note(row: dict[str, Any], strengths: Strengths, rules: ArenaRules) -> str:
    note = (
        f"{rules.confidence:.4g} confidence ({rules.interval}): {row['low']:.0f} to "
        f"{row['high']:.0f}, rank {row['rank_low']} to {row['rank_high']}"
    )
    intervals = strengths.intervals
    if intervals.separated:
        note += (
            f"; {intervals.separated} of {intervals.refits} resamples had no finite optimum and "
            f"were fitted with {intervals.separated_regularization:g} tied matches against the mean"
        )
    return note
