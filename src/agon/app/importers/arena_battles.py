"""Import battles as Chatbot Arena publishes them: ``model_a``, ``model_b``, ``winner``.

=============  =====================================================================
column         what it is
=============  =====================================================================
``model_a``    name of the model on side a; becomes the bot's id and name
``model_b``    name of the model on side b
``winner``     ``model_a``, ``model_b``, ``tie``, a usual word for one of them
               (``left``, ``1-0``, ``A>B``, ``tie (bothbad)``), or the winner's name
``tstamp``     optional: seconds since 1970, as in the published files
``timestamp``  optional: ISO 8601, as in later files (``played_at`` is read too)
``prompt_id``  optional: what both answered (``question_id`` is read too)
=============  =====================================================================

Instead of ``winner`` a row may have other outcomes:

===========================  =======================================================================
``win_1, win_2``             the winners of both orders of the answers; two different ones are a tie
``wins_a, wins_b[, ties]``   how many battles each side won, and how many were ties
``share_a[, matches]``       side a's share of the points (0 … 1) in so many battles (default: 1);
                             share · matches points are so many wins and, for the half, a tie
``preference``               from 1 (side a) to 2 (side b), 1.5 and 0 are ties; read as a win of the
                             nearer side
===========================  =======================================================================

A row of counts becomes as many matches: the wins of a, the ties, the wins of b. Elo rates them in
this order; Bradley–Terry does not depend on it. Other names that files have for these columns are
in :data:`ALIASES`.

Categories (``language``, ``turn``, ``is_code``, ``judge``, ``judge_hash``, ``anony`` and the others
in :data:`CATEGORIES`) become columns of the matches that ``where`` selects by. Notes name them, and
the columns that are not used. A match's id is its row, so that matches with the same time, or
without one, are rated in file order. ``tie`` and ``tie (bothbad)`` are both ties.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agon.app.importers.reading import columns_of, foreign
from agon.app.importers.repeated_rows import repeated_rows
from agon.disciplines import ImportedRecords
from agon.records import Column, CrossRowCheck, Kind, Records, RowCheck, Schema, Table
from agon.records.conditions import IsBlank, SameValue
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.names.matching import match_names
from agon.records.values.json_values import EPOCH_UNITS, UNIT_NAMES

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

ALIASES = {
    "model_a": ("model_1", "generator_1", "bot_a", "player_a", "white"),
    "model_b": ("model_2", "generator_2", "bot_b", "player_b", "black"),
    "winner": ("result", "outcome"),
    "win_1": ("g1_winner",),
    "win_2": ("g2_winner",),
    "wins_a": ("winner_model_a",),
    "wins_b": ("winner_model_b",),
    "ties": ("winner_tie",),
    "prompt_id": ("question_id",),
}
"""Other names of columns that files have; one is read where the first name is missing."""

_MAX_TIME_S = 253_402_300_799  # the last second of the year 9999
_MAX_TIME = 1e16  # in microseconds

_MAX_MATCHES = 100_000  # of a row
_RESULTS = ("model_a", "model_b", "tie")
_SIDES = ("model_a", "model_b")
_WINNER = Column("winner", Kind.TEXT, choices=_RESULTS, sides=_SIDES)
_ORDERS = tuple(
    Column(name, Kind.TEXT, choices=_RESULTS, sides=_SIDES) for name in ("win_1", "win_2")
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
_PREFERENCE = (Column("preference", Kind.NUMBER, low=0, high=2),)
_HALVES = "2 * share_a * coalesce(matches, 1)"
_PLAYED = (
    Column("model_a", Kind.TEXT),
    Column("model_b", Kind.TEXT),
    Column("tstamp", Kind.NUMBER, required=False, low=0, high=_MAX_TIME),
    Column("timestamp", Kind.TIMESTAMP, required=False),
    Column("played_at", Kind.TIMESTAMP, required=False),
    Column("prompt_id", Kind.ID, required=False),
)
_LATEST = "(SELECT max(tstamp) FILTER (WHERE isfinite(tstamp)) FROM {battles})"
_ONE_UNIT = CrossRowCheck(
    "tstamp",
    f"{_LATEST} > {_MAX_TIME_S} AND tstamp < {_LATEST} / 10",
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
_WHOLE_MATCHES = CrossRowCheck(
    "share_a",
    f"abs({_HALVES} - round({_HALVES})) > 1e-6",
    ("battles",),
    "times matches is not a number of wins and ties",
    "give a share such as 0, 0.5 or 1 of one battle, or matches so that the points are whole or "
    "half ones",
    columns=("share_a", "matches"),
)
_IN_ORDER = CrossRowCheck(
    "preference",
    "preference > 0 AND preference < 1",
    ("battles",),
    "is no preference",
    "give 1 (side a) to 2 (side b), or 0 for a tie",
    columns=("preference",),
)

_BY_COUNTS = """
SELECT *, wins_a AS "a:", coalesce(ties, 0) AS "tie:", wins_b AS "b:" FROM battles
"""
_BY_SHARE = f"""
SELECT *, halves // 2 AS "a:", halves % 2 AS "tie:", "of:" - halves // 2 - halves % 2 AS "b:"
FROM (SELECT *, round({_HALVES})::BIGINT AS halves, coalesce(matches, 1) AS "of:" FROM battles)
"""
_TIME = """coalesce(played_at, "timestamp", {tstamp}) AS played_at"""
# A row without a match (all counts 0) names its models, which are rated nowhere.
_MATCHES = f"""
SELECT row_number() OVER (ORDER BY _row, place, n) AS id, {_TIME},
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind, outcome AS winner{{added}}
FROM (SELECT *, unnest(range("a:")) AS n, 'a' AS outcome, 1 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("tie:")) AS n, 'tie' AS outcome, 2 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("b:")) AS n, 'b' AS outcome, 3 AS place FROM ({{outcomes}}))
ORDER BY id
"""
_ONE_EACH = f"""
SELECT _row AS id, {_TIME}, model_a AS bot_a, model_b AS bot_b, 'rated' AS kind,
       {{outcome}} AS winner{{added}}
