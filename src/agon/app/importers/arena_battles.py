"""Import battles as Chatbot Arena publishes them: ``model_a``, ``model_b``, ``winner``.

=============  =====================================================================
column         what it is
=============  =====================================================================
``model_a``    name of the model on side a; becomes the bot's id and name
``model_b``    name of the model on side b
``winner``     ``model_a``, ``model_b``, ``tie``, a usual word for one of them
               (``left``, ``1-0``, ``A>B``, ``tie (bothbad)``), the winner's name, or that of
               the column it is in (``team_1``);
               ``A>>B`` counts three times (Arena-Hard); 1, 0.5 and 0 are side a's points
               where there is a 0.5
``tstamp``     optional: seconds since 1970, as in the published files
``timestamp``  optional: ISO 8601, as in later files (``played_at`` is read too)
``prompt_id``  optional: what both answered (``question_id`` is read too)
``is_tie``     optional, beside ``winner``: true where the row is a tie; its winner is not read
``weight``     optional: how often the battle counts in Bradley–Terry ratings, above 0
=============  =====================================================================

Instead of ``winner`` a row may have other outcomes:

===========================  =======================================================================
``score_a``                  side a's part of the point (0 … 1), such as a judge's preference
``win_1, win_2``             the winners of both orders of the answers; two different ones are a tie
``wins_a, wins_b[, ties]``   how many battles each side won, and how many were ties
``share_a[, matches]``       side a's share of the points (0 … 1) in so many battles (default: 1);
                             share · matches points are so many wins and, for the rest, one match
                             that is shared
``winner, loser``            without sides and ties: each row is a win for ``model_a``, the winner
                             (also ``winner_name, loser_name`` and others that
                             :data:`~agon.app.importers.battle_columns.WON` lists)
``preference``               from 1 (side a) to 2 (side b), 1.5 and 0 are ties; side a's score is
                             2 - preference, and rows without one are left out
===========================  =======================================================================

A row of counts becomes as many matches: the wins of a, the ties, the wins of b. Elo rates them in
this order; Bradley–Terry does not depend on it. Other names that files have for these columns are
in :data:`~agon.app.importers.battle_columns.ALIASES`.

Categories (``language``, ``turn``, ``is_code``, ``judge``, ``judge_hash``, ``anony`` and the others
in :data:`CATEGORIES`) become columns of the matches that ``where`` selects by. Notes name them, and
the columns that are not used. A match's id is its row, so that matches with the same time, or
without one, are rated in file order. ``tie`` and ``tie (bothbad)`` are both ties.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from agon.app.importers.battle_columns import (
    WON,
    other_outcomes_named,
    present_columns,
    read_by_alias,
)
from agon.app.importers.reading import foreign
from agon.app.importers.repeated_rows import repeated_rows
from agon.disciplines import ImportedRecords
from agon.records import Column, CrossRowCheck, Kind, Records, RowCheck, Schema, Table
from agon.records.conditions import IsBlank, SameValue
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.values.conversion_notes import count_rows
from agon.records.values.json_values import EPOCH_UNITS, UNIT_NAMES
from agon.records.values.words import choice_of

CATEGORIES = (
    "anony",
    "category",
    "country",
    "is_code",
    "is_refusal",
    "judge",
    "judge_hash",
    "language",
    "turn",
)
"""Columns of battles that are kept with the matches."""

MAX_TIME_S = 253_402_300_799  # the last second of the year 9999
_MAX_TIME = 1e16  # in microseconds

_MAX_MATCHES = 100_000  # of a row
_RESULTS = ("model_a", "model_b", "tie")
SIDES = ("model_a", "model_b")
"""The columns that name who met."""

TIMES = ("tstamp", "timestamp", "played_at")
"""The columns that may have the time."""

_CLEARLY_A, _CLEARLY_B = ("A>>B", "B<<A"), ("B>>A", "A<<B")
_CLEAR_WEIGHT = 3  # of a clear win in Arena-Hard
WINNER = Column("winner", Kind.TEXT, choices=(*_RESULTS, *_CLEARLY_A, *_CLEARLY_B), sides=SIDES,
                 is_points=True)  # fmt: skip
"""The column of the winner."""

_OR_TIE = (replace(WINNER, nullable=True), Column("is_tie", Kind.BOOLEAN, nullable=True))
_SCORE = (Column("score_a", Kind.NUMBER, low=0, high=1),)
_ORDERS = tuple(
    Column(name, Kind.TEXT, choices=_RESULTS, sides=SIDES) for name in ("win_1", "win_2")
)
_COUNTS = (
    Column("wins_a", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("wins_b", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("ties", Kind.INTEGER, required=False, low=0, high=_MAX_MATCHES),
)
_SHARE = (
    Column("share_a", Kind.NUMBER, low=0, high=1),
    Column("matches", Kind.INTEGER, required=False, low=1, high=_MAX_MATCHES),
)
_PREFERENCE = (Column("preference", Kind.NUMBER, nullable=True, low=0, high=2),)
_PLAYED = (
    Column("model_a", Kind.TEXT),
    Column("model_b", Kind.TEXT),
    Column("tstamp", Kind.NUMBER, required=False, low=0, high=_MAX_TIME),
    Column("timestamp", Kind.TIMESTAMP, required=False),
    Column("played_at", Kind.TIMESTAMP, required=False),
    Column("prompt_id", Kind.ID, required=False),
    Column("weight", Kind.NUMBER, required=False, above=0),
)
_LATEST = "(SELECT max(tstamp) FILTER (WHERE isfinite(tstamp)) FROM {battles})"
_ONE_UNIT = CrossRowCheck(
    "tstamp",
    f"{_LATEST} > {MAX_TIME_S} AND tstamp < {_LATEST} / 10",
    ("battles",),
    "is in another unit than other times",
    "give all times in seconds, or all in milliseconds",
    columns=("tstamp",),
)
_CHECKS: tuple[RowCheck | CrossRowCheck, ...] = (
    RowCheck(
        "model_b",
        SameValue("model_a", "model_b"),
        "is also model_a",
        "name two different models, or remove the battle",
    ),
    *(
        RowCheck(name, IsBlank(name), "is blank", "name the model")
        for name in ("model_a", "model_b")
    ),
    _ONE_UNIT,
)
_IN_ORDER = CrossRowCheck(
    "preference",
    "preference > 0 AND preference < 1",
    ("battles",),
    "is no preference",
    "give 1 (side a) to 2 (side b), or 0 for a tie",
    columns=("preference",),
)
_WINNER_OR_TIE = CrossRowCheck(
    "winner",
    "winner IS NULL AND is_tie IS NOT TRUE",
    ("battles",),
    "is empty, and is_tie is not true",
    "name the winner, or say that the row is a tie",
    columns=("winner", "is_tie"),
)

_BY_COUNTS = """
SELECT *, wins_a AS "a:", coalesce(ties, 0) AS "tie:", wins_b AS "b:", 0.5 AS "rest:" FROM battles
"""
# The points are so many wins and, for the rest, one match that is shared; 0.62 of 100 is whole.
_BY_SHARE = """
SELECT *, floor("points:") AS "a:", ("rest:" > 0)::INTEGER AS "tie:",
       "of:" - floor("points:") - ("rest:" > 0)::INTEGER AS "b:"
