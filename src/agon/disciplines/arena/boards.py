"""Build the arena's boards from its history."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from agon.disciplines.arena.facts import API, Bots, Facts
from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.history import Credibilities, Standings
from agon.disciplines.arena.judges.pool import in_pool
from agon.disciplines.arena.judges.quality import Quality
from agon.disciplines.arena.rules import BOARDS, ArenaRules
from agon.kernel.boards import Board, UnscoredRow, ranking
from agon.kernel.rounding import publish

BOTS, JUDGES, BRADLEY_TERRY = BOARDS

NEVER_PLAYED = "has not qualified and has no rated match"
NO_MATCH = "has no rated match"
API_JUDGE = "is an API judge: it stands in when too few judges are eligible and has no credibility"


def bots_board(bots: Bots, rating: Vector, standings: Standings, rules: ArenaRules) -> Board:
    """Rank every qualified or playing bot by Elo rating; equal ratings share a rank."""
    games = standings.games
    listed = bots.qualified | (games > 0)
    rating = publish(rating)
    columns = {
        "rating": rating,
        "matches": games,
        "wins": standings.wins,
        "losses": standings.losses,
        "ties": standings.ties,
        "provisional": standings.of_version < rules.provisional_matches,
    }
    return on_board(BOTS, bots.ids, rating, columns, listed, NEVER_PLAYED)


def judges_board(
    facts: Facts,
    games: Ints,
    credibilities: Credibilities,
    quality: Quality,
    rules: ArenaRules,
) -> Board:
    """Rank every judge but API judges by credibility; equal credibilities share a rank.

    ``active`` is whether no obstacle keeps the judge from the pool, at the newest recorded time.
    ``agreement`` is the share of a judge's votes in rated matches that were with the consensus;
    ``kappa`` and ``accuracy`` are those of
    :class:`~agon.disciplines.arena.judges.quality.Quality`. They are empty where a judge has no
    such votes.
    """
    credibility = credibilities.credibility
    decided = credibilities.agreed + credibilities.disagreed
    share = publish(credibilities.agreed / np.maximum(decided, 1))
    columns = {
        "credibility": credibility,
        "active": in_pool(facts, games, credibilities, rules),
        "votes": credibilities.votes,
        "agreement": pa.array(share, mask=decided == 0),
        **quality.columns(len(facts.judges)),
    }
    listed = facts.judges.kind != API
    score = credibility.astype(np.float64)
    return on_board(JUDGES, facts.judges.ids, score, columns, listed, API_JUDGE)


def on_board(
    name: str,
    ids: pa.Array,
    score: Any,
    columns: dict[str, Any],
    listed: Any,
    otherwise: str | Sequence[str],
) -> Board:
    """Rank rows by score, highest first; those not on the board are unscored.

    Args:
        name: the board.
        ids: of all rows.
        score: of all rows.
        columns: of all rows, by name.
        listed: whether each row is on the board.
        otherwise: why a row is not: one reason for all, or one for each row.
    """
    listed_rows = np.flatnonzero(listed)
    names = ids.take(pa.array(listed_rows))
    order, ranks = ranking(names, [-score[listed_rows]], shared=True)
    rows = pa.array(listed_rows[order])
    table = pa.table(
        {
            "rank": ranks,
            "id": ids.take(rows),
            "score": score[listed_rows[order]],
            **{column: pa.array(values).take(rows) for column, values in columns.items()},
        }
    )
    left_out = np.flatnonzero(~listed).tolist()
    reasons = [otherwise if isinstance(otherwise, str) else otherwise[row] for row in left_out]
    unscored = map(UnscoredRow, ids.take(pa.array(left_out, pa.int64())).to_pylist(), reasons)
    return Board(name, table, tuple(unscored))