FROM battles ORDER BY _row
"""
_BY_WINNER = "CASE winner WHEN 'model_a' THEN 'a' WHEN 'model_b' THEN 'b' ELSE 'tie' END"
_BY_ORDERS = (
    "CASE WHEN win_1 <> win_2 THEN 'tie' WHEN win_1 = 'model_a' THEN 'a' "
    "WHEN win_1 = 'model_b' THEN 'b' ELSE 'tie' END"
)
_BY_PREFERENCE = (
    "CASE WHEN preference IN (0, 1.5) THEN 'tie' WHEN preference < 1.5 THEN 'a' ELSE 'b' END"
)

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


_FORMS = (
    _Form((_WINNER,), _ONE_EACH.replace("{outcome}", _BY_WINNER)),
    _Form(_ORDERS, _ONE_EACH.replace("{outcome}", _BY_ORDERS)),
    _Form(_COUNTS, _MATCHES.replace("{outcomes}", _BY_COUNTS)),
    _Form(_SHARE, _MATCHES.replace("{outcomes}", _BY_SHARE), (_WHOLE_MATCHES,)),
    _Form(_PREFERENCE, _ONE_EACH.replace("{outcome}", _BY_PREFERENCE), (_IN_ORDER,)),
)


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
    outcomes = [column.name for form in _FORMS for column in form.columns]
    known = list(dict.fromkeys([*outcomes, *(column.name for column in _PLAYED), *CATEGORIES]))
    present = _present(source, known, mapping)
    aliases = _aliases(present, mapping)
    present |= dict.fromkeys(aliases)
    form = next((form for form in _FORMS if form.columns[0].name in present), _FORMS[0])
    categories = [name for name in CATEGORIES if name in present]
    kept = [*(["prompt_id"] if "prompt_id" in present else []), *categories]
    names = mapping.with_columns({**aliases, **mapping.columns})
    with foreign(
        _schema(form, categories), {"battles": source}, mapping=names, where=where
    ) as battles:
        added = "".join(f', "{name}"' for name in kept)
        unit = _unit(battles)
        sql = form.matches.replace("{added}", added).replace("{tstamp}", _TSTAMP[unit])
        matches = battles.sql(sql)
        notes = []
        if unit > 1:
            notes.append(f"tstamp: read as {UNIT_NAMES[unit]} since 1970")
        if aliases:
            read_as = ", ".join(f"{stored} as {own}" for own, stored in aliases.items())
            notes.append(f"read {read_as}")
        if matches["played_at"].null_count == len(matches):
            notes.append("no column has the time: matches are rated in the order of the rows")
        if kept:
            notes.append(f"kept as categories of the matches: {', '.join(kept)}")
        if form.columns == _PREFERENCE:
            notes.append("a preference is a win of the nearer side: shares are not kept")
        return ImportedRecords(
            "arena",
            {"bots": battles.sql(_BOTS), "matches": matches},
            (*notes, *battles.notes),
            battles.names,
            repeated_rows(battles, "battles", by=("prompt_id", "tstamp", "timestamp", "played_at")),
        )


_TSTAMP = {
    0: "NULL::TIMESTAMP",
    **{unit: f"make_timestamp((tstamp * {1_000_000 // unit})::BIGINT)" for unit in EPOCH_UNITS},
}
"""SQL of a time since 1970, by the parts of a second that it counts."""


def _unit(battles: Records) -> int:
    """Return the parts of a second that the times count; 0: there are no times."""
    latest = battles.sql("SELECT max(tstamp) AS latest FROM battles")["latest"][0].as_py()
    if latest is None:
        return 0
    return next(unit for unit in EPOCH_UNITS if latest <= _MAX_TIME_S * unit)


def _present(source: Any, known: Sequence[str], mapping: SourceMapping) -> dict[str, None]:
    """Return the known columns that a source has, under any spelling or a stated name."""
    own_names = {stored: name.rpartition(".")[2] for name, stored in mapping.columns.items()}
    others = [name for names in ALIASES.values() for name in names]
    columns = columns_of(source, [*known, *others, *own_names])
    return dict.fromkeys(
        match_names([*known, *others], [own_names.get(name, name) for name in columns]).names
    )


def _aliases(present: Mapping[str, None], mapping: SourceMapping) -> dict[str, str]:
    """Return the name of each column that a source has under another usual name only."""
    stated = {name.rpartition(".")[2] for name in mapping.columns}
    return {
        own: found
        for own, others in ALIASES.items()
        if own not in present
        and own not in stated
        and (found := next((name for name in others if name in present), None))
    }


def _schema(form: _Form, categories: Sequence[str]) -> Schema:
    added = (Column(name, Kind.TEXT, required=False, lists=True) for name in categories)
    columns = (*_PLAYED, *form.columns, *added)
    table = Table("battles", columns, required=True, checks=(*_CHECKS, *form.checks))
    return Schema("arena battles", (table,))
