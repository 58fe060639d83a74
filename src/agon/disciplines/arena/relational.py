"""Count the matches of an arena in an engine, as functions of unbound Ibis tables.

Bots and counts of pairs come back, and for Elo the results of the rated matches in order of play.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.facts import UNKNOWN_TIME, Bots, bots_from, numbers_of
from agon.disciplines.arena.formulas import Ints, Vector, score_of
from agon.disciplines.arena.history import Standings, elo_fold
from agon.disciplines.arena.ratings.clusters import Verdicts
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.ratings.elo import EloState
from agon.kernel.ratings.pair_counts import PairCounts, sum_pairs
from agon.records.relational import RelationalRecords

Table = Any
"""An Ibis table; Ibis has no type information."""

_BATCH: Final = 1 << 20  # matches
_SIDES: Final = {"a": 0, "b": 1, "tie": 2}
_MAX_NUMBER: Final = 10**18 - 1  # ids with more digits are text


def read_bots(records: RelationalRecords) -> Bots:
    """Return the bots."""
    bots, owners = records.table("bots"), records.table("owners")
    owners = owners.select("account_created_at", owner="id")
    since = _newest_versions(records)
    rows = bots.left_join(owners, bots.owner_id == owners.owner)
    rows = rows.select("id", "name", "owner_id", "qualified_at", "account_created_at")
    rows = rows.left_join(since, rows.id == since.bot)
    rows = records.run(
        rows.select("id", "name", "owner_id", "qualified_at", "account_created_at", "since")
    )
    times = {"account_created": "account_created_at", "version_since": "since"}
    known = {name: _micros(rows[column]) for name, column in times.items()}
    return bots_from(rows.select(["id", "name", "owner_id", "qualified_at"]).append_column(
        "account_created", known["account_created"]
    ).append_column("version_since", known["version_since"]))  # fmt: skip


def rated_matches(records: RelationalRecords, rules: ArenaRules) -> Table:
    """Return (id, played_at, bot_a, bot_b, result) of the rated matches with a result.

    ``result`` is the side with strictly most votes, or a tie; without votes the recorded winner;
    under ``audit_overturns`` the side that an audit named.
    """
    import ibis

    votes, rows = records.table("votes"), records.table("matches")
    is_tie = votes.vote == "tie"
    is_a = ~is_tie & ((votes.vote == "A") == (votes.shown_first == "a"))
    counts = votes.group_by(of="match_id").aggregate(
        a=is_a.sum(), b=(~is_tie & ~is_a).sum(), tie=is_tie.sum()
    )
    rows = rows.filter(rows.kind == "rated")
    rows = rows.left_join(counts, rows.id == counts.of).select(
        "id", "played_at", "bot_a", "bot_b", "winner", "audit_verdict", "prompt_id", "judge",
        "score_a", "weight", "a", "b", "tie",
    )  # fmt: skip
    result = ibis.cases(
        (rows.a.isnull(), rows.winner),
        ((rows.a > rows.b) & (rows.a > rows.tie), "a"),
        ((rows.b > rows.a) & (rows.b > rows.tie), "b"),
        else_="tie",
    )
    if rules.audit_overturns:
        named = rows.audit_verdict.isin(("a", "b"))
        result = ibis.cases((named, rows.audit_verdict), else_=result)
    kept = ("id", "played_at", "bot_a", "bot_b", "prompt_id", "judge", "score_a", "weight")
    rows = rows.select(*kept, result=result)
    return rows.filter(rows.result.notnull())


def pairs(records: RelationalRecords, bots: Bots, rules: ArenaRules) -> PairCounts:
    """Return the outcomes of every pair of bots."""
    rows = rated_matches(records, rules)
    measured = (rows.score_a.notnull() | rows.weight.notnull()).cast("int64").sum()
    rows = records.run(
        rows.group_by("bot_a", "bot_b", "result").aggregate(n=rows.count(), measured=measured)
    )
    side = pc.index_in(rows["result"], value_set=pa.array(list(_SIDES))).to_numpy()
    if pc.sum(rows["measured"]).as_py():
        raise records.needs_rows("ratings of matches with shares (score_a) or weights")
    return sum_pairs(
        numbers_of(rows["bot_a"], bots.ids),
        numbers_of(rows["bot_b"], bots.ids),
        score_of(side),
        rows["n"].to_numpy(),
        players=len(bots),
    )


def verdicts(records: RelationalRecords, bots: Bots, rules: ArenaRules) -> Verdicts:
    """Return the rated matches, with what they may depend on; none where nothing depends on it."""
    rows = rated_matches(records, rules)
    wanted = {"auto": ("prompt_id",), "prompt": ("prompt_id",), "judge": ("judge",)}
    names = wanted.get(rules.cluster, ("prompt_id", "judge"))
    for name in names:
        rows = rows.mutate(**{name: rows[name].cast("string")})
    grouped = rows.group_by("bot_a", "bot_b", "result", *names).aggregate(n=rows.count())
    table = records.run(grouped)
    times = table["n"].to_numpy()
    side = pc.index_in(table["result"], value_set=pa.array(list(_SIDES))).to_numpy()
    each = pa.array(np.repeat(np.arange(len(table)), times))
    prompt, judge = (
        table[name].combine_chunks().take(each)
        if name in names and table[name].null_count < len(table)
        else None
        for name in ("prompt_id", "judge")
    )
    return Verdicts(
        np.repeat(numbers_of(table["bot_a"], bots.ids), times),
        np.repeat(numbers_of(table["bot_b"], bots.ids), times),
        np.repeat(score_of(side), times),
        prompt,
        judge,
    )


def standings(
    records: RelationalRecords, bots: Bots, counts: PairCounts, rules: ArenaRules
) -> Standings:
    """Return the results of every bot, by the outcomes of its pairs."""
    wins, losses, ties = counts.results()
    of_version = wins + losses + ties - _of_earlier_versions(records, bots, rules)
    return Standings(wins, losses, ties, of_version)


def fold_ratings(records: RelationalRecords, bots: Bots, rules: ArenaRules) -> Vector:
    """Return the Elo rating of every bot: a fold here over what the engine sorted."""
    state = EloState.fresh(len(bots), start=rules.elo_start)
    rows = records.run(_in_order_of_play(records, bots, rules))
    for start in range(0, len(rows), _BATCH):
        batch = rows.slice(start, _BATCH)
        a, b, result = (batch[name].to_numpy() for name in ("a", "b", "result"))
        state = elo_fold(state, a, b, score_of(result), rules).state
    return state.ratings


def _in_order_of_play(records: RelationalRecords, bots: Bots, rules: ArenaRules) -> Table:
    """Return (a, b, result): the numbers of the bots, and the code of the result."""
    import ibis

    rows = rated_matches(records, rules)
    ids = bots.ids.cast(pa.string() if rows.bot_a.type().is_string() else pa.int64())
    numbers = pa.table({"name": ids, "number": pa.array(np.arange(len(bots)))})
    known = records.add("_bots", numbers)
    for side in ("a", "b"):
        of_side = known.select(**{f"name_{side}": "name", side: "number"})
        rows = rows.join(of_side, rows[f"bot_{side}"] == of_side[f"name_{side}"])
        rows = rows.drop(f"name_{side}")
    rows = rows.order_by(rows.played_at.asc(nulls_first=True), *_id_order(rows.id))
    return rows.select(
        a=rows.a.cast("int32"),
        b=rows.b.cast("int32"),
        result=ibis.cases(*((rows.result == side, code) for side, code in _SIDES.items())).cast(
            "int8"
        ),
    )


def _id_order(ids: Any) -> tuple[Any, ...]:
    """Order ids as :func:`agon.kernel.boards.id_order` does: whole numbers, then text."""
    import ibis

    if not ids.type().is_string():
        return (ids,)
    number = ids.try_cast("int64")
    is_number = (number.cast("string") == ids) & number.between(-_MAX_NUMBER, _MAX_NUMBER)
    number = ibis.cases((is_number, number))
    return (number.asc(nulls_first=False), ids)


def _newest_versions(records: RelationalRecords) -> Table:
    rows = records.table("versions")
    return rows.group_by(bot="bot_id").aggregate(since=rows.since.max())


def _of_earlier_versions(records: RelationalRecords, bots: Bots, rules: ArenaRules) -> Ints:
    """Count the rated matches of every bot before its newest version."""
    result = np.zeros(len(bots), dtype=np.int64)
    if not (bots.version_since != UNKNOWN_TIME).any():
        return result
    rows = rated_matches(records, rules).select("bot_a", "bot_b", "played_at")
    rows = rows.select("played_at", bot="bot_a").union(rows.select("played_at", bot="bot_b"))
    since = _newest_versions(records).rename(of="bot")
    rows = rows.join(since, rows.bot == since.of).select("bot", "played_at", "since")
    rows = rows.filter(rows.played_at.isnull() | (rows.played_at < rows.since))
    counted = records.run(rows.group_by("bot").aggregate(n=rows.count()))
    result[numbers_of(counted["bot"], bots.ids)] = counted["n"].to_numpy()
    return result


def _micros(times: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(times.cast(pa.timestamp("us")).cast(pa.int64()), UNKNOWN_TIME)
