"""Folders as people really have them: wrong names, two formats, links, no permission."""

from pathlib import Path

import pytest

from agon.errors import NotFound, Unavailable, Unreadable
from agon.records import InvalidRecords, RowIssue, read, read_rows
from records.contest import SCHEMA, issues_of, texts, values, write_csv, write_ndjson, write_parquet


def issues(folder: Path) -> list[RowIssue]:
    """Read a folder and return what is wrong with it."""
    return issues_of(SCHEMA, folder)


@pytest.mark.exhaustive
def test_each_table_may_have_its_own_format(tmp_path: Path) -> None:
    """Tables come from different programs; ids still meet, numbers in one and text in another."""
    as_text, typed = texts(), values()
    write_csv(tmp_path, {"people": as_text["people"]})
    write_parquet(tmp_path, {"works": typed["works"]})
    write_ndjson(tmp_path, {"votes": typed["votes"]})
    with read(SCHEMA, tmp_path) as records:
        assert records.sha256 == read_rows(SCHEMA, typed).sha256


def test_a_table_in_two_formats_is_refused(tmp_path: Path) -> None:
    """Nobody can say which one is meant."""
    write_csv(tmp_path, texts())
    write_parquet(tmp_path, {"works": values()["works"]})
    result = issues(tmp_path)
    assert [(one.code, one.table) for one in result] == [("ambiguous-table", "works")]
    assert result[0].location == "works.parquet and works.csv"


def test_an_optional_table_misspelt_is_a_warning(tmp_path: Path) -> None:
    """Counting its rows as none would move every score in silence."""
    write_csv(tmp_path, texts())
    (tmp_path / "votes.csv").rename(tmp_path / "vots.csv")
    with read(SCHEMA, tmp_path) as records:
        assert records.notes == ("not used: vots.csv (did you mean votes?)",)
        assert [(one.code, one.table, one.location) for one in records.names.near] == [
            ("unknown-table", "votes", "vots.csv")
        ]
        with pytest.raises(InvalidRecords, match=r"vots.csv: .* did you mean votes\?"):
            records.names.require_exact(option="ignore")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Votes.csv", "VOTES.CSV", " votes.csv"])
def test_a_table_in_another_spelling_is_read(tmp_path: Path, name: str) -> None:
    """People and systems write names as they like; a note says what was read."""
    write_csv(tmp_path, texts())
    (tmp_path / "votes.csv").rename(tmp_path / name)
    with read(SCHEMA, tmp_path) as records:
        assert records.sha256 == read_rows(SCHEMA, values()).sha256
        assert records.notes == (f"read {name} as votes",)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("poeple.csv", "is it meant?"),
        ("people.xls", "save it as .xlsx or as CSV"),
        ("people.zip", "unpack it, or name it after what it holds, as in users.csv.zip"),
    ],
)
def test_a_required_table_misspelt_is_missing_with_a_hint(
    tmp_path: Path, name: str, hint: str
) -> None:
    """The message names the file that is there."""
    write_csv(tmp_path, texts())
    (tmp_path / "people.csv").rename(tmp_path / name)
    result = issues(tmp_path)
    assert [(one.code, one.table) for one in result] == [("missing-table", "people")]
    assert f"there is {name}: {hint}" in result[0].remedy


def test_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    """A folder may hold a README, the truth of a simulation, a neighbour's tables."""
    write_csv(tmp_path, texts())
    for name in ("README.md", "truth.csv", "users.csv", ".people.csv.swp"):
        (tmp_path / name).write_bytes(b"\x00")
    assert issues(tmp_path) == []


def test_a_folder_without_any_table_says_what_it_looked_for(tmp_path: Path) -> None:
    """The likeliest mistake is the wrong folder; the next, the wrong name."""
    (tmp_path / "poeple.csv").write_text("id,name\n")
    with pytest.raises(Unreadable, match=r"looked for people, works, votes.*there is poeple\.csv"):
        read(SCHEMA, tmp_path)


