"""Compute intervals of Elo ratings from resampled arenas."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.history import elo_fold
from agon.disciplines.arena.ratings.strengths import interval_context
from agon.disciplines.arena.scoring import ScoredArena
from agon.kernel.boards import Board
from agon.kernel.progress import count_steps
from agon.kernel.ratings.elo import EloState
from agon.kernel.rounding import publish


def with_elo_intervals(board: Board, arena: ScoredArena) -> Board:
    """Return a board of Elo ratings with the ends of their intervals."""
    low, high = _elo_intervals(arena)
    rows = pc.index_in(board.table["id"], value_set=arena.bots.ids).to_numpy()
    index = board.table.column_names.index("score") + 1
    table = board.table.add_column(index, "low", pa.array(publish(low[rows])))
    table = table.add_column(index + 1, "high", pa.array(publish(high[rows])))
    made = Board(board.name, table, board.unscored, board.places)
    return interval_context(made, method="bootstrap", confidence=arena.rules.confidence)


def _elo_intervals(arena: ScoredArena) -> tuple[Any, Any]:
    """Return the two percentiles of every bot's rating over resampled arenas."""
    rules, ratings = arena.rules, arena.ratings
    points = ratings.score
    dice = np.random.default_rng(rules.bootstrap_seed)
    samples = np.empty((rules.bootstrap_rounds, len(ratings.rating)))
    for sample in count_steps(samples, label="resampling", total=len(samples)):
        drawn = np.sort(dice.integers(0, max(len(points), 1), len(points)))
        fresh = EloState.fresh(len(ratings.rating), start=rules.elo_start)
        played = elo_fold(fresh, ratings.a[drawn], ratings.b[drawn], points[drawn], rules)
        sample[:] = played.state.ratings
    tail = 50 * (1 - rules.confidence)
    low, high = np.percentile(samples, [tail, 100 - tail], axis=0)
    return low, high
