"""Rate the bots of an arena by a named method, with confidence intervals on request."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.app.analysis.score import Result, score
from agon.kernel.boards import Board
from agon.kernel.rounding import publish
from agon.records import Records

METHODS = ("elo", "bradley-terry")
_BOARDS = {"elo": "bots", "bradley-terry": "bradley-terry"}
_INTERVAL = ("low", "high", "rank_low", "rank_high")


def rate(
    records: Records | str | Path,
    *,
    method: str = "elo",
    ci: bool = False,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
) -> tuple[Result, Board]:
    """Return the scored records and the board of one method, with or without intervals.

    Bradley–Terry intervals are those of its board. Elo's are percentiles of the ratings of
    ``bootstrap_rounds`` arenas, each of as many matches drawn with replacement from the rated
    ones and played in the same order; the matches' order is taken as given, so the interval is
    about opponents and outcomes, at the level of the rule ``confidence``.

    Raises:
        NotFound, InvalidRule, InvalidRecords, NotScorable: as ``score`` does.
    """
    result = score("arena", records, edition=edition, overrides=overrides, as_of=as_of)
    board = result.board(_BOARDS[method])
    if method == "elo":
        return result, _with_elo_intervals(result, board) if ci else board
    if ci:
        return result, board
    table = board.table.select([n for n in board.table.column_names if n not in _INTERVAL])
    return result, Board(board.name, table, board.unscored, board.places)


def _with_elo_intervals(result: Result, board: Board) -> Board:
    low, high = _elo_intervals(result)
    names = result.scored.facts.bots.ids  # type: ignore[attr-defined]  # the Scored of the arena
    rows = pc.index_in(board.table["id"], value_set=names).to_numpy()
    at = board.table.column_names.index("score") + 1
    table = board.table.add_column(at, "low", pa.array(publish(low[rows])))
    table = table.add_column(at + 1, "high", pa.array(publish(high[rows])))
    return Board(board.name, table, board.unscored, board.places)


def _elo_intervals(result: Result) -> tuple[Any, Any]:
    """Return the two percentiles of every bot's rating over resampled arenas."""
    from agon.disciplines.arena.formulas import score_of
    from agon.disciplines.arena.rules import ArenaRules
    from agon.kernel.ratings.elo import EloState, fold

    rules = result.rules
    if not isinstance(rules, ArenaRules):
        raise TypeError("an arena is scored under arena rules")
    ratings = result.scored.ratings  # type: ignore[attr-defined]  # the Scored of the arena
    points = score_of(ratings.result)
    dice = np.random.default_rng(rules.bootstrap_seed)
    samples = np.empty((rules.bootstrap_rounds, len(ratings.rating)))
    for sample in samples:
        drawn = np.sort(dice.integers(0, max(len(points), 1), len(points)))
        sample[:] = fold(
            EloState.fresh(len(ratings.rating), start=rules.elo_start),
            ratings.a[drawn],
            ratings.b[drawn],
            points[drawn],
            k_new=rules.k_new,
            k_established=rules.k_established,
            games_established=rules.games_established,
            scale=rules.elo_scale,
            start=rules.elo_start,
            round_changes=rules.round_changes,
        ).state.ratings
    tail = 50 * (1 - rules.confidence)
    low, high = np.percentile(samples, [tail, 100 - tail], axis=0)
    return low, high
