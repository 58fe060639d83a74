"""Build the arena's boards from its history."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.facts import API, Bots, Facts
from agon.disciplines.arena.formulas import Vector
from agon.disciplines.arena.history import Credibilities, CredibilityEvent, Standings
from agon.disciplines.arena.quality import Quality
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
    facts: Facts, credibilities: Credibilities, quality: Quality, rules: ArenaRules
) -> Board:
    """Rank every judge but API judges by credibility; equal credibilities share a rank.

    ``agreement`` is the share of a judge's votes in rated matches that were with the consensus;
    ``kappa`` and ``accuracy`` are those of :class:`~agon.disciplines.arena.quality.Quality`. They
    are empty where a judge has no such votes.
    """
    credibility = credibilities.credibility
    decided = credibilities.agreed + credibilities.disagreed
    share = publish(credibilities.agreed / np.maximum(decided, 1))
    columns = {
        "credibility": credibility,
        "active": active_judges(credibilities, level=rules.credibility_active),
        "votes": credibilities.votes,
        "agreement": pa.array(share, mask=decided == 0),
        **quality.columns(len(facts.judges)),
    }
    listed = facts.judges.kind != API
    score = credibility.astype(np.float64)
    return on_board(JUDGES, facts.judges.ids, score, columns, listed, API_JUDGE)


def active_judges(credibilities: Credibilities, *, level: int) -> npt.NDArray[np.bool_]:
    """Return of every judge whether its credibility keeps it in the pool.

    It is at least ``level`` and never fell below, or an operator has reinstated the judge since: it
    does not return by votes (document 003, Credibility Score, Threshold). The same as
    :meth:`Credibilities.deactivation_of`, of all judges at once.
    """
    reinstated = credibilities.kind == CredibilityEvent.REINSTATED
    last = np.full(len(credibilities.credibility), -1)
    last[credibilities.judge[reinstated]] = np.flatnonzero(reinstated)  # events are in order
    fell = np.flatnonzero(~reinstated & (credibilities.after < level))
    active: npt.NDArray[np.bool_] = credibilities.credibility >= level
    active[credibilities.judge[fell[fell > last[credibilities.judge[fell]]]]] = False
    return active


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
