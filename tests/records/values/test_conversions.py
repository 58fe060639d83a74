"""Values as people write them are read as what they mean, each column with one note."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agon.records import Column, InvalidRecords, Kind, Records, Schema, Table, read, read_rows
from agon.records.names.mapping import NO_MAPPING, SourceMapping, source_mapping

GAMES = Schema(
    "games",
    (
        Table("games", (
            Column("id", Kind.ID),
            Column("a", Kind.TEXT, required=False),
            Column("b", Kind.TEXT, required=False),
            Column("winner", Kind.TEXT, required=False, choices=("a", "b", "tie"),
                   sides=("a", "b")),
            Column("rated", Kind.BOOLEAN, required=False),
            Column("at", Kind.TIMESTAMP, required=False),
            Column("tags", Kind.TEXT, required=False, lists=True),
        )),
    ),
)  # fmt: skip


def games(rows: Any, mapping: SourceMapping = NO_MAPPING) -> Records:
    """Read rows of one table in memory."""
    return read_rows(GAMES, {"games": rows}, mapping=mapping)


def column(records: Records, name: str) -> list[Any]:
    """Return the values of a column."""
    values: list[Any] = records.arrow("games", [name])[name].to_pylist()
    return values


def csv(folder: Path, text: str, mapping: SourceMapping = NO_MAPPING) -> Records:
    """Read the text of a CSV file."""
    (folder / "games.csv").write_text(text)
    return read(GAMES, folder, mapping=mapping)


def test_exact_values_have_no_notes(tmp_path: Path) -> None:
    """Notes are about what was decided."""
    text = "id,winner,rated,at\n1,a,true,2026-01-01T00:00:00Z\n2,tie,0,2026-01-01\n"
    assert csv(tmp_path, text).notes == ()


def test_closed_words_are_read_in_any_spelling_with_one_note(tmp_path: Path) -> None:
    """Case, blanks and synonyms, and the name of either side."""
    text = "id,a,b,winner\n1,x,y,A \n2,x,y,1/2-1/2\n3,y,x,X\n4,x,y,b\n"
    records = csv(tmp_path, text)
    assert column(records, "winner") == ["a", "tie", "b", "b"]
    [note] = records.notes
    assert note.startswith("winner: read names as the side of that name (1 row), '1/2-1/2' as tie")
    assert note.endswith("'A ' as a (1 row)")


def test_beside_home_the_letter_a_is_away_and_not_side_a(tmp_path: Path) -> None:
    """Tables of leagues have H, D and A; A as side a would turn each win of the guests around."""
    text = "id,winner\n1,H\n2,A\n3,D\n4,a\n"
    records = csv(tmp_path, text)
    assert column(records, "winner") == ["a", "b", "tie", "b"]
    assert "'A' as b (1 row)" in records.notes[0]
    stated = source_mapping({"values": {"winner": {"H": "a", "D": "tie", "P": "tie"}}})
    assert column(csv(tmp_path, text, stated), "winner") == ["a", "b", "tie", "b"]
    assert column(csv(tmp_path, text + "5,P\n", stated), "winner")[1:3] == ["b", "tie"]
    with pytest.raises(InvalidRecords, match="'A' is not one of the known values"):
        csv(tmp_path, text + "5,?\n", stated)
    assert column(csv(tmp_path, "id,winner\n1,A\n2,B\n"), "winner") == ["a", "b"]


def test_a_word_that_may_be_a_side_or_a_name_is_refused(tmp_path: Path) -> None:
    """Both ways of saying which are in the message, and both work."""
    text = "id,a,b,winner\n1,A,B,A\n2,B,A,A\n"
    cure = r"winner\.A=name for the name, winner\.A=a for the side"
    with pytest.raises(InvalidRecords, match=cure):
        csv(tmp_path, text)
    for value, winners in (("name", ["a", "b"]), ("a", ["a", "a"])):
        records = csv(tmp_path, text, source_mapping({"values": {"winner": {"A": value}}}))
        assert column(records, "winner") == winners


def test_an_exact_word_is_never_a_name() -> None:
    """Records that agon writes are read back as they are, whatever bots are called."""
    rows = [{"id": 1, "a": "b", "b": "a", "winner": "a"}]
    assert column(games(rows), "winner") == ["a"]


@pytest.mark.parametrize("stored", [1, 1.0, "1", "1.0"])
def test_stated_values_are_read_from_numbers_too(stored: Any) -> None:
    """A column of 0 and 1 is a number in Parquet and a text in CSV."""
    mapping = source_mapping({"values": {"winner.1": "a"}})
    assert column(games([{"id": 1, "winner": stored}], mapping), "winner") == ["a"]


def test_booleans_of_people_are_read_with_a_note(tmp_path: Path) -> None:
    """Yes and no are read as before; the note is new."""
    records = csv(tmp_path, "id,rated\n1,Yes\n2,n\n3,True\n")
    assert column(records, "rated") == [True, False, True]
    assert records.notes == ("rated: read 'Yes' as true, 'n' as false",)


@pytest.mark.parametrize("one", [1, 1.0, "1", "1.0"])
def test_booleans_are_read_from_numbers_in_every_form(one: Any) -> None:
    """A column of 0 and 1 with gaps is one of floats in a data frame and in a workbook."""
    zero = one.replace("1", "0") if isinstance(one, str) else type(one)(0)
    rows = [{"id": n, "rated": value} for n, value in enumerate((one, zero, None))]
    assert column(games(rows), "rated") == [True, False, None]
    for other in (2.0, "0.5", float("inf")):
        with pytest.raises(InvalidRecords, match="is not true or false"):
            games([{"id": 1, "rated": other}])


def test_ids_of_spreadsheets_are_whole_numbers(tmp_path: Path) -> None:
    """A column with gaps is written as floats by pandas; a version number is not one."""
    records = csv(tmp_path, "id\n10.0\n11\n")
    assert column(records, "id") == [10, 11]
    assert records.notes == ("id: read 10.0 as 10",)
    assert column(csv(tmp_path, "id\n1.0\n1.5\n"), "id") == ["1.0", "1.5"]


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_times_since_1970_are_read_in_the_unit_of_the_column(unit: int, kind: pa.DataType) -> None:
    """Seconds, milliseconds and microseconds cannot be confused between 1990 and 2100."""
    values = pa.array([1_700_000_000 * unit, None, 1_700_000_001 * unit]).cast(kind)
    records = games(pa.table({"id": [1, 2, 3], "at": values}))
    shown = [None if at is None else at.isoformat() for at in column(records, "at")]
    assert shown == ["2023-11-14T22:13:20", None, "2023-11-14T22:13:21"]
    assert len(records.notes) == 1


def test_times_since_1970_may_have_empty_texts_between_them() -> None:
    """A database keeps '' where a file has nothing."""
    records = games(pa.table({"id": [1, 2], "at": ["1700000000", ""]}))
    assert [at is None for at in column(records, "at")] == [False, True]


def test_times_in_two_units_are_refused() -> None:
    """A whole column is in one unit, or something is wrong with it."""
    with pytest.raises(InvalidRecords, match="column at"):
        games([{"id": 1, "at": 1_700_000_000}, {"id": 2, "at": 1_700_000_000_000}])


def test_times_without_a_zone_are_noted_once(tmp_path: Path) -> None:
    """Dates and times with a zone are exact."""
    records = csv(tmp_path, "id,at\n1,2026-01-01 10:00\n2,2026-01-01T10:00:00+01:00\n")
    assert records.notes == ("times without a zone are read as UTC: at",)
    exact = csv(tmp_path, "id,at\n1,2026-01-01\n2,2026-01-01T10:00:00+01:00\n3,2026-01-01 10:00Z\n")
    assert exact.notes == ()


def test_stated_texts_are_no_value_and_rows_without_one_are_left_out(tmp_path: Path) -> None:
    """Both are counted; row numbers stay those of the file."""
    mapping = source_mapping({"null": ["NA", "n/a"], "skip_missing": ["winner"]})
    records = csv(tmp_path, "id,a,winner\n1,na,\n2,x,N/A\n3,y,a\n", mapping)
    assert records.arrow("games", ["_row", "id", "a"]).to_pylist() == [
        {"_row": 3, "id": 3, "a": "y"}
    ]
    assert records.notes == (
        "a: 1 row read as missing",
        "winner: 1 row read as missing",
        "left out 2 rows without a value of winner",
    )


def test_lists_are_read_as_one_text() -> None:
    """Only of columns that say so: a list elsewhere is an error."""
    rows = [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": None}]
    assert column(games(rows), "tags") == ["x, y", None]


def test_names_of_a_mapping_that_nothing_is_read_from_are_noted() -> None:
    """A misspelt name has no effect; one mapping may be for several sources, so it is no error."""
    mapping = source_mapping({"values": {"winer.H": "a"}, "skip_missing": ["rate"]})
    notes = games([{"id": 1, "winner": "a", "rated": True}], mapping).notes
    assert [note.partition(":")[0] for note in notes] == ["values", "skip_missing"]
    assert "did you mean winner" in notes[0]
