"""Tables in several Parquet files, in a folder named after the table."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agon.records import RowIssue, read
from agon.records.sources.sizes import source_size
from records.contest import SCHEMA, arrow, issues_of, values, write_parquet


def split(folder: Path, *, at: int = 2) -> Path:
    """Write the contest with the votes in two files."""
    tables = values()
    votes = tables.pop("votes")
    folder.mkdir()
    write_parquet(folder, tables)
    parts = folder / "votes"
    parts.mkdir()
    table = arrow(votes)
    pq.write_table(table.slice(0, at), parts / "2026-01-01.parquet")
    pq.write_table(table.slice(at), parts / "2026-01-02.parquet")
    (parts / "_SUCCESS").touch()
    return folder


def issues(folder: Path) -> list[RowIssue]:
    """Return what is wrong with a folder."""
    return issues_of(SCHEMA, folder)


@pytest.mark.sample(1)
@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_table_in_files_equals_the_table_in_one_file(tmp_path: Path, at: int) -> None:
    """Row numbers run through the files, by their names: they decide between equal times."""
    whole = tmp_path / "whole"
    whole.mkdir()
    write_parquet(whole, values())
    parts = split(tmp_path / "parts", at=at)
    with read(SCHEMA, whole) as expected, read(SCHEMA, parts) as records:
        assert records.arrow("votes").equals(expected.arrow("votes"))
        assert records.sha256 == expected.sha256
    assert [table.rows for table in source_size(SCHEMA, parts).tables] == [3, 3, 3]


@pytest.mark.exhaustive
def test_issues_name_the_file_and_the_row_in_it(tmp_path: Path) -> None:
    """A running number would have to be counted through the files."""
    folder = split(tmp_path / "parts")
    works = folder / "works"
    works.mkdir()
    rows = arrow(values()["works"])
    pq.write_table(rows, works / "a.parquet")
    pq.write_table(rows.slice(1, 1), works / "b.parquet")
    (folder / "works.parquet").unlink()
    votes = {"work_id": pa.array(["w9"]), "person_id": pa.array([None], pa.int64()), "points": [1]}
    pq.write_table(pa.table(votes), folder / "votes" / "2026-01-03.parquet")
    assert [(one.code, one.location, one.row, one.reason) for one in issues(folder)] == [
        ("duplicate-key", "works/b.parquet", 1, "stands in row 2 of works/a.parquet already"),
        ("unknown-reference", "votes/2026-01-03.parquet", 1, "is no id of works"),
    ]


def test_a_folder_that_is_no_table_is_an_issue(tmp_path: Path) -> None:
    """Files left out without a word would change boards."""
    folder = split(tmp_path / "parts")
    write_parquet(folder, {"votes": values()["votes"]})
    assert [one.code for one in issues(folder)] == ["ambiguous-table"]
    (folder / "votes.parquet").unlink()
    (folder / "votes" / "2026-01-03.csv").touch()
    assert [(one.location, one.reason) for one in issues(folder)] == [
        ("votes/2026-01-03.csv", "is not a Parquet file")
    ]
    (folder / "votes" / "2026-01-03.csv").unlink()
    other = pa.table({"work_id": [1.5], "points": [1]})
    pq.write_table(other, folder / "votes" / "2026-01-03.parquet")
    (one,) = issues(folder)
    assert one.location == "votes/2026-01-03.parquet"
    assert one.reason.endswith("than votes/2026-01-01.parquet (person_id, work_id)")
    for file in (folder / "votes").glob("2026*"):
        file.unlink()
    assert [one.reason for one in issues(folder)] == ["has no Parquet files"]


def test_a_damaged_file_of_several_is_named(tmp_path: Path) -> None:
    """It shows only when the file is read to its end, or opened."""
    folder = split(tmp_path / "parts")
    (folder / "votes" / "2026-01-02.parquet").write_bytes(b"PAR1")
    assert [(one.code, one.location) for one in issues(folder)] == [
        ("unreadable-table", "votes/2026-01-02.parquet")
    ]
