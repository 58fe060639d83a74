"""Import battles as Chatbot Arena publishes them: ``model_a``, ``model_b``, ``winner``.

=============  =====================================================================
column         what it is
=============  =====================================================================
``model_a``    name of the model on side a; becomes the bot's id and name
``model_b``    name of the model on side b
``winner``     ``model_a`` (or ``a``, ``left``), ``model_b`` (or ``b``, ``right``), ``tie`` or
               ``tie (bothbad)`` (also ``both_bad``)
``tstamp``     optional: seconds since 1970, as in the published files
``timestamp``  optional: ISO 8601, as in later files (``played_at`` is read too)
=============  =====================================================================

Instead of ``winner`` a row may have the outcomes of several battles:

===========================  =======================================================================
``wins_a, wins_b[, ties]``   how many of them each side won, and how many were ties
``share_a[, matches]``       side a's share of the points (0 … 1) in so many battles (default: 1);
                             share · matches points are so many wins and, for the half, a tie
===========================  =======================================================================

Such a row becomes as many matches: the wins of a, the ties, the wins of b. Elo rates them in this
order; Bradley–Terry does not depend on it.

Categories (``language``, ``turn``, ``is_code``, ``judge``, ``judge_hash``, ``anony`` and the others
in :data:`CATEGORIES`) become columns of the matches that ``where`` selects by. Notes name them, and
the columns that are not used. A match's id is its row, so that matches with the same time, or
without one, are rated in file order. ``tie`` and ``tie (bothbad)`` are both ties.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agon.app.importers.reading import columns_of, foreign
from agon.disciplines import ImportedRecords
from agon.records import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.conditions import IsBlank, SameValue
from agon.records.mapping import NO_MAPPING, SourceMapping
from agon.records.names import match_names

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

_FIRST, _SECOND = ("model_a", "a", "A", "left"), ("model_b", "b", "B", "right")
_BOTH_BAD = ("tie (bothbad)", "bothbad", "both_bad", "tie (both bad)")
_MAX_TIME_S = 253_402_300_799  # the last second of the year 9999

_MAX_MATCHES = 100_000  # of a row
_WINNER = Column("winner", Kind.TEXT, choices=(*_FIRST, *_SECOND, "tie", *_BOTH_BAD))
_COUNTS = (
    Column("wins_a", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("wins_b", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("ties", Kind.INTEGER, required=False, low=0, high=_MAX_MATCHES),
)
_SHARE = (
    Column("share_a", Kind.NUMBER, low=0, high=1),
    Column("matches", Kind.INTEGER, required=False, low=1, high=_MAX_MATCHES),
)
_HALVES = "2 * share_a * coalesce(matches, 1)"
_PLAYED = (
    Column("model_a", Kind.TEXT),
    Column("model_b", Kind.TEXT),
    Column("tstamp", Kind.NUMBER, required=False, low=0, high=_MAX_TIME_S),
    Column("timestamp", Kind.TIMESTAMP, required=False),
    Column("played_at", Kind.TIMESTAMP, required=False),
)
_CHECKS = (
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

_BY_COUNTS = """
SELECT *, wins_a AS "a:", coalesce(ties, 0) AS "tie:", wins_b AS "b:" FROM battles
"""
_BY_SHARE = f"""
SELECT *, halves // 2 AS "a:", halves % 2 AS "tie:", "of:" - halves // 2 - halves % 2 AS "b:"
FROM (SELECT *, round({_HALVES})::BIGINT AS halves, coalesce(matches, 1) AS "of:" FROM battles)
"""
# A row without a match (all counts 0) names its models, which are rated nowhere.
_MATCHES = """
SELECT row_number() OVER (ORDER BY _row, place, n) AS id,
       coalesce(played_at, "timestamp", make_timestamp((tstamp * 1000000)::BIGINT)) AS played_at,
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind, outcome AS winner{categories}
FROM (SELECT *, unnest(range("a:")) AS n, 'a' AS outcome, 1 AS place FROM ({outcomes})
      UNION ALL BY NAME
      SELECT *, unnest(range("tie:")) AS n, 'tie' AS outcome, 2 AS place FROM ({outcomes})
      UNION ALL BY NAME
      SELECT *, unnest(range("b:")) AS n, 'b' AS outcome, 3 AS place FROM ({outcomes}))
ORDER BY id
"""
_ONE_EACH = f"""
SELECT _row AS id,
       coalesce(played_at, "timestamp", make_timestamp((tstamp * 1000000)::BIGINT)) AS played_at,
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind,
       CASE WHEN winner IN {_FIRST} THEN 'a' WHEN winner IN {_SECOND} THEN 'b'
            ELSE 'tie' END AS winner{{categories}}
FROM battles ORDER BY _row
"""

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
    _Form((_WINNER,), _ONE_EACH),
    _Form(_COUNTS, _MATCHES.replace("{outcomes}", _BY_COUNTS)),
    _Form(_SHARE, _MATCHES.replace("{outcomes}", _BY_SHARE), (_WHOLE_MATCHES,)),
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
    known = [column.name for form in _FORMS for column in form.columns]
    known = list(dict.fromkeys([*known, *(column.name for column in _PLAYED), *CATEGORIES]))
    present = _present(source, known, mapping)
    form = next((form for form in _FORMS if form.columns[0].name in present), _FORMS[0])
    categories = [name for name in CATEGORIES if name in present]
    with foreign(
        _schema(form, categories), {"battles": source}, mapping=mapping, where=where
    ) as battles:
        added = "".join(f', "{name}"' for name in categories)
        matches = battles.sql(form.matches.replace("{categories}", added))
        notes = []
        if matches["played_at"].null_count == len(matches):
            notes.append("no column has the time: matches are rated in the order of the rows")
        if categories:
            notes.append(f"kept as categories of the matches: {', '.join(categories)}")
        return ImportedRecords(
            "arena",
            {"bots": battles.sql(_BOTS), "matches": matches},
            (*notes, *battles.notes),
            battles.names,
        )


def _present(source: Any, known: Sequence[str], mapping: SourceMapping) -> list[str]:
    """Return the known columns that a source has, under any spelling or a stated name."""
    own_names = {stored: name.rpartition(".")[2] for name, stored in mapping.columns.items()}
    columns = [own_names.get(name, name) for name in columns_of(source, [*known, *own_names])]
    return list(match_names(known, columns).names)


def _schema(form: _Form, categories: Sequence[str]) -> Schema:
    added = (Column(name, Kind.TEXT, required=False) for name in categories)
    columns = (*_PLAYED, *form.columns, *added)
    table = Table("battles", columns, required=True, checks=(*_CHECKS, *form.checks))
    return Schema("arena battles", (table,))
