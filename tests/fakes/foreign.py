"""Small tables of each format that is imported from tables, spelled as different tools write them.

Formats that are folders of results (``challenge-runs``, ``harbor``) have one spelling.
"""

from dataclasses import dataclass
from pathlib import Path

from agon.records import Column, Kind
from fakes.spelled import SPELLINGS, Rows, file_of, name_speller, write_folder

_KINDS = {
    "tstamp": Kind.NUMBER,
    "timestamp": Kind.TIMESTAMP,
    "created_at": Kind.TIMESTAMP,
    "evaluated_at": Kind.TIMESTAMP,
    "submitted_at": Kind.TIMESTAMP,
    "score": Kind.NUMBER,
    "stake": Kind.NUMBER,
    "uid": Kind.INTEGER,
    "epoch": Kind.INTEGER,
    "id": Kind.ID,
    "prompt": Kind.ID,
    "prompt_id": Kind.ID,
    "worker": Kind.ID,
}


@dataclass(frozen=True)
class ForeignTable:
    """A table of a format.

    Attributes:
        format: its name.
        discipline: the discipline of the records.
        rows: the rows in plain spelling.
    """

    format: str
    discipline: str
    rows: Rows


FOREIGN = {
    "battles": ForeignTable(
        "arena-battles",
        "arena",
        [
            {"model_a": "one", "model_b": "two", "winner": "model_a", "prompt_id": 7,
             "timestamp": "2026-01-20T00:00:00Z"},
            {"model_a": "two", "model_b": "three", "winner": "tie", "prompt_id": 8,
             "timestamp": "2026-01-20T00:00:00Z"},
            {"model_a": "one", "model_b": "three", "winner": "model_b", "prompt_id": 8,
             "timestamp": "2026-01-21T10:30:00.250000Z"},
        ],
    ),
    "votes": ForeignTable(
        "comparisons",
        "arena",
        [
            {"id": 1, "prompt": 7, "left": "one", "right": "two", "winner": "left", "worker": 3,
             "created_at": "2026-01-20T00:00:00Z"},
            {"id": 1, "prompt": 7, "left": "two", "right": "one", "winner": "tie", "worker": 4,
             "created_at": "2026-01-20T10:30:00.250000Z"},
        ],
    ),
    "evaluations": ForeignTable(
        "bittensor-evaluations",
        "challenge",
        [
            {"uid": 3, "hotkey": "5F", "validator": "v1", "score": 0.4, "stake": 400.0, "epoch": 0,
             "evaluated_at": "2026-01-20T00:00:00Z", "submitted_at": "2026-01-02T03:04:05Z"},
            {"uid": 3, "hotkey": "5F", "validator": "v1", "score": 0.4, "stake": 400.0, "epoch": 1,
             "evaluated_at": "2026-01-21T10:30:00.250000Z", "submitted_at": "2026-01-02T03:04:05Z"},
        ],
    ),
}  # fmt: skip
"""Tables that are imported from a file."""


def foreign_rows(name: str, spelling: str) -> Rows:
    """Return the rows of a table in a spelling."""
    spell, name_of = SPELLINGS[spelling], name_speller(spelling)
    return [
        {
            name_of(column): spell(Column(column, _KINDS.get(column, Kind.TEXT)), value)
            for column, value in row.items()
        }
        for row in FOREIGN[name].rows
    ]


def write_foreign(folder: Path, name: str, spelling: str) -> tuple[str, Path]:
    """Write a source that can be imported: its format, and the path."""
    if name not in FOREIGN:
        return "peerbench", write_folder(folder, "community", spelling)
    folder.mkdir()
    ending, content = file_of(spelling, foreign_rows(name, spelling))
    file = folder / f"{name}{ending}"
    file.write_bytes(content)
    return FOREIGN[name].format, file


SOURCES = ("community", *FOREIGN)
"""The tables that are imported, by name."""
