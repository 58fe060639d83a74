"""Rate bots by Bradley–Terry on the same matches as Elo, in addition to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.boards import BRADLEY_TERRY, NO_MATCH, on_board
from agon.disciplines.arena.columns import two_digits
from agon.disciplines.arena.facts import Bots
from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.history import Standings
from agon.disciplines.arena.ratings.clusters import Verdicts, clusters_of
from agon.disciplines.arena.ratings.modeled import Model, fit_verdicts, is_modeled
from agon.disciplines.arena.ratings.unrated import left_out_notes, reasons, separate_groups
from agon.disciplines.arena.ratings.width_notes import width_notes
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry, rateable, to_elo
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import sandwich_covariance
from agon.kernel.ratings.intervals import (
    Intervals,
    Resampling,
    bootstrap_intervals,
    sandwich_intervals,
)
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.separation import ComparisonRule, Separation, separate
from agon.kernel.rounding import publish
from agon.kernel.text.captions import interval_caption

_SANDWICH_BOTS = 10_000  # whose matrices take 5 GB and, on one core, two minutes


@dataclass(frozen=True, eq=False)
class Strengths:
    """Published Bradley–Terry ratings with intervals; one row per rated bot.

    Attributes:
        bots: bot numbers, ascending.
        counts: outcomes per pair, players numbered by row.
        score, low, high: on the Elo scale; an open end is not a number.
        intervals: the method of the interval ends, and the covariance.
        separation: which ratings are apart.
        unrated: why bots with matches have no rating, by number.
        notes: what limits the ratings.
        clusters: which matches depend on one another; None: they do not.
        model: what was fitted besides strengths; None: nothing.
    """

    bots: Ints
    counts: PairCounts
    score: Vector
    low: Vector
    high: Vector
    intervals: Intervals
    separation: Separation
    unrated: Mapping[int, str]
    notes: tuple[str, ...]
    clusters: Clusters | None = None
    model: Model | None = None


@dataclass(frozen=True, eq=False)
class _RatedBots:
    """The rated bots, their pairs' outcomes, names and fit, and why others have no rating."""

    bots: Ints
    counts: PairCounts
    names: list[str]
    fit: BradleyTerry
    unrated: Mapping[int, str]


def strengths_of(
    everyone: Bots,
    standings: Standings,
    pairs: PairCounts,
    rules: ArenaRules,
    *,
    verdicts: Callable[[], Verdicts],
) -> Strengths:
    """Fit the strengths that make all rated matches together most likely (spec arena, Elo).

    Without a regularization they are those of the largest group of bots that has any; the others
    are unscored with the reason (spec ranking, Intervals and ranks 8).

    Args:
        everyone: all bots.
        standings: their matches.
        pairs: the outcomes of every pair of them.
        rules: of the fit and the intervals.
        verdicts: returns the rated matches one by one, with what they may depend on.

    Raises:
        NotScorable: when no bot has a finite rating and no regularization is set, naming
            the bots; or when the sandwich estimate for all bots does not fit into memory.
    """
    rated = _rate(everyone, standings, pairs, rules)
    center = _reference(rated, rules)
    row = np.full(len(everyone), -1)
    row[rated.bots] = np.arange(len(rated.bots))
    listed = verdicts() if is_modeled(rules) or rules.cluster != "none" else None
    clusters = None if listed is None else clusters_of(listed, rules, row=row)

    def fit(clusters: Clusters | None) -> tuple[Intervals, Model | None]:
        if listed is None or not is_modeled(rules):
            return _intervals(rated, center, rules, clusters), None
        start = rated.fit.log_strength
        return fit_verdicts(
            listed, rated.counts, rules, row=row, start=start, center=center, clusters=clusters
        )

    intervals, model = fit(clusters)
    notes = width_notes(intervals, rated.counts, clusters, alone=lambda: fit(None)[0])
    made = publish_strengths(rated.bots, rated.counts, intervals, rules, names=rated.names)
    if model is not None:
        notes = (*model.notes(rated.names, made.score), *notes)
    return replace(
        made,
        unrated=rated.unrated,
        clusters=clusters,
        model=model,
        notes=(*notes, *left_out_notes(pairs, rated.counts), *made.notes),
    )


