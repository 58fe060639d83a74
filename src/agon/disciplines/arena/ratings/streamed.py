"""Rate matches without votes batch by batch: what is kept grows with bots and pairs only.

Ratings and counts of pairs are the same, to the last bit, as those of all matches in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from agon.disciplines.arena.facts import (
    UNKNOWN_TIME,
    Bots,
    Codes,
    Micros,
    Numbers,
    code_sql,
    numbers_of,
)
from agon.disciplines.arena.formulas import NONE, Ints, Vector, score_of
from agon.disciplines.arena.history import Standings, count_results, elo_fold, final_of
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.ratings.elo import EloState
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs, merge_pairs
from agon.records import Records

MIN_MATCHES = 2_000_000
"""Number of matches from which they are not held in memory; explanations hold them anyway."""

_BATCH = 1 << 20  # matches

_ORDER_OF_TEXT = (
    "CASE WHEN regexp_full_match(id, '0|-?[1-9][0-9]{0,17}') THEN id::BIGINT END NULLS LAST, id"
)
"""The order of :func:`agon.kernel.boards.id_order` in SQL; ids that are integers are in theirs."""


class _OutOfOrder(Exception):
    """A match was played before the one that precedes it in the source."""


@dataclass(frozen=True, eq=False)
class _RatedMatches:
    """Rated matches with a result, as parallel columns."""

    played: Micros
    a: Numbers
    b: Numbers
    result: Codes


def is_large(records: Records) -> bool:
    """Return whether an arena has many matches, and neither votes nor shares nor weights."""
    return (
        records.count("matches") >= MIN_MATCHES
        and not records.count("votes")
        and not has_any(records, "score_a", "weight")
    )


def has_clusters(records: Records) -> bool:
    """Return whether any match names its prompt or its judge."""
    return has_any(records, "prompt_id", "judge")


def has_any(records: Records, *names: str) -> bool:
    """Return whether any match has a value in one of some columns."""
    columns = records.sql("SELECT * FROM matches LIMIT 0").column_names
    named = " OR ".join(f"{name} IS NOT NULL" for name in names if name in columns)
    return bool(named and len(records.sql(f"SELECT 1 FROM matches WHERE {named} LIMIT 1")))


def fold_matches(records: Records, bots: Bots, rules: ArenaRules) -> tuple[Vector, Standings]:
    """Return ratings and results by matches in order of play; others are sorted, on disk."""
    try:
        return _fold(records, bots, rules, "")
    except _OutOfOrder:
        order = "id" if records.is_integer("matches", "id") else _ORDER_OF_TEXT
        return _fold(records, bots, rules, f"ORDER BY played, {order}")


def count_matches(records: Records, bots: Bots, rules: ArenaRules) -> tuple[PairCounts, Standings]:
    """Return the outcomes of every pair of bots, and what they come to for each bot."""
    counts = count_pairs([], [], [], players=len(bots))
    of_version = np.zeros(len(bots), dtype=np.int64)
    for batch in _read(records, ""):
        rated = _rated_matches(batch, bots, rules)
        more = count_pairs(rated.a, rated.b, score_of(rated.result), players=len(bots))
        counts = merge_pairs(counts, more)
        of_version += _of_version(rated, bots)
    return counts, Standings(*counts.results(), of_version)


def _fold(records: Records, bots: Bots, rules: ArenaRules, order: str) -> tuple[Vector, Standings]:
    """Fold the matches, which must be in order of play if no order is stated."""
    state = EloState.fresh(len(bots), start=rules.elo_start)
    results = np.zeros((3, len(bots)), dtype=np.int64)
    of_version = np.zeros(len(bots), dtype=np.int64)
    last: pa.RecordBatch | None = None
    for batch in _read(records, order):
        if not order:
            _require_order(last, batch)
            last = batch.slice(len(batch) - 1)
        rated = _rated_matches(batch, bots, rules)
        state = elo_fold(state, rated.a, rated.b, score_of(rated.result), rules).state
        results += count_results(rated.a, rated.b, rated.result, bots=len(bots))
        of_version += _of_version(rated, bots)
    wins, losses, ties = results
    return state.ratings, Standings(wins, losses, ties, of_version)


def _read(records: Records, order: str) -> Iterator[pa.RecordBatch]:
    return records.batches(
        f"""SELECT id, coalesce(epoch_us(played_at), {UNKNOWN_TIME}) AS played, bot_a, bot_b,
            {code_sql("kind", "rated", "honeypot", "skipped")} AS kind,
            {code_sql("audit_verdict", "a", "b", "tie")} AS audit,
            {code_sql("winner", "a", "b", "tie")} AS winner
        FROM matches {order}""",
        rows=_BATCH,
    )


def _rated_matches(batch: pa.RecordBatch, bots: Bots, rules: ArenaRules) -> _RatedMatches:
    """Return the rated matches of a batch that have a result."""
    kind, audit, winner = (batch[name].to_numpy() for name in ("kind", "audit", "winner"))
    unvoted = np.full(len(batch), NONE, dtype=np.int8)
    final = final_of(unvoted, kind=kind, audit=audit, winner=winner, rules=rules)
    rows = np.flatnonzero(final != NONE)
    a, b = (numbers_of(batch[name], bots.ids)[rows] for name in ("bot_a", "bot_b"))
    return _RatedMatches(batch["played"].to_numpy()[rows], a, b, final[rows])


def _of_version(rated: _RatedMatches, bots: Bots) -> Ints:
    """Count the matches of every bot since its newest version."""
    of_a, of_b = (
        np.bincount(side[rated.played >= bots.version_since[side]], minlength=len(bots))
        for side in (rated.a, rated.b)
    )
    return of_a + of_b


def _require_order(last: pa.RecordBatch | None, batch: pa.RecordBatch) -> None:
    """Check that a batch is in order of play and does not begin before the last match.

    Matches of equal times must have ascending integers as ids.

    Raises:
        _OutOfOrder: it is not, or equal times have ids that are text.
    """
    if last is not None:
        batch = pa.concat_batches([last, batch])
    played = batch["played"].to_numpy()
    in_order = played[1:] > played[:-1]  # a difference from an unknown time would overflow
    if pa.types.is_integer(batch["id"].type):
        ids = batch["id"].to_numpy()
        in_order |= (played[1:] == played[:-1]) & (ids[1:] > ids[:-1])
    if not in_order.all():
        raise _OutOfOrder
