"""NDJSON: each line is an object, or an issue says why it is none."""

import gzip
import json
from pathlib import Path

import pytest

from agon.records import RowIssue, read
from agon.records.sources import ndjson_file
from records.contest import SCHEMA, issues_of, texts, values, write_ndjson
from records.test_csv import NOTES


def issues(folder: Path, content: bytes, name: str = "notes.ndjson") -> list[RowIssue]:
    """Read one file of notes and return what is wrong with it."""
    (folder / name).write_bytes(content)
    return issues_of(NOTES, folder)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["notes.ndjson", "notes.jsonl", "notes.ndjson.gz"])
@pytest.mark.parametrize(
    "content",
    [
        b'{"id":"a","note":"x"}\n{"id":"b","note":null}\n',
        b'{"id":"a","note":"x"}\r\n\r\n  \n{"note":"","id":"b"}',
        b'\xef\xbb\xbf{"id":"a","note":"x"}\n{"id":"b"}\n\n',
        b'{"id":"a","note":"\\u0078","z":[1]}\n{"id":"b","z":{"a":null}}\n',
    ],
)
def test_a_well_formed_file_reads_however_it_was_saved(
    tmp_path: Path, content: bytes, name: str
) -> None:
    """Marks, line ends, blank lines, key order and absent keys are no facts."""
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with read(NOTES, tmp_path) as records:
        rows = records.arrow("notes").to_pylist()
    assert [(row["id"], row["note"]) for row in rows] == [("a", "x"), ("b", None)]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "line",
    [b"{bad", b"[1]", b'"text"', b"null", b"7", b'{"id":"c"} {"id":"d"}', b'{"id":"c","id":"d"}',
     b"id,note", b'{"id":"c', b'{"id":"\x01"}', b'{"id":"\\ud800"}', b'{"id":"a\x00b"}'],
)  # fmt: skip
def test_a_line_that_is_no_object_is_reported_once_and_left_out(
    tmp_path: Path, line: bytes
) -> None:
    """It has no keys to be empty; rows and lines count on."""
    content = b'{"id":"a","note":"x"}\n\n' + line + b'\n{"id":"b"}\n'
    result = issues(tmp_path, content)
    assert [(one.code, one.row, one.line, one.column) for one in result] == [
        ("malformed-json", 2, 3, None)
    ]


def test_a_value_that_is_not_utf_8_is_named_with_its_key(tmp_path: Path) -> None:
    """The same code, row and column as in a CSV file."""
    result = issues(tmp_path, b'{"id":"a","note":"K\xe4se"}\n{"id":"b","note":"x"}\n')
    assert [(one.code, one.row, one.line, one.column, one.value) for one in result] == [
        ("wrong-encoding", 1, 1, "note", r"K\xe4se")
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [({"a": 1}, "wrong-type", '{"a":1}'), ([1], "wrong-type", "[1]"), (True, "wrong-type", "true"),
     (1.5, "wrong-type", "1.5"), (None, "empty", None), ("", "empty", None)],
)  # fmt: skip
def test_an_id_must_be_a_whole_number_or_text(
    tmp_path: Path, value: object, code: str, shown: str | None
) -> None:
    """JSON has types that CSV lacks: a truth value or an object is no id."""
    result = issues(tmp_path, json.dumps({"id": value, "note": "x"}).encode())
    assert [(one.code, one.row, one.column, one.value) for one in result] == [
        (code, 1, "id", shown)
    ]


@pytest.mark.parametrize(
    ("value", "expected"), [(7, 7), (7.0, 7), ("7", 7), (2**63, "9223372036854775808"),
                            (10**24, "1" + "0" * 24), ("7.0", 7), ("7.5", "7.5")]
)  # fmt: skip
def test_a_number_is_the_id_that_it_writes(tmp_path: Path, value: object, expected: object) -> None:
    """7, 7.0, "7" and, in a column of whole numbers, "7.0" are one id."""
    (tmp_path / "notes.ndjson").write_text(json.dumps({"id": value, "note": "x"}))
    with read(NOTES, tmp_path) as records:
        assert records.arrow("notes").column("id").to_pylist() == [expected]


def test_a_text_must_be_no_object(tmp_path: Path) -> None:
    """An object in a text column is an error of its author, not its JSON as text."""
    result = issues(tmp_path, b'{"id":"a","note":{"b":1}}')
    assert [(one.code, one.column) for one in result] == [("wrong-type", "note")]


def test_a_key_that_no_object_has_is_a_missing_column(tmp_path: Path) -> None:
    """A key that is there and null is empty; one that is never there is missing, with a hint."""
    result = issues(tmp_path, b'{"id":"a","notte":"x"}\n{"id":"b"}\n')
    assert [(one.code, one.row, one.column) for one in result] == [("missing-column", None, "note")]
    assert "is notte meant?" in result[0].remedy
    assert issues(tmp_path, b'{"id":"a","note":null}\n') == []


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    """There is no header to be missing."""
    assert issues(tmp_path, b"") == []


@pytest.mark.parametrize("value", [texts, values])
def test_the_fast_and_the_slow_reader_agree(tmp_path: Path, value: object) -> None:
    """The slow one is the meaning of the fast one."""
    assert callable(value)
    write_ndjson(tmp_path, value())
    with read(SCHEMA, tmp_path) as fast, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ndjson_file, "_read_fast", lambda *_: None)
        with read(SCHEMA, tmp_path) as slow:
            for table in SCHEMA:
                assert fast.arrow(table.name).equals(slow.arrow(table.name))


@pytest.mark.exhaustive
def test_a_very_long_line_is_read(tmp_path: Path) -> None:
    """The engine's reader has a limit; the slow one has none."""
    (tmp_path / "notes.ndjson").write_text(json.dumps({"id": "a", "note": "x" * 20_000_000}))
    with read(NOTES, tmp_path) as records:
        assert len(records.arrow("notes").column("note")[0].as_py()) == 20_000_000
