"""Rows are selected by values of columns, those that no table of the schema has included."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agon.disciplines import discipline
from agon.errors import Unreadable
from agon.records import Records, read, read_rows
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.writing import FORMATS, TableFormat, write_tables

SCHEMA = discipline("arena").schema
TABLES: dict[str, Any] = {
    "bots": [{"id": "ann", "name": "Ann"}, {"id": "bob", "name": "Bob"}],
    "matches": [
        {
            "id": number,
            "played_at": None,
            "bot_a": "ann",
            "bot_b": "bob",
            "kind": "rated",
            "language": language,
            "turn": turn,
            "is_code": turn > 1,
            "tags": tags,
        }
        for number, (language, turn, tags) in enumerate(
            [("en", 1, ["math"]), ("de", 1, []), ("en", 2, ["math", "code"]), (None, 3, ["code"])],
            start=1,
        )
    ],
    "votes": [
        {"match_id": n, "judge_id": "j", "shown_first": "a", "vote": "A", "voted_at": None}
        for n in (1, 2, 3, 4)
    ],
}


def ids(records: Records) -> list[int]:
    """Return the ids of the matches."""
    return list(records.arrow("matches")["id"].to_pylist())


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"language": "en"}, [1, 3]),
        ({"matches.language": ["en", "de"]}, [1, 2, 3]),
        ({"language": "en", "turn": 1}, [1]),
        ({"turn": "1.0"}, [1, 2]),
        ({"is_code": True}, [3, 4]),
        ({"tags": "code"}, [3, 4]),
        ({"language": ""}, [4]),
        ({"matches.id": 2}, [2]),
    ],
)
def test_rows_are_selected_by_value_and_type(where: dict[str, Any], expected: list[int]) -> None:
    """Text, numbers, booleans, lists and empty values; several conditions hold together."""
    with read_rows(SCHEMA, TABLES, where=where) as records:
        assert ids(records) == expected
        # A vote on a match that is left out would refer to nothing.
        assert records.arrow("votes")["match_id"].to_pylist() == expected
        assert records.count("bots") == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_files_of_every_form_are_filtered_equally(tmp_path: Path, form: TableFormat) -> None:
    """A folder that was written in any format."""
    tables = {name: pa.Table.from_pylist(rows) for name, rows in TABLES.items()}
    write_tables(tables, tmp_path / "data", format=form)
    with read(SCHEMA, tmp_path / "data", where={"language": "en", "is_code": "true"}) as records:
        assert ids(records) == [3]
    with read(SCHEMA, tmp_path / "data") as everything, read_rows(SCHEMA, TABLES) as rows:
        assert everything.sha256 == rows.sha256


@pytest.mark.exhaustive
def test_a_condition_is_no_part_of_the_records() -> None:
    """The hash of selected records is that of the same rows without the column."""
    chosen = [row for row in TABLES["matches"] if row["language"] == "de"]
    plain = [{k: row[k] for k in ("id", "played_at", "bot_a", "bot_b", "kind")} for row in chosen]
    votes = [row for row in TABLES["votes"] if row["match_id"] == 2]
    with (
        read_rows(SCHEMA, TABLES, where={"language": "de"}) as selected,
        read_rows(SCHEMA, {**TABLES, "matches": plain, "votes": votes}) as alone,
    ):
        assert selected.sha256 == alone.sha256


def test_columns_have_the_names_of_the_source() -> None:
    """In conditions as in everything else that a reader writes."""
    rows = [{**row, "first": row["bot_a"]} for row in TABLES["matches"]]
    for row in rows:
        del row["bot_a"]
    rows[0]["first"], rows[0]["bot_b"] = "bob", "ann"
    tables = {**TABLES, "matches": rows}
    names = {"matches.bot_a": "first"}
    with read_rows(
        SCHEMA, tables, mapping=SourceMapping(columns=names), where={"matches.first": "bob"}
    ) as records:
        assert ids(records) == [1]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"lang": "en"}, "did you mean language"),
        ({"id": "ann"}, r"bots\.id, matches\.id"),
        ({"language": "fr"}, r"no row has language=fr.*en \(2\)"),
        ("language=en", "give values by column"),
    ],
)
def test_a_condition_that_selects_nothing_is_an_error(where: Any, message: str) -> None:
    """An empty board would be taken for a result."""
    with pytest.raises(Unreadable, match=message):
        read_rows(SCHEMA, TABLES, where=where)


def test_names_of_columns_are_given_by_the_schema_s() -> None:
    """One name alone does not say which column has it."""
    with pytest.raises(Unreadable, match="by the schema's"):
        NO_MAPPING.with_columns("left")  # type: ignore[arg-type]