def test_a_folder_named_like_a_table_is_reported(tmp_path: Path) -> None:
    """It must not count as an absent table."""
    write_csv(tmp_path, texts())
    (tmp_path / "votes.csv").unlink()
    (tmp_path / "votes.csv").mkdir()
    result = issues(tmp_path)
    assert [(one.code, one.table) for one in result] == [("unreadable-table", "votes")]
    assert result[0].reason == "is a folder"


@pytest.mark.exhaustive
def test_a_link_is_followed_and_a_dead_one_reported(tmp_path: Path) -> None:
    """Data folders are often links into a store."""
    data, linked = tmp_path / "data", tmp_path / "linked"
    data.mkdir()
    write_csv(data, texts())
    linked.mkdir()
    for file in data.iterdir():
        (linked / file.name).symlink_to(file)
    assert issues(linked) == []
    (data / "votes.csv").unlink()
    assert [(one.code, one.table) for one in issues(linked)] == [("unreadable-table", "votes")]


@pytest.mark.parametrize("write", [write_csv, write_ndjson, write_parquet])
def test_a_file_that_may_not_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: object
) -> None:
    """The test may run as root, whom nothing is forbidden, so opening is made to fail."""
    assert callable(write)
    write(tmp_path, {"people": texts()["people"]})
    opened = Path.open

    def forbidden(path: Path, *args: str, **options: str) -> object:
        if path.stem == "people":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)  # type: ignore[call-overload]  # passed on unchanged

    monkeypatch.setattr(Path, "open", forbidden)
    result = issues(tmp_path)
    assert [(one.code, one.table) for one in result] == [("unreadable-table", "people")]
    assert result[0].reason == "may not be read"


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", [write_csv, write_ndjson, write_parquet])
def test_names_of_folders_are_no_patterns_and_no_sql(tmp_path: Path, write: object) -> None:
    """Brackets, stars, quotes and ``key=value`` mean something to the engine, not to people."""
    assert callable(write)
    folder = tmp_path / "we[ir]d*?'; --\" x" / "kind=poem"
    folder.mkdir(parents=True)
    write(folder, texts())
    with read(SCHEMA, folder) as records:
        assert records.arrow("works").column("kind").to_pylist() == ["essay", "poem", "essay"]


@pytest.mark.parametrize(
    "source", ["nowhere", "nowhere/at/all", "a\x00b", "x" * 5_000, "README.md/inside"]
)
def test_a_source_that_is_not_there_is_not_found(tmp_path: Path, source: str) -> None:
    """Exit code 3, or 2 for a name no file can have; no traceback."""
    (tmp_path / "README.md").touch()
    with pytest.raises((NotFound, Unreadable)):
        read(SCHEMA, tmp_path / source)


@pytest.mark.parametrize("content", [b"", b"id,name\n1,Ada\n", b"\x00" * 64])
def test_a_file_of_another_kind_is_refused_with_what_is_read(
    tmp_path: Path, content: bytes
) -> None:
    """A single CSV file is a table, not records."""
    (tmp_path / "records").write_bytes(content)
    with pytest.raises(Unreadable, match="give a folder that holds one file per table"):
        read(SCHEMA, tmp_path / "records")
    (tmp_path / "records").rename(tmp_path / "records.ODS")
    with pytest.raises(Unreadable, match=r"save it as \.xlsx or as CSV, or give a folder"):
        read(SCHEMA, tmp_path / "records.ODS")


@pytest.mark.parametrize("address", ["https://example.org/x", "spark://host/x", "mysql://host/x"])
def test_an_address_of_another_kind_is_unavailable(address: str) -> None:
    """Exit code 5: this version has no such source."""
    with pytest.raises(Unavailable, match="does not read"):
        read(SCHEMA, address)


def test_a_fault_in_one_table_does_not_hide_the_faults_of_another(tmp_path: Path) -> None:
    """An unreadable table is one issue among others; references to it are not issues."""
    tables = texts()
    tables["votes"][0]["points"] = "many"
    write_csv(tmp_path, tables)
    (tmp_path / "people.csv").write_bytes(b"PAR1")
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, tmp_path)
    assert {(one.code, one.table) for one in caught.value.issues} == {
        ("unreadable-table", "people"),
        ("wrong-type", "votes"),
    }