def publish_strengths(
    bots: Ints,
    counts: PairCounts,
    intervals: Intervals,
    rules: ArenaRules,
    *,
    names: list[str],
    origin: float | None = None,
) -> Strengths:
    """Return ratings on the Elo scale with what their covariance says of ranks.

    Args:
        bots: the numbers of the rated bots.
        counts: outcomes per pair.
        intervals: of the log-strengths.
        rules: of the comparisons and the scale.
        names: of the rated bots.
        origin: the rating of the reference; None: the rule ``elo_start``.
    """
    never_lost, never_won = _one_sided(counts)
    score, low, high = (
        publish(
            to_elo(theta, scale=rules.elo_scale, mean=rules.elo_start if origin is None else origin)
        )
        for theta in (intervals.strength, intervals.low, intervals.high)
    )
    separation = separate(
        intervals.strength,
        intervals.covariance,
        order=np.lexsort((np.arange(len(score)), -score)),
        comparison=ComparisonRule(
            level=rules.confidence,
            simultaneous=rules.simultaneous,
            draws=rules.comparison_draws,
            seed=rules.bootstrap_seed,
        ),
        matches=float(counts.matches.sum()),
        never_lost=never_lost,
        never_won=never_won,
    )
    note = separate_groups(intervals.covariance.connected, names)
    return Strengths(
        bots,
        counts,
        score,
        np.where(never_won, np.nan, low),
        np.where(never_lost, np.nan, high),
        intervals,
        separation,
        {},
        () if note is None else (note,),
    )


def scores_of(
    everyone: Bots, standings: Standings, pairs: PairCounts, rules: ArenaRules
) -> tuple[Ints, Vector]:
    """Return the rated bots and their ratings, without intervals.

    Raises:
        NotScorable: when no bot has a finite rating and no regularization is set.
    """
    rated = _rate(everyone, standings, pairs, rules)
    strength = rated.fit.log_strength - _reference(rated, rules) @ rated.fit.log_strength
    return rated.bots, publish(to_elo(strength, scale=rules.elo_scale, mean=rules.elo_start))


def _rate(everyone: Bots, standings: Standings, pairs: PairCounts, rules: ArenaRules) -> _RatedBots:
    """Return the bots with a rating, their outcomes by pair, and the fit of both."""
    played = np.flatnonzero(standings.games)
    row = np.zeros(len(everyone), dtype=np.int32)
    row[played] = np.arange(len(played))
    counts = replace(pairs, players=len(played), i=row[pairs.i], j=row[pairs.j])
    bots, unrated = played, {}
    if rules.bradley_terry_regularisation == 0.0 and len(played):
        some = rateable(counts)
        if some.any() and not some.all():  # else the fit is of all, or says why there is none
            unrated = {
                int(played[index]): reason for index, reason in reasons(counts, some).items()
            }
            bots, counts = played[some], counts.select(some)
    names = [str(name) for name in everyone.ids.take(pa.array(bots)).to_pylist()]
    return _RatedBots(bots, counts, names, _fit(counts, names, rules), unrated)


def _fit(counts: PairCounts, names: list[str], rules: ArenaRules) -> BradleyTerry:
    try:
        return bradley_terry(counts, names=names, regularization=rules.bradley_terry_regularisation)
    except NotScorable as error:
        raise NotScorable(
            f"{error}. The rule is bradley_terry_regularisation, now "
            f"{rules.bradley_terry_regularisation:g}; the bots board needs none"
        ) from error


def _reference(rated: _RatedBots, rules: ArenaRules) -> Vector:
    """Return the weight of each bot in what has the rating ``elo_start`` (rule ``center``).

    Raises:
        NotScorable: the rule names a bot without a rating.
    """
    players = rated.counts.players
    if rules.center == "mean" or not players:
        return np.full(players, 1.0 / max(players, 1))
    if rules.center == "weighted":
        matches = rated.counts.of_players()
        return matches / matches.sum()
    if rules.center not in rated.names:
        raise NotScorable(
            f"center is {rules.center!r}, which is neither weighted nor mean nor a rated bot: "
            f"{did_you_mean(rules.center, rated.names)}",
            instead={"center": "weighted"},
        )
    return (np.arange(players) == rated.names.index(rules.center)).astype(np.float64)


def _intervals(
    rated: _RatedBots, center: Vector, rules: ArenaRules, clusters: Clusters | None
) -> Intervals:
    counts, fit = rated.counts, rated.fit
    few = counts.players <= _SANDWICH_BOTS
    if rules.interval == "bootstrap":
        return bootstrap_intervals(
            counts,
            fit,
            resampling=resampling_of(rules),
            center=center,
            floor=sandwich_covariance(counts, fit, center=center) if few else None,
            clusters=clusters,
        )
    if not few:
        raise NotScorable(
            f"sandwich intervals are computed for up to {_SANDWICH_BOTS:,} bots, and "
            f"{counts.players:,} are rated here: set interval=bootstrap, or rate fewer bots",
            instead={"interval": "bootstrap"},
        )
    return sandwich_intervals(counts, fit, level=rules.confidence, center=center, clusters=clusters)


