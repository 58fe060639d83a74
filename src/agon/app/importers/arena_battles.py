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
``points_a, points_b``       what each side scored, such as goals or marks: the side with more won,
                             equal points are a tie, and rows without both are left out
``games``                    two verdicts of one judge on both orders, as Arena-Hard writes them:
                             ``games.0.score`` with ``baseline`` as side a and ``model`` as side b,
                             ``games.1.score`` with ``model`` as side a; each is a match, ``A>>B``
                             counts three times, and rows without both verdicts are left out
``cmp_key``                  both models as ``FIRST_SECOND``, with ``annotator1``, ``annotator2``
                             and ``annotator3`` (1: the first is better, 2: the second, 0: equal),
                             as PandaLM's test set has them: each is a match with that judge, and
                             ``idx`` is its prompt
===========================  =======================================================================

A row of counts becomes as many matches: the wins of a, the ties, the wins of b. Elo rates them in
this order; Bradley–Terry does not depend on it. Other names that files have for these columns are
in :data:`~agon.app.importers.battle_columns.ALIASES`.

Categories (``language``, ``turn``, ``is_code``, ``judge``, ``judge_hash``, ``anony`` and the others
in :data:`CATEGORIES`) become columns of the matches that ``where`` selects by. Notes name them, and
the columns that are not used. A match's id is its row, so that matches with the same time, or
without one, are rated in file order. A second file of one contest needs a column of ids, which is
read where a mapping names it (``columns={"id": "battle"}``). ``tie`` and ``tie (bothbad)`` are both
ties.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from agon.app.importers.battle_columns import (
    WON,
    other_outcomes_named,
    present_columns,
    read_by_alias,
)
from agon.app.importers.battle_outcomes import (
    EACH_A_WIN,
    ORDERS,
    OUTCOMES,
    SIDES,
    WINNER,
    Form,
    form_of,
    matches_sql,
    outcome_notes,
)
from agon.app.importers.mirrored_matches import mirrored_matches
from agon.app.importers.reading import foreign
from agon.app.importers.repeated_rows import repeated_rows
from agon.disciplines import ImportedRecords
from agon.records import Column, CrossRowCheck, Kind, Records, RowCheck, Schema, Table
from agon.records.conditions import IsBlank, SameValue
from agon.records.names.mapping import NO_MAPPING, SourceMapping
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

TIMES = ("tstamp", "timestamp", "played_at")
"""The columns that may have the time."""

_WHEN = (
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
_OF_SIDES: tuple[RowCheck, ...] = (
    RowCheck(
        "model_b",
        SameValue("model_a", "model_b"),
        "is also model_a",
        "name two different models, or remove the battle",
    ),
    *(RowCheck(name, IsBlank(name), "is blank", "name the model") for name in SIDES),
)

_BOTS = """
SELECT name AS id, NULL::VARCHAR AS owner_id, name
FROM (SELECT model_a AS name FROM {rows} UNION SELECT model_b FROM {rows}) ORDER BY name
"""


PLAYED = (*SIDES, *(column.name for column in _WHEN))
"""The columns of battles beside their outcome."""


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
    form = form_of(present)
    read = {column.name for column in (*_WHEN, *form.sides, *form.columns)}
    aliases = {own: found for own, found in aliases.items() if own in read}
    if (aliases.get("model_a"), aliases.get("model_b")) in WON:
        form = EACH_A_WIN
    categories = [name for name in CATEGORIES if name in present]
    stated = [name for name in wanted if name in present and name not in of_battles]
    kept = [*(["prompt_id"] if "prompt_id" in present else []), *categories, *stated]
    # Only a column that is stated: one that is called so may order the matches in another way.
    has_ids = any(name.rpartition(".")[2] == "id" for name in mapping.columns)
    added_columns = (
        *(Column(name, Kind.TEXT, required=False, lists=True) for name in categories),
        *(Column(name, wanted[name], required=False) for name in stated),
    )
    names = _with_names_of_sides(mapping.with_columns({**aliases, **mapping.columns}), present)
    with (
        other_outcomes_named(present),
        foreign(
            _schema(form, added_columns, has_ids=has_ids),
            {"battles": source},
            mapping=names,
            where=where,
        ) as battles,
    ):
        added = "".join(f', "{name}"' for name in kept)
        unit = _unit(battles)
        sql = matches_sql(form, has_ids=has_ids, tstamp=_TSTAMP[unit], added=added)
        matches = _without_empty(battles.sql(sql), "score_a", "weight")
        notes = (
            *_reading_notes(matches, unit, aliases, kept),
            *outcome_notes(battles, form),
            *_weight_notes(battles),
        )
        return ImportedRecords(
            "arena",
            {"bots": battles.sql(_BOTS.replace("{rows}", form.rows)), "matches": matches},
            (*notes, *battles.notes),
            battles.names,
            (
                *repeated_rows(battles, "battles", by=("prompt_id", *TIMES)),
                *mirrored_matches(matches),
            ),
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


def _with_names_of_sides(mapping: SourceMapping, present: Mapping[str, str]) -> SourceMapping:
    """Return the mapping in which a winner may be the name of the column of a side.

    Files with the sides ``team_1`` and ``team_2`` have the winner ``team_1``. What the mapping
    states, and words that mean a result by themselves, keep their meaning.
    """
    sides = {present[side]: side for side in SIDES if side in present}
    words = {stored: side for stored, side in sides.items() if choice_of(WINNER, stored) is None}
    values = {column.name: words for column in (WINNER, *ORDERS) if column.name in present}
    return SourceMapping(values=values).merge(mapping) if words else mapping


_TSTAMP = {
    0: "NULL::TIMESTAMP",
    **{unit: f"make_timestamp((tstamp * {1_000_000 // unit})::BIGINT)" for unit in EPOCH_UNITS},
}
"""SQL of a time since 1970, by the parts of a second that it counts."""


def _weight_notes(battles: Records) -> Iterator[str]:
    """Yield a note about rows without a weight, where others have one."""
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


def _schema(form: Form, added: Sequence[Column], *, has_ids: bool) -> Schema:
    ids = (Column("id", Kind.ID),) if has_ids else ()
    columns = (*ids, *form.sides, *_WHEN, *form.columns, *added)
    names = {column.name for column in form.sides}
    of_sides = [check for check in _OF_SIDES if check.column in names]
    checks: tuple[RowCheck | CrossRowCheck, ...] = (*of_sides, _ONE_UNIT, *form.checks)
    key = tuple(column.name for column in ids)
    table = Table("battles", columns, required=True, key=key, checks=checks)
    return Schema("arena battles", (table,))
