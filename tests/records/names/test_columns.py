"""Columns under the names their source gives them."""

from pathlib import Path

import pytest

from agon.errors import Unreadable
from agon.records import Column, InvalidRecords, Kind, Schema, Table, read, read_rows
from agon.records.names.mapping import SourceMapping

SCHEMA = Schema(
    "toy",
    (
        Table("users", (Column("id", Kind.ID), Column("name", Kind.TEXT)), required=True),
        Table("games", (Column("id", Kind.ID), Column("points", Kind.NUMBER, low=0))),
    ),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_a_file_is_read_under_its_own_names(tmp_path: Path, ending: str) -> None:
    """Issues name the column as the file does; the records name it as the schema does."""
    texts = {
        "csv": "key,points\n1,2\n2,-1\n",
        "ndjson": '{"key": 1, "points": 2}\n{"key": 2, "points": -1}\n',
    }
    (tmp_path / f"users.{ending}").write_text(
        {"csv": "id,nick\n7,ada\n", "ndjson": '{"id": 7, "nick": "ada"}\n'}[ending]
    )
    (tmp_path / f"games.{ending}").write_text(texts[ending].replace("points", "won"))
    columns = {"name": "nick", "games.id": "key", "points": "won"}
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, tmp_path, mapping=SourceMapping(columns=columns))
    assert [(issue.row, issue.column) for issue in caught.value.issues] == [(2, "won")]
    (tmp_path / f"games.{ending}").write_text(
        texts[ending].replace("points", "won").replace("-", "")
    )
    with read(SCHEMA, tmp_path, mapping=SourceMapping(columns=columns)) as records:
        assert records.arrow("users").to_pylist() == [{"_row": 1, "id": 7, "name": "ada"}]
        assert records.arrow("games", ["id", "points"]).to_pylist()[1] == {"id": 2, "points": 1.0}


def test_two_columns_may_swap_their_names() -> None:
    """A name that is read from another column hides what stands under it."""
    rows = {"users": [{"id": "ada", "name": "1"}]}
    with read_rows(
        SCHEMA, rows, mapping=SourceMapping(columns={"users.id": "name", "name": "id"})
    ) as records:
        assert records.arrow("users", ["id", "name"]).to_pylist() == [{"id": 1, "name": "ada"}]
    with read_rows(SCHEMA, {"users": [{"id": 1, "name": "a", "nick": "b"}]},
                   mapping=SourceMapping(columns={"name": "nick"})) as records:  # fmt: skip
        assert records.arrow("users", ["name"]).to_pylist() == [{"name": "b"}]


def test_a_name_must_be_that_of_one_column() -> None:
    """All that are not are listed at once."""
    with pytest.raises(Unreadable, match=r"users\.id, games\.id.*'nme'.*name"):
        read_rows(
            SCHEMA, {"users": []}, mapping=SourceMapping(columns={"id": "key", "nme": "nick"})
        )


def test_a_column_that_the_source_lacks_is_named_as_expected_there() -> None:
    """A misspelt source column."""
    with pytest.raises(InvalidRecords, match="nick"):
        read_rows(
            SCHEMA,
            {"users": [{"id": 1, "name": "ada"}]},
            mapping=SourceMapping(columns={"name": "nick"}),
        )
