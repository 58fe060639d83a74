"""Import answer sheets: one table with a player, a question and an answer in each row."""

from collections.abc import Mapping
from typing import Any

from agon.app.importers import foreign
from agon.disciplines import ImportedRecords, Importer
from agon.records import Column, Kind, Schema, Table
from agon.records.names.mapping import NO_MAPPING, SourceMapping

_SHEET = Table(
    "sheet",
    (
        Column("player", Kind.ID),
        Column("question", Kind.TEXT),
        Column("correct", Kind.BOOLEAN),
        Column("answered_at", Kind.TIMESTAMP),
    ),
    required=True,
)
_PLAYERS = "SELECT player AS id FROM sheet GROUP BY player ORDER BY min(_row)"
_ANSWERS = """
    SELECT _row AS id, player AS player_id, question, correct, answered_at FROM sheet ORDER BY _row
"""


def read(
    source: Any,
    *,
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> ImportedRecords:
    """Return the records of a sheet; the same checks and messages as for records apply to it."""
    schema = Schema("quiz", (_SHEET,))
    with foreign(schema, {"sheet": source}, mapping=mapping, where=where) as records:
        tables = {"players": records.sql(_PLAYERS), "answers": records.sql(_ANSWERS)}
        notes = ("the id of an answer is the number of its row", *records.notes)
    return ImportedRecords("quiz", tables, notes, records.names)


IMPORTER = Importer(
    name="quiz-sheets",
    summary="Answer sheets: player, question, correct, answered_at.",
    read=read,
    choices=("mapping", "where"),
    frame=True,
)
