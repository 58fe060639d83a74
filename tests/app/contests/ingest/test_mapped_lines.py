"""NDJSON with names and values of its own is read by a mapping, line by line."""

from typing import Any

import orjson
import pytest

from agon.app.contests.ingest.mapped_lines import map_lines
from agon.records import InvalidRecords
from agon.records.names.mapping import source_mapping

MAPPING = source_mapping(
    {
        "tables": {"quick_feedbacks": "thumbs", "prompts": "asked"},
        "columns": {"quick_feedbacks.user_id": "who", "prompts.uploader_id": "author"},
        "values": {"opinion": {"yay": "positive"}},
        "skip_missing": ["opinion"],
        "ignore": ["remark"],
    }
)
_AT = '"created_at": "2026-01-01"'
_THUMB = '{"table": "thumbs", "row": {"who": 1, "prompt_id": 7, "opinion": %s, ' + _AT + "}%s}"
LINES = (
    '{"table": "users", "row": {"id": 1, "remark": "x"}}',
    _THUMB % ('"yay"', ', "external_id": "t-1"'),
    "",
    '{"table": "asked", "row": {"id": 7, "author": 1}, "external_id": "p"}',
    _THUMB % ("null", ""),
    _THUMB % ('"negative"', ""),
)


def _mapped(*lines: str) -> tuple[list[Any], tuple[str, ...]]:
    sent = ["\n".join(lines).encode()]
    with map_lines("community", sent, MAPPING, table=None, option="--ignore NAME") as mapped:
        read = b"".join(mapped.lines).splitlines()
    return [orjson.loads(line) if line else None for line in read], mapped.notes


def test_lines_of_several_tables_are_read_by_one_mapping() -> None:
    """Rows stay on their lines, with the ids that their sender gave them."""
    read, notes = _mapped(*LINES)
    assert read[0] == {"table": "users", "row": {"id": 1}}
    assert read[1] == {
        "table": "quick_feedbacks",
        "external_id": "t-1",
        "row": {"user_id": 1, "prompt_id": 7, "opinion": "positive",
                "created_at": "2026-01-01T00:00:00Z"},
    }  # fmt: skip
    assert read[2] is None
    assert read[3] == {"table": "prompts", "external_id": "p", "row": {"id": 7, "uploader_id": 1}}
    assert read[4] is None  # its opinion is missing
    assert read[5]["row"]["opinion"] == "negative"
    assert any(
        "left out 1 row without a value of quick_feedbacks.opinion" in note for note in notes
    )


def test_everything_that_is_wrong_is_said_by_the_line() -> None:
    """What is no row, an unknown table, an unknown value."""
    with pytest.raises(InvalidRecords) as error:
        _mapped(*LINES, "{", '{"table": "thumb", "row": {}}', _THUMB % ('"meh"', ""))
    assert [(issue.line, issue.code) for issue in error.value.issues] == [
        (7, "bad-line"), (8, "unknown-table"), (9, "unknown-value"),
    ]  # fmt: skip
