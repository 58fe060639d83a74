"""Convert the arena's tables to arrays: bots, judges, matches in order of play, votes by judge.

Ids become numbers in id order, sides become 0, 1 or 2 (a, b, tie; −1: none). Rows whose parents
are not there yet (seen at an earlier time) drop out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.errors import NotScorable
from agon.kernel.arrays import stable_order
from agon.kernel.boards import id_order
from agon.kernel.times import from_micros
from agon.records import Records

Numbers = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Micros = npt.NDArray[np.int64]

RATED, HONEYPOT, SKIPPED = 0, 1, 2
BOT, PERSON, API = 0, 1, 2

UNKNOWN_TIME = np.iinfo(np.int64).min
"""Stands for an empty time: before all others."""

_MATCH_BYTES, _VOTE_BYTES = 200, 90
"""Measured growth of the peak of reading and rating (three million matches, nine million votes)."""


@dataclass(frozen=True, eq=False)
class Bots:
    """The bots in id order.

    ``owner`` is the owner's id or null, ``account_created`` when that account was made, in
    microseconds since 1970, :data:`UNKNOWN_TIME` where unknown; ``version_since`` from when the
    newest version plays, :data:`UNKNOWN_TIME` for a bot with only one.
    """

    ids: pa.Array
    names: pa.Array
    owner: pa.Array
    account_created: Micros
    qualified: Bools
    version_since: Micros

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Judges:
    """The judges in id order: listed ones, bots that judge, and all who voted.

    ``owner`` is the owner's id or null: a person without one whose id is an owner's is that owner;
    ``bot`` is the number of the bot with that id or −1; ``kind`` is bot, person or api;
    ``account_created`` is when the owner's account was made, :data:`UNKNOWN_TIME` where unknown.
    """

    ids: pa.Array
    owner: pa.Array
    bot: Numbers
    kind: Codes
    account_created: Micros

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sees_one_order(self) -> Bools:
        """Whether each judge sees one order of the answers; a model is asked in both."""
        return self.kind != API


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches in order of play: ``played_at``, then id.

    Attributes:
        ids: as recorded, text or integers.
        played: microseconds since 1970, :data:`UNKNOWN_TIME` where empty.
        bot_a, bot_b: bot numbers, −1 on a honeypot's robotic side.
        kind: rated, honeypot or skipped.
        real: the real side of a honeypot.
        audit: the audit's verdict.
        winner: the recorded winner, used where there are no votes.
        counts: matches × 3: votes for a, for b, for a tie.
        prompt: the prompts; None: no match has any.
        judge: the judges that imported matches name; None: no match names any.
        score: the recorded score of side a, not a number where there is none; None: no match has
            any.
        weight: how often each match counts; None: every one counts once.
    """

    ids: pa.Array
    played: Micros
    bot_a: Numbers
    bot_b: Numbers
    kind: Codes
    real: Codes
    audit: Codes
    winner: Codes
    counts: npt.NDArray[np.int64]
    prompt: pa.Array | None = None
    judge: pa.Array | None = None
    score: npt.NDArray[np.float64] | None = None
    weight: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def names(self, places: Any) -> list[str]:
        """Return the ids at some indices as text."""
        return [str(name) for name in self.ids.take(pa.array(places)).to_pylist()]


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes by judge, each judge's in order of play.

    Attributes:
        judge: judge numbers, ascending.
        match: indices in order of play.
        side: what the vote means: side a, side b or a tie.
        label: what the judge saw: label A (0), label B (1) or a tie (2).
        voted: microseconds since 1970, :data:`UNKNOWN_TIME` where empty.
        opens: judge j's votes are those from ``opens[j]`` up to ``opens[j + 1]``.
    """

    judge: Numbers
    match: Numbers
    side: Codes
    label: Codes
    voted: Micros
    opens: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.judge)


@dataclass(frozen=True, eq=False)
class Reinstatements:
    """The times at which operators reinstated judges, with their reasons."""

    judge: Numbers
    at: Micros
    reasons: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Facts:
    """All that scoring needs of the records."""

    bots: Bots
    judges: Judges
    matches: Matches
    votes: Votes
    reinstatements: Reinstatements


def facts_of(records: Records) -> Facts:
    """Read the tables into arrays; the result does not depend on row order or file format.

    Raises:
        NotScorable: they need more memory than there is.
    """
    _require_memory(records)
    bots = bots_of(records)
    judges = _judges(records, bots)
    unvoted = _matches(records, bots)
    votes, counts = _votes(records, judges, unvoted)
    matches = replace(unvoted, counts=counts)
    return Facts(bots, judges, matches, votes, _reinstatements(records, judges))


def _require_memory(records: Records) -> None:
    """Check that the arrays fit into memory; a process that needs more is killed."""
    matches, votes = records.count("matches"), records.count("votes")
    needed, there = matches * _MATCH_BYTES + votes * _VOTE_BYTES, records.memory
    if needed > there:
        raise NotScorable(
            f"the arena's {matches:,} matches and {votes:,} votes need about "
            f"{needed / 2**30:,.1f} GiB of memory, and there are {there / 2**30:,.1f}; without "
            "votes, ratings and Bradley–Terry intervals need little, but intervals of Elo and "
            "explanations of it need this much: use a machine with more memory"
        )


def parse_time(micros: int) -> datetime | None:
    """Return a recorded time as a UTC datetime, None where it is unknown.

    Example:
        >>> parse_time(0).isoformat(), parse_time(UNKNOWN_TIME)
        ('1970-01-01T00:00:00+00:00', None)
    """
    return None if micros == UNKNOWN_TIME else from_micros(micros)


def _text(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    text = pc.cast(column, pa.string())
    return text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text


def bots_of(records: Records) -> Bots:
    """Read the bots."""
    return bots_from(
        records.sql(f"""
        SELECT b.id, b.name, b.owner_id, b.qualified_at,
            coalesce(epoch_us(o.account_created_at), {UNKNOWN_TIME}) AS account_created,
            coalesce(epoch_us(v.since), {UNKNOWN_TIME}) AS version_since
        FROM bots b LEFT JOIN owners o ON o.id::VARCHAR = b.owner_id::VARCHAR
        LEFT JOIN (SELECT bot_id::VARCHAR AS bot_id, max(since) AS since FROM versions
            GROUP BY bot_id::VARCHAR) v ON v.bot_id = b.id::VARCHAR
    """)
    )


def bots_from(table: pa.Table) -> Bots:
    """Return the bots of a table with a column for each attribute, in any order."""
    ids = _text(table["id"])
    order = pa.array(np.argsort(id_order(ids)))
    return Bots(
        ids.take(order),
        _text(table["name"]).take(order),
        _text(table["owner_id"]).take(order),
        _numpy(table["account_created"].take(order)),
        _numpy(pc.is_valid(table["qualified_at"]).take(order)),
        _numpy(table["version_since"].take(order)),
    )


def _judges(records: Records, bots: Bots) -> Judges:
    listed = records.sql("SELECT id, owner_id, kind FROM judges")
    owners = records.sql(
        f"SELECT id, coalesce(epoch_us(account_created_at), {UNKNOWN_TIME}) AS created FROM owners"
    )
    accounts = _text(owners["id"])
    columns_named = [
        _text(listed["id"]),
        _text(records.sql("SELECT id FROM bots WHERE is_judge")["id"]),
        _text(records.sql("SELECT DISTINCT judge_id FROM votes")["judge_id"]),
    ]
    ids = pc.unique(pa.concat_arrays(columns_named))
    ids = ids.take(pa.array(np.argsort(id_order(ids))))
    row = pc.index_in(ids, value_set=columns_named[0])
    bot = pc.index_in(ids, value_set=bots.ids)
    kinds = pc.index_in(listed["kind"], value_set=pa.array(["bot", "person", "api"]))
    # An unlisted judge is a bot when a bot has that id, otherwise a person.
    unlisted = pc.if_else(pc.is_valid(bot), pa.scalar(BOT), pa.scalar(PERSON))
    kind = pc.coalesce(kinds.combine_chunks().take(row), pc.cast(unlisted, pa.int32()))
    is_owner = pc.and_(pc.equal(kind, PERSON), pc.is_in(ids, value_set=accounts))
    own = pc.if_else(is_owner, ids, pa.scalar(None, pa.string()))
    owner = pc.coalesce(_text(listed["owner_id"]).take(row), bots.owner.take(bot), own)
    account = pc.index_in(owner, value_set=accounts, skip_nulls=True)
    created = pc.fill_null(owners["created"].combine_chunks().take(account), UNKNOWN_TIME)
    return Judges(
        ids,
        owner,
        _numpy(pc.fill_null(bot, -1)),
        _numpy(kind).astype(np.int8),
        _numpy(created),
    )


def _matches(records: Records, bots: Bots) -> Matches:
    """Read the matches; how often each was voted for is not known yet."""
    columns = records.sql("SELECT * FROM matches LIMIT 0").column_names
    of_clusters = [name for name in ("prompt_id", "judge") if name in columns]
    measured = [name for name in ("score_a", "weight") if name in columns]
    table = records.sql(f"""
        SELECT id, coalesce(epoch_us(played_at), {UNKNOWN_TIME}) AS played, bot_a, bot_b,
            {code_sql("kind", "rated", "honeypot", "skipped")} AS kind,
            {code_sql("honeypot_real", "a", "b")} AS real,
            {code_sql("audit_verdict", "a", "b", "tie")} AS audit,
            {winner_sql(columns)} AS winner
            {"".join(f', "{name}"::VARCHAR AS "{name}"' for name in of_clusters)}
            {"".join(f', "{name}"' for name in measured)}
        FROM matches
    """)
    score, weight = (
        _numpy(table[name]) if name in measured and table[name].null_count < len(table) else None
        for name in ("score_a", "weight")
    )
    ids = table["id"].combine_chunks()
    played = _numpy(table["played"])
    order = np.lexsort((_places(ids), played)) if len(ids) else np.zeros(0, dtype=np.int64)
    kind, real, audit, winner = (
        _numpy(table[name])[order] for name in ("kind", "real", "audit", "winner")
    )
    return Matches(
        ids.take(pa.array(order)),
        played[order],
        numbers_of(table["bot_a"], bots.ids)[order],
        numbers_of(table["bot_b"], bots.ids)[order],
        kind,
        real,
        audit,
        winner,
        np.zeros((0, 3), dtype=np.int64),
        prompt=_texts_in_order(table, "prompt_id", order) if "prompt_id" in of_clusters else None,
        judge=_texts_in_order(table, "judge", order) if "judge" in of_clusters else None,
        score=None if score is None else score[order],
        weight=None if weight is None else np.nan_to_num(weight[order], nan=1.0),
    )


def _texts_in_order(table: pa.Table, name: str, order: Any) -> pa.Array | None:
    """Return a column in the order of play; None: it is empty."""
    column = table[name].combine_chunks()
    return None if column.null_count == len(column) else column.take(pa.array(order))


def _votes(
    records: Records, judges: Judges, matches: Matches
) -> tuple[Votes, npt.NDArray[np.int64]]:
    table = records.sql(f"""
        SELECT match_id, judge_id, coalesce(epoch_us(voted_at), {UNKNOWN_TIME}) AS voted,
            {code_sql("vote", "A", "B", "tie")} AS label,
            (CASE WHEN vote = 'tie' THEN 2 WHEN (vote = 'A') = (shown_first = 'a') THEN 0
             ELSE 1 END)::TINYINT AS side
        FROM votes
    """)
    ids = table["match_id"].combine_chunks()
    same = ids.type == matches.ids.type
    match = _numbers(ids, matches.ids) if same else _numbers(_text(ids), _text(matches.ids))
    judge = _numbers(_text(table["judge_id"]), judges.ids)
    matched = np.flatnonzero(match >= 0)
    order = matched[stable_order(match[matched])]
    order = order[stable_order(judge[order])]
    side = _numpy(table["side"])[order]
    cells = match[order].astype(np.int64) * 3 + side
    votes = Votes(
        judge[order],
        match[order],
        side,
        _numpy(table["label"])[order],
        _numpy(table["voted"])[order],
        np.searchsorted(judge[order], np.arange(len(judges) + 1)),
    )
    return votes, np.bincount(cells, minlength=3 * len(matches)).reshape(-1, 3)


def _reinstatements(records: Records, judges: Judges) -> Reinstatements:
    table = records.sql(
        "SELECT judge_id, epoch_us(reinstated_at) AS at, reason FROM reinstatements "
        "ORDER BY reinstated_at, _row"
    )
    judge = _numbers(_text(table["judge_id"]), judges.ids)
    matched = judge >= 0
    reasons = table["reason"].filter(pa.array(matched)).to_pylist()
    return Reinstatements(judge[matched], _numpy(table["at"])[matched], tuple(reasons))


def code_sql(column: str, *values: str) -> str:
    """Return SQL for the place of a column's value among some values, −1 without any."""
    cases = " ".join(f"WHEN '{value}' THEN {code}" for code, value in enumerate(values))
    return f"(CASE {column} {cases} ELSE -1 END)::TINYINT"


