"""CSV as people really save it: spreadsheets, other systems, broken downloads."""

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.records import Column, InvalidRecords, Kind, RowIssue, Schema, Table, inspect, read
from agon.records.sources import csv_file
from records.contest import SCHEMA, issues_of, texts, write_csv
from sizes import size

NOTES = Schema(
    "notes",
    (
        Table(
            "notes",
            (
                Column("id", Kind.ID),
                Column("note", Kind.TEXT, nullable=True),
                Column("more", Kind.TEXT, required=False),
            ),
            required=True,
        ),
    ),
)


def notes(folder: Path, content: bytes, name: str = "notes.csv") -> list[tuple[str, str | None]]:
    """Read one file of notes and return its rows."""
    (folder / name).write_bytes(content)
    with read(NOTES, folder) as records:
        rows = records.arrow("notes").to_pylist()
    return [(str(row["id"]), row["note"]) for row in rows]


def issues(folder: Path, content: bytes, name: str = "notes.csv") -> list[RowIssue]:
    """Read one file of notes and return what is wrong with it."""
    (folder / name).write_bytes(content)
    return issues_of(NOTES, folder)


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    "content",
    [
        b"id,note\na,x\nb,\n",
        b"\xef\xbb\xbfid,note\na,x\nb,\n",
        b"id,note\r\na,x\r\nb,\r\n",
        b"id,note\ra,x\rb,\r",
        b"id;note\na;x\nb;\n",
        b"id\tnote\na\tx\nb\t\n",
        b"id|note\na|x\nb|\n",
        b"id,note\na,x\n\n\nb,\n\n\n",
        b"id,note\na,x\nb,",
        b'"id","note"\n"a","x"\n"b",""\n',
        b" id , note \na,x\nb,\n",
        b"note,ID,id\nx,1,a\n,2,b\n",
        b"id,note,,\na,x,,\nb,,,\n",
        b"id,note\na,x,\nb,,\n",
        b"id,note\na,x\r\nb,\n",
        b"id,note,z;y;w;v\na,x,1\nb,,2\n",
        b'id,note,"two\nlines"\na,x,1\nb,,2\n',
    ],
)
def test_a_well_formed_file_reads_however_it_was_saved(tmp_path: Path, content: bytes) -> None:
    """Marks, line ends, delimiters, quotes and blank lines are habits of programs, not facts."""
    assert notes(tmp_path, content) == [("a", "x"), ("b", None)]


def test_quoted_line_ends_delimiters_and_quotes_belong_to_the_value(tmp_path: Path) -> None:
    """Text written by people holds all of them."""
    content = b'id,note\na,"one\ntwo, ""three""\r\n"\nb,x"y"\n'
    assert notes(tmp_path, content) == [("a", 'one\ntwo, "three"\r\n'), ("b", 'x"y"')]


@pytest.mark.parametrize("end", [b",\n", b",\r\n" * 3, b",", b'"",""\n', b'"",""', b",\n" * 3_000])
@pytest.mark.parametrize("name", ["notes.csv", "notes.csv.gz"])
def test_rows_of_delimiters_at_the_end_are_no_rows(tmp_path: Path, end: bytes, name: str) -> None:
    """Spreadsheets save the rows that were once used; one in the middle stays a row without id."""
    pack = gzip.compress if name.endswith(".gz") else bytes
    line_end = b"\r\n" if b"\r" in end else b"\n"
    content = line_end.join([b"id,note", b"a,x", b"b,", end])
    assert notes(tmp_path, pack(content), name) == [("a", "x"), ("b", None)]
    between = line_end.join([b"id,note", b"a,x", b",", b"b,"]) + line_end
    assert [(one.code, one.row) for one in issues(tmp_path, pack(between), name)] == [("empty", 2)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b" \n", "no header row"),
        (b",,\n,,\n", "no header row"),
        (b"id,note,id\n1,2,3\n", "names columns twice: id"),
        (b"\xff\xfei\x00d\x00,\x00", "UTF-16"),
        ("id,note\n1,2\n".encode("utf-16-be"), "NUL bytes"),
        ("id,note\n1,2\n".encode("utf-32"), "UTF-16 or UTF-32"),
        (b"PAR1....", "Parquet"),
        (b"PK\x03\x04....", "workbook"),
        (gzip.compress(b"id,note\n1,2\n", mtime=0), "gzip"),
        ("id,Größe\n1,2\n".encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_file_that_is_no_csv_is_refused_as_a_whole(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    """One message says what the file is and what to do, and the table is not missing besides."""
    result = issues(tmp_path, content)
    assert len(result) == 1
    assert reason in result[0].reason
    assert result[0].location == "notes.csv"
    assert result[0].remedy


@pytest.mark.parametrize("cut", [5, 20, -4])
def test_a_gzip_file_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    """Half a download must not be scored as if it were all."""
    lines = "".join(f"{at},note {at * at}\n" for at in range(5_000))
    data = gzip.compress(b"id,note\n" + lines.encode())
    result = issues(tmp_path, data[:cut], "notes.csv.gz")
    assert [(one.code, one.table) for one in result] == [("unreadable-table", "notes")]


def test_text_that_is_called_gzip_is_refused(tmp_path: Path) -> None:
    """The ending says how to read a file; the sender has to correct a wrong one."""
    result = issues(tmp_path, b"id,note\n1,2\n", "notes.csv.gz")
    assert [one.code for one in result] == ["unreadable-table"]


def test_a_malformed_row_is_reported_once_and_left_out(tmp_path: Path) -> None:
    """It has no columns to be empty, and its id must not count as missing elsewhere."""
    tables = texts()
    write_csv(tmp_path, tables)
    people = (tmp_path / "people.csv").read_text().replace("1,Ada,", "1,Ada,Lovelace,")
    (tmp_path / "people.csv").write_text(people)
    records, result = inspect(SCHEMA, tmp_path)
    assert [(one.code, one.table, one.row, one.line) for one in result] == [
        ("malformed-row", "people", 1, 2)
    ]
    assert "6 fields, the header has 5" in result[0].reason
    assert records.arrow("people").column("_row").to_pylist() == [2, 3]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (b"1", "'1' has 1 fields"),
        (b"1,2,3", "'1,2,3' has 3 fields"),
        (b"   ", "'   ' has 1 fields"),
        (b'"1"x,2', "(row 3): has text after a quote"),
        (b'1,"never closed', "(row 3): opens a quote and never closes it"),
    ],
)
def test_each_malformed_row_has_its_row_and_line(tmp_path: Path, row: bytes, says: str) -> None:
    """Quoted line ends and blank lines are counted on the way there."""
    content = b'id,note\na,"x\ny"\n\nb,2\n' + row + b"\n"
    result = issues(tmp_path, content)
    assert [(one.code, one.row, one.line) for one in result] == [("malformed-row", 3, 6)]
    assert says in str(result[0])


