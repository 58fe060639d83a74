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

All other columns are ignored. A match's id is its row, so that matches with the same time, or
without one, are rated in file order. ``tie`` and ``tie (bothbad)`` are both ties.
"""

from collections.abc import Mapping
from typing import Any

from agon.app.importers.imported_records import ImportedRecords
from agon.app.importers.reading import foreign
from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import IsBlank, SameValue

_FIRST, _SECOND = ("model_a", "a", "left"), ("model_b", "b", "right")
_BOTH_BAD = ("tie (bothbad)", "bothbad", "both_bad", "tie (both bad)")
_MAX_TIME_S = 253_402_300_799  # the last second of the year 9999

_SCHEMA = Schema(
    "arena battles",
    (
        Table(
            "battles",
            (
                Column("model_a", Kind.TEXT),
                Column("model_b", Kind.TEXT),
                Column("winner", Kind.TEXT, choices=(*_FIRST, *_SECOND, "tie", *_BOTH_BAD)),
                Column("tstamp", Kind.NUMBER, required=False, low=0, high=_MAX_TIME_S),
                Column("timestamp", Kind.TIMESTAMP, required=False),
                Column("played_at", Kind.TIMESTAMP, required=False),
            ),
            required=True,
            checks=(
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
            ),
        ),
    ),
)

_MATCHES = f"""
SELECT _row AS id,
       coalesce(played_at, "timestamp", make_timestamp((tstamp * 1000000)::BIGINT)) AS played_at,
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind,
       CASE WHEN winner IN {_FIRST} THEN 'a' WHEN winner IN {_SECOND} THEN 'b'
            ELSE 'tie' END AS winner
FROM battles ORDER BY _row
"""

_BOTS = """
SELECT name AS id, NULL::VARCHAR AS owner_id, name
FROM (SELECT model_a AS name FROM battles UNION SELECT model_b FROM battles) ORDER BY name
"""


def read(source: Any, *, columns: Mapping[str, str] | None = None) -> ImportedRecords:
    """Read battles as arena records.

    Args:
        source: a CSV, JSON, NDJSON or Parquet file, or a data frame.
        columns: the source's name of a column by the name above, where they differ.

    Raises:
        InvalidRecords: rows that are not battles, all together, with file, row, column, value.
        NotFound, Unreadable: there is no such file, or it is of another kind.
    """
    with foreign(_SCHEMA, {"battles": source}, columns=columns) as battles:
        matches = battles.sql(_MATCHES)
        notes = []
        if matches["played_at"].null_count == len(matches):
            notes.append("no column has the time: matches are rated in the order of the rows")
        return ImportedRecords(
            "arena", {"bots": battles.sql(_BOTS), "matches": matches}, tuple(notes)
        )