def winner_sql(columns: Sequence[str]) -> str:
    """Return SQL for the recorded result of a match; a score without one is that of its side."""
    winner = "winner"
    if "score_a" in columns:
        nearer = "CASE WHEN score_a > 0.5 THEN 'a' WHEN score_a < 0.5 THEN 'b' ELSE 'tie' END"
        winner = f"coalesce(winner, CASE WHEN score_a IS NOT NULL THEN {nearer} END)"
    return code_sql(f"({winner})", "a", "b", "tie")


def _numpy(column: pa.ChunkedArray | pa.Array) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.to_numpy(zero_copy_only=False)


def numbers_of(ids: Any, known: pa.Array) -> Numbers:
    """Return the index of each id, as text, among the known ones; −1 where null or unknown."""
    return _numbers(_text(ids), known)


def _numbers(ids: pa.Array, known: pa.Array) -> Numbers:
    """Return each id's index among the known ones; −1 where null or unknown."""
    return _numpy(pc.fill_null(pc.index_in(ids, value_set=known, skip_nulls=True), -1))


def _places(ids: pa.Array) -> npt.NDArray[np.int64]:
    """Return a key of each id that sorts as :func:`~agon.kernel.boards.id_order` does."""
    if pa.types.is_integer(ids.type):
        return ids.to_numpy(zero_copy_only=False).astype(np.int64)
    return id_order(ids)