def test_a_latin_1_file_names_each_value_that_is_not_utf_8(tmp_path: Path) -> None:
    """The bytes are shown as they are, and good values around them stay good."""
    content = "id,note\n1,Käse\n2,plain\n3,Öl\n".encode("latin-1")
    result = issues(tmp_path, content)
    assert [(one.code, one.row, one.line, one.column, one.value) for one in result] == [
        ("wrong-encoding", 1, 2, "note", r"K\xe4se"),
        ("wrong-encoding", 3, 4, "note", r"\xd6l"),
    ]


def test_a_nul_byte_is_named(tmp_path: Path) -> None:
    """No text has one; it is what a damaged disk or a wrong encoding leaves."""
    result = issues(tmp_path, b"id,note\n1,a\x00b\n2,c\n")
    assert [(one.code, one.row, one.line, one.column) for one in result] == [
        ("wrong-encoding", 1, 2, "note")
    ]
    assert "'a\\x00b'" in str(result[0])


def test_faults_in_values_are_placed_on_their_lines(tmp_path: Path) -> None:
    """An editor goes to lines, not to rows."""
    write_csv(tmp_path, texts())
    (tmp_path / "people.csv").write_text(
        'id,name,active,age\n1,"two\nlines",,\n\n2,x,,old\n10,y,,\n'
    )
    _, result = inspect(SCHEMA, tmp_path)
    assert [(one.row, one.line, one.column) for one in result] == [(2, 5, "age")]
    assert str(result[0]).startswith("people.csv, line 5 (row 2), column age: 'old' is not a whole")


def test_a_hundred_thousand_bad_rows_give_a_summary(tmp_path: Path) -> None:
    """The slow reader stores no more issues than are shown."""
    rows = b"".join(b"%d,x,y,z\n" % at for at in range(100_000))
    with pytest.raises(InvalidRecords) as caught:
        notes(tmp_path, b"id,note\n" + rows)
    assert caught.value.total == 100_000
    assert len(caught.value.issues) == 20
    assert len(str(caught.value).splitlines()) == 22


FIELDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6
) | st.sampled_from(['"', ",", "\n", "\r\n", "", " ", ";", '""', "\ufeff"])


@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=6))
@settings(max_examples=size(60), deadline=None)
def test_the_fast_and_the_slow_reader_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    """The slow one is the meaning of the fast one, wherever both read a file."""
    folder = tmp_path_factory.mktemp("csv")
    with (folder / "notes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([("id", "note"), *((f"i{note}", note) for note, _ in rows)])
    expected = [(f"i{note}", note or None) for note, _ in rows]
    with read(NOTES, folder) as records:
        fast = records.arrow("notes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "_read_fast", lambda *_: False)
        with read(NOTES, folder) as records:
            slow = records.arrow("notes")
    assert fast.equals(slow)
    assert [(row["id"], row["note"]) for row in fast.to_pylist()] == expected