FROM (SELECT *, round("points:" - floor("points:"), 6) AS "rest:"
      FROM (SELECT *, round(share_a * coalesce(matches, 1), 6) AS "points:",
                   coalesce(matches, 1) AS "of:" FROM battles))
"""
_WEIGHT = "nullif(coalesce(weight, 1) * ({times}), 1)::DOUBLE AS weight"
_TIME = """coalesce(played_at, "timestamp", {tstamp}) AS played_at"""
# A row without a match (all counts 0) names its models, which are rated nowhere.
_MATCHES = f"""
SELECT row_number() OVER (ORDER BY _row, place, n) AS id, {_TIME},
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind, outcome AS winner,
       CASE WHEN place = 2 AND "rest:" <> 0.5 THEN "rest:" END::DOUBLE AS score_a,
       {_WEIGHT}{{added}}
FROM (SELECT *, unnest(range("a:"::BIGINT)) AS n, 'a' AS outcome, 1 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("tie:"::BIGINT)) AS n,
             CASE WHEN "rest:" > 0.5 THEN 'a' WHEN "rest:" < 0.5 THEN 'b' ELSE 'tie' END AS outcome,
             2 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("b:"::BIGINT)) AS n, 'b' AS outcome, 3 AS place FROM ({{outcomes}}))
ORDER BY id
"""
_ONE_EACH = f"""
SELECT _row AS id, {_TIME}, model_a AS bot_a, model_b AS bot_b, 'rated' AS kind,
       CASE WHEN {{score}} > 0.5 THEN 'a' WHEN {{score}} < 0.5 THEN 'b' ELSE 'tie' END AS winner,
       CASE WHEN {{score}} NOT IN (0, 0.5, 1) THEN {{score}} END::DOUBLE AS score_a,
       {_WEIGHT}{{added}}
