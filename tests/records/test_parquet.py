"""Parquet files, good, odd and damaged."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agon.records import RowIssue, read, read_rows
from records.contest import SCHEMA, issues_of, texts, values, write_parquet
from records.test_csv import NOTES


def issues(folder: Path, table: pa.Table | bytes) -> list[RowIssue]:
    """Read one file of notes and return what is wrong with it."""
    file = folder / "notes.parquet"
    if isinstance(table, bytes):
        file.write_bytes(table)
    else:
        pq.write_table(table, file)
    return issues_of(NOTES, folder)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,note\n1,2\n", b"PAR1" * 100])
def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    """The ending promises what the content does not keep."""
    result = issues(tmp_path, content)
    assert [one.code for one in result] == ["unreadable-table"]
    assert result[0].reason.startswith("is not a Parquet file")


def test_a_file_cut_off_is_refused(tmp_path: Path) -> None:
    """Half a download has no footer."""
    pq.write_table(pa.table({"id": range(1000), "note": ["x"] * 1000}), tmp_path / "complete")
    content = (tmp_path / "complete").read_bytes()
    assert [one.code for one in issues(tmp_path, content[:-100])] == ["unreadable-table"]


def test_a_damaged_page_is_reported_though_the_footer_is_sound(tmp_path: Path) -> None:
    """It shows only when the file is read to its end."""
    table = pa.table({"id": list(range(100_000)), "note": ["x"] * 100_000})
    pq.write_table(table, tmp_path / "complete")
    content = bytearray((tmp_path / "complete").read_bytes())
    content[2_000:6_000] = b"\xff" * 4_000
    result = issues(tmp_path, bytes(content))
    assert [(one.code, one.location) for one in result] == [("unreadable-table", "notes.parquet")]


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    """Arrow writes such text unchecked; the engine rejects it without a position."""
    valid = pa.array([b"plain", b"K\xe4se", None, b"\xd6l"])
    note = pa.Array.from_buffers(pa.string(), 4, valid.buffers())
    result = issues(tmp_path, pa.table({"id": [1, 2, 3, 4], "note": note}))
    assert [(one.code, one.row, one.column, one.value) for one in result] == [
        ("wrong-encoding", 2, "note", r"K\xe4se"),
        ("wrong-encoding", 4, "note", r"\xd6l"),
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "ids",
    [pa.array([True]), pa.array([1.5]), pa.array([float("nan")]), pa.array([2.0**60]),
     pa.array([b"\x01"]), pa.array([[1]]), pa.array([{"a": 1}]), pa.array([Decimal("1.5")]),
     pa.array([0], pa.timestamp("us"))],
)  # fmt: skip
def test_an_id_must_be_a_whole_number_or_text(tmp_path: Path, ids: pa.Array) -> None:
    """A truth value, a fraction, a time or a float too large to be exact is no id."""
    result = issues(tmp_path, pa.table({"id": ids, "note": ["x"]}))
    assert [(one.code, one.row, one.column) for one in result] == [("wrong-type", 1, "id")]


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array([7], pa.int8()), 7),
        (pa.array([7], pa.uint64()), 7),
        (pa.array([2**64 - 1], pa.uint64()), str(2**64 - 1)),
        (pa.array([7.0]), 7),
        (pa.array([7.0], pa.float32()), 7),
        (pa.array([Decimal(7)], pa.decimal128(38, 0)), 7),
        (pa.array([Decimal(10**30)], pa.decimal128(38, 0)), str(10**30)),
        (pa.array([Decimal("7.00")], pa.decimal128(10, 2)), 7),
        (pa.array(["7"]).dictionary_encode(), 7),
        (pa.array(["7"], pa.large_string()), 7),
        (pa.array(["07"]), "07"),
        (pa.array(["-7"]), -7),
        (pa.array(["-0"]), "-0"),
    ],
)
def test_a_number_is_the_id_that_it_writes(tmp_path: Path, ids: pa.Array, expected: object) -> None:
    """However wide a number is stored, its text is what a CSV file has."""
    pq.write_table(pa.table({"id": ids, "note": ["x"]}), tmp_path / "notes.parquet")
    with read(NOTES, tmp_path) as records:
        assert records.arrow("notes").column("id").to_pylist() == [expected]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "kind", [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("ns", "Asia/Kolkata"),
             pa.timestamp("us"), pa.date32(), pa.string()]
)  # fmt: skip
def test_a_time_is_one_however_it_is_stored(tmp_path: Path, kind: pa.DataType) -> None:
    """Seconds or nanoseconds, with a zone or without (UTC), a date or text."""
    tables = values()
    for row in tables["people"]:
        row.update(joined_at=None)
    write_parquet(tmp_path, tables)
    people = pq.read_table(tmp_path / "people.parquet")
    stamps = pa.array(["2026-01-02", None, None])
    column = stamps if kind == pa.string() else stamps.cast(pa.timestamp("s")).cast(kind)
    at = people.schema.get_field_index("joined_at")
    pq.write_table(people.set_column(at, "joined_at", column), tmp_path / "people.parquet")
    expected = values()
    for row, time in zip(expected["people"], ["2026-01-02", None, None], strict=True):
        row.update(joined_at=time)
    with read(SCHEMA, tmp_path) as records:
        assert records.sha256 == read_rows(SCHEMA, expected).sha256


@pytest.mark.exhaustive
@pytest.mark.parametrize("stamp", [2**62, -(2**62), -62135596800000001, 253402300800000000])
def test_a_time_outside_the_years_1_to_9999_is_refused(tmp_path: Path, stamp: int) -> None:
    """No calendar of the libraries around has them."""
    tables = values()
    write_parquet(tmp_path, tables)
    people = pq.read_table(tmp_path / "people.parquet")
    column = pa.array([None, stamp, None], pa.timestamp("us"))
    at = people.schema.get_field_index("joined_at")
    pq.write_table(people.set_column(at, "joined_at", column), tmp_path / "people.parquet")
    result = issues_of(SCHEMA, tmp_path)
    assert [(one.code, one.row, one.column) for one in result] == [
        ("bad-timestamp", 2, "joined_at")
    ]


def test_rows_keep_their_numbers_across_row_groups(tmp_path: Path) -> None:
    """Row numbers come from the file, not from the order threads read it in."""
    ids = [f"i{at * 7919 % 50_000}" for at in range(50_000)]
    table = pa.table({"id": ids, "note": ["x"] * 49_999 + [None], "more": [""] * 50_000})
    pq.write_table(table, tmp_path / "notes.parquet", row_group_size=1_000)
    with read(NOTES, tmp_path) as records:
        read_back = records.arrow("notes")
    assert read_back.column("id").to_pylist() == ids
    assert read_back.column("_row").to_pylist() == list(range(1, 50_001))


def test_a_column_named_like_the_row_number_is_ignored(tmp_path: Path) -> None:
    """The engine's own row number has a name that a file may have, too."""
    table: dict[str, Any] = {"file_row_number": [5, 6], "id": ["a", "b"], "note": ["x", "y"]}
    pq.write_table(pa.table(table), tmp_path / "notes.parquet")
    with read(NOTES, tmp_path) as records:
        assert records.arrow("notes").column("_row").to_pylist() == [1, 2]


def test_a_column_of_nulls_without_a_type_is_empty(tmp_path: Path) -> None:
    """It must not turn the ids it belongs to into text."""
    tables = values()
    write_parquet(tmp_path, tables)
    works = pq.read_table(tmp_path / "works.parquet")
    at = works.schema.get_field_index("author_id")
    nulls = works.set_column(at, "author_id", pa.nulls(3))
    pq.write_table(nulls, tmp_path / "works.parquet")
    with read(SCHEMA, tmp_path) as records:
        assert records.arrow("works").schema.field("author_id").type == pa.int64()
        assert records.arrow("works").column("author_id").null_count == 3


@pytest.mark.exhaustive
def test_text_in_one_table_and_numbers_in_another_are_one_family(tmp_path: Path) -> None:
    """Exports differ in types; what is compared gets one type, numbers when all are numbers."""
    write_parquet(tmp_path, {**values(), "people": texts()["people"]})
    with read(SCHEMA, tmp_path) as records:
        assert records.arrow("people").schema.field("id").type == pa.int64()
        assert records.sha256 == read_rows(SCHEMA, values()).sha256