def resampling_of(rules: ArenaRules) -> Resampling:
    """Return how matches are resampled for bootstrap intervals."""
    return Resampling(
        refits=rules.bootstrap_rounds, seed=rules.bootstrap_seed, level=rules.confidence
    )


def _one_sided(counts: PairCounts) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which players never lost a point, and which never won one."""
    points, losses = counts.points(), counts.to_players(counts.wins_j, counts.wins_i)
    return (points > 0) & (losses <= 0), (losses > 0) & (points <= 0)


def intervals_of(board: str, rules: ArenaRules) -> dict[str, Any] | None:
    """Return the method and level of a board's intervals, and which comparisons hold at once.

    None for a board without any.

    Example:
        >>> intervals_of("bradley-terry", ArenaRules())
        {'method': 'sandwich', 'confidence': 0.95, 'simultaneous': 'neighbours'}
    """
    if board != BRADLEY_TERRY:
        return None
    return {
        "method": rules.interval,
        "confidence": rules.confidence,
        "simultaneous": rules.simultaneous,
    }


def interval_context(board: Board, **intervals: Any) -> Board:
    """Return a board that names the method and level of its intervals, and its comparisons."""
    return replace(
        board,
        context={**board.context, "intervals": intervals},
        caption=interval_caption(**intervals),
    )


def strengths_board(
    bots: Bots, standings: Standings, strengths: Strengths, rules: ArenaRules
) -> Board:
    """Rank every rated bot by its Bradley–Terry rating; say of each whether it is apart."""
    separation = strengths.separation

    def spread(values: Any) -> Any:
        """Place values of rated bots at their numbers."""
        filled = np.zeros(len(bots), dtype=values.dtype)
        filled[strengths.bots] = values
        return filled

    def ends(values: Vector) -> pa.Array:
        filled = np.full(len(bots), np.nan)
        filled[strengths.bots] = values
        return pa.array(filled, mask=np.isnan(filled))

    def neighbors(values: Any) -> Any:
        """Place values of neighbors at the better one of both; the last bot has none."""
        filled = np.full(len(strengths.bots), np.nan)
        filled[separation.order[:-1]] = values
        return filled

    elo = rules.elo_scale / log(10.0)
    margin = separation.critical * separation.error
    known = np.isfinite(margin)
    apart = ends(neighbors(separation.apart))
    columns = {
        "low": ends(strengths.low),
        "high": ends(strengths.high),
        "rank_low": spread(separation.rank_low),
        "rank_high": spread(separation.rank_high),
        "tier": spread(separation.tier),
        "gap": ends(neighbors(publish(elo * separation.gap))),
        "gap_low": ends(neighbors(_publish_known(elo * (separation.gap - margin), known))),
        "gap_high": ends(neighbors(_publish_known(elo * (separation.gap + margin), known))),
        "apart": apart.cast(pa.bool_()),
        "votes_needed": ends(neighbors(two_digits(separation.needed))).cast(pa.int64()),
        **({} if strengths.model is None else strengths.model.columns(spread)),
        "matches": standings.games,
        "provisional": standings.of_version < rules.provisional_matches,
    }
    listed = np.zeros(len(bots), dtype=bool)
    listed[strengths.bots] = True
    why = [strengths.unrated.get(bot, NO_MATCH) for bot in range(len(bots))] if (
        strengths.unrated
    ) else NO_MATCH  # fmt: skip
    made = on_board(BRADLEY_TERRY, bots.ids, spread(strengths.score), columns, listed, why)
    made = replace(made, context=_context(bots, strengths))
    shown = intervals_of(BRADLEY_TERRY, rules)
    return interval_context(made, **(shown or {}))


def _context(bots: Bots, strengths: Strengths) -> dict[str, Any]:
    """Return how bots were compared, which matches depend on one another, and the model."""
    comparison = {
        "single": strengths.separation.single,
        "critical": strengths.separation.critical,
        "ranks": strengths.separation.rank_critical,
    }
    context: dict[str, Any] = {"comparison": comparison, "notes": list(strengths.notes)}
    if (clusters := strengths.clusters) is not None:
        context["clusters"] = {"by": clusters.by, "groups": list(clusters.groups)}
    if strengths.model is not None:
        names = [str(name) for name in bots.ids.take(pa.array(strengths.bots)).to_pylist()]
        context["model"] = strengths.model.to_dict(names, strengths.score)
    return context


def _publish_known(values: Vector, known: npt.NDArray[np.bool_]) -> Vector:
    """Return the known values on the published grid; the others are not numbers."""
    filled = np.full(len(values), np.nan)
    filled[known] = publish(values[known])
    return filled