FROM battles WHERE ({{score}}) IS NOT NULL ORDER BY _row
"""
_BY_WINNER = (
    f"CASE WHEN winner IN {('model_a', *_CLEARLY_A)} THEN 1 "
    f"WHEN winner IN {('model_b', *_CLEARLY_B)} THEN 0 ELSE 0.5 END"
)
_BY_WINNER_OR_TIE = f"CASE WHEN is_tie THEN 0.5 ELSE {_BY_WINNER} END"
_BY_ORDERS = (
    "CASE WHEN win_1 <> win_2 THEN 0.5 WHEN win_1 = 'model_a' THEN 1 "
    "WHEN win_1 = 'model_b' THEN 0 ELSE 0.5 END"
)
_BY_PREFERENCE = "CASE WHEN preference = 0 THEN 0.5 ELSE round(2 - preference, 12) END"

_BOTS = """
SELECT name AS id, NULL::VARCHAR AS owner_id, name
FROM (SELECT model_a AS name FROM battles UNION SELECT model_b FROM battles) ORDER BY name
"""


@dataclass(frozen=True)
class _Form:
    """The columns that state the outcomes of a row, and SQL of its matches."""

    columns: tuple[Column, ...]
    matches: str
    checks: tuple[CrossRowCheck, ...] = ()


_BY_NAME = _Form((WINNER,), _ONE_EACH.replace("{score}", _BY_WINNER))
_BY_WINNERS = (
    _Form(_OR_TIE, _ONE_EACH.replace("{score}", _BY_WINNER_OR_TIE), (_WINNER_OR_TIE,)),
    _BY_NAME,
)
_FORMS = (
    _Form(_SCORE, _ONE_EACH.replace("{score}", "score_a")),
    *_BY_WINNERS,
    _Form(_ORDERS, _ONE_EACH.replace("{score}", _BY_ORDERS)),
    _Form(_COUNTS, _MATCHES.replace("{outcomes}", _BY_COUNTS)),
    _Form(_SHARE, _MATCHES.replace("{outcomes}", _BY_SHARE)),
    _Form(_PREFERENCE, _ONE_EACH.replace("{score}", _BY_PREFERENCE), (_IN_ORDER,)),
)
OUTCOMES = tuple(dict.fromkeys(column.name for form in _FORMS for column in form.columns))
"""The columns that state outcomes of battles, in any form."""

PLAYED = tuple(column.name for column in _PLAYED)
"""The columns of battles beside their outcome."""

_WON = _Form((), _ONE_EACH.replace("{score}", "1"))


def read(
    source: Any,
    *,
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> ImportedRecords:
    """Read battles as arena records.

    Args:
        source: a CSV, JSON, NDJSON or Parquet file, a workbook, or a data frame.
        mapping: how names and values of the source are read.
        where: a value, or several, by column of the source; only such rows are read.

    Raises:
        InvalidRecords: rows that are not battles, all together, with file, row, column, value.
        NotFound, Unreadable: there is no such file, or it is of another kind.
    """
    of_battles = [*OUTCOMES, *PLAYED, *CATEGORIES]
    wanted = {name.removeprefix("matches."): Kind(kind) for name, kind in mapping.keep.items()}
    known = list(dict.fromkeys([*of_battles, *wanted]))
    present = present_columns(source, known, mapping)
    aliases = read_by_alias(present, mapping)
    present |= {own: present[found] for own, found in aliases.items()}
    form = _form(present)
    read = {column.name for column in (*_PLAYED, *form.columns)}
    aliases = {own: found for own, found in aliases.items() if own in read}
    if (aliases.get("model_a"), aliases.get("model_b")) in WON:
        form = _WON
    categories = [name for name in CATEGORIES if name in present]
    stated = [name for name in wanted if name in present and name not in of_battles]
    kept = [*(["prompt_id"] if "prompt_id" in present else []), *categories, *stated]
    added_columns = (
        *(Column(name, Kind.TEXT, required=False, lists=True) for name in categories),
        *(Column(name, wanted[name], required=False) for name in stated),
    )
    names = _with_names_of_sides(mapping.with_columns({**aliases, **mapping.columns}), present)
    with (
        other_outcomes_named(),
        foreign(
            _schema(form, added_columns), {"battles": source}, mapping=names, where=where
        ) as battles,
    ):
        added = "".join(f', "{name}"' for name in kept)
        unit = _unit(battles)
        sql = form.matches.replace("{added}", added).replace("{tstamp}", _TSTAMP[unit])
        sql = sql.replace("{times}", _times(form))
        matches = _without_empty(battles.sql(sql), "score_a", "weight")
        notes = _reading_notes(matches, unit, aliases, kept)
        return ImportedRecords(
            "arena",
            {"bots": battles.sql(_BOTS), "matches": matches},
            (*notes, *_row_notes(battles, form), *battles.notes),
            battles.names,
            repeated_rows(battles, "battles", by=("prompt_id", "tstamp", "timestamp", "played_at")),
        )


def _reading_notes(
    matches: pa.Table, unit: int, aliases: Mapping[str, str], kept: Sequence[str]
) -> Iterator[str]:
    """Yield how the columns were read, and what is missing in them."""
    if unit > 1:
        yield f"tstamp: read as {UNIT_NAMES[unit]} since 1970"
    if aliases:
        yield "read " + ", ".join(f"{stored} as {own}" for own, stored in aliases.items())
    if not len(matches):
        yield "there are no matches"
    elif matches["played_at"].null_count == len(matches):
        yield "no column has the time: matches are rated in the order of the rows"
    if kept:
        yield f"kept as categories of the matches: {', '.join(kept)}"


def _form(present: Collection[str]) -> _Form:
    """Return the form of which a source has all columns, else one that it begins."""
    for form in _FORMS:
        if {column.name for column in form.columns if column.required} <= {*present}:
            return form
    return next((form for form in _FORMS if form.columns[0].name in present), _BY_NAME)


def _with_names_of_sides(mapping: SourceMapping, present: Mapping[str, str]) -> SourceMapping:
    """Return the mapping in which a winner may be the name of the column of a side.

    Files with the sides ``team_1`` and ``team_2`` have the winner ``team_1``. What the mapping
    states, and words that mean a result by themselves, keep their meaning.
    """
    sides = {present[side]: side for side in SIDES if side in present}
    words = {stored: side for stored, side in sides.items() if choice_of(WINNER, stored) is None}
    values = {column.name: words for column in (WINNER, *_ORDERS) if column.name in present}
    return SourceMapping(values=values).merge(mapping) if words else mapping


_TSTAMP = {
    0: "NULL::TIMESTAMP",
    **{unit: f"make_timestamp((tstamp * {1_000_000 // unit})::BIGINT)" for unit in EPOCH_UNITS},
}
"""SQL of a time since 1970, by the parts of a second that it counts."""


def _times(form: _Form) -> str:
    """Return SQL of how often an outcome counts by itself: a clear win more than others."""
    if form not in _BY_WINNERS:
        return "1"
    return f"CASE WHEN winner IN {(*_CLEARLY_A, *_CLEARLY_B)} THEN {_CLEAR_WEIGHT} ELSE 1 END"


def _row_notes(battles: Records, form: _Form) -> Iterator[str]:
    """Yield a note about rows that are left out, and about those that count more than once."""
    if form.columns == _PREFERENCE:
        missing = len(battles.sql("SELECT 1 FROM battles WHERE preference IS NULL"))
        if missing:
            yield f"rows without a preference are left out: {missing:,}"
    if form is _WON:
        yield "each row is a win of model_a"
    if form in _BY_WINNERS:
        clear = (*_CLEARLY_A, *_CLEARLY_B)
        count = len(battles.sql(f"SELECT 1 FROM battles WHERE winner IN {clear}"))
        if count:
            yield (
                f"clear wins such as A>>B count {_CLEAR_WEIGHT} times, as in Arena-Hard: "
                f"{count_rows(count)}"
            )
    weights = battles.sql("SELECT weight FROM battles")["weight"]
    if 0 < weights.null_count < len(weights):
        yield f"weight: rows without a value count once: {weights.null_count:,}"


def _without_empty(matches: pa.Table, *names: str) -> pa.Table:
    """Return matches without those of some columns that have no value."""
    return matches.drop_columns([n for n in names if matches[n].null_count == len(matches)])


def _unit(battles: Records) -> int:
    """Return the parts of a second that the times count; 0: there are no times."""
    latest = battles.sql("SELECT max(tstamp) AS latest FROM battles")["latest"][0].as_py()
    if latest is None:
        return 0
    return next(unit for unit in EPOCH_UNITS if latest <= MAX_TIME_S * unit)


def _schema(form: _Form, added: Sequence[Column]) -> Schema:
    columns = (*_PLAYED, *form.columns, *added)
    table = Table("battles", columns, required=True, checks=(*_CHECKS, *form.checks))
    return Schema("arena battles", (table,))
