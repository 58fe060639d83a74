"""The contract of record sources: the same records give the same tables and the same issues."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import pytest

from agon.records import InvalidRecords, RowIssue, inspect, read, read_rows
from records.contest import SCHEMA, Rows, texts, values
from sizes import ALL

Make = Callable[[Mapping[str, Rows]], str]
Issue = tuple[str, str, str | None, int | None]
Kind = TypeVar("Kind")

EXPECTED = read_rows(SCHEMA, values())


def places(issues: list[RowIssue]) -> set[Issue]:
    """Return code and place of issues, which must be equal from every source."""
    return {(issue.code, issue.table, issue.column, issue.row) for issue in issues}


@pytest.mark.sample(2)
@pytest.mark.parametrize("tables", [texts, values], ids=["as text", "as values"])
def test_the_same_records_give_the_same_tables_and_the_same_hash(
    make: Make, tables: Callable[[], dict[str, Rows]]
) -> None:
    """The kind of source must not change a score."""
    with read(SCHEMA, make(tables())) as records:
        for table in SCHEMA:
            assert records.arrow(table.name).equals(EXPECTED.arrow(table.name))
        assert records.sha256 == EXPECTED.sha256


ESSAY = {"author_id": "1", "kind": "essay", "score": "1", "words": "1"}
PERSON = {"name": "Eve", "joined_at": None, "active": None, "age": None}

BAD_VALUES = {
    ("wrong-type", "people", "age"):
        ["x", "1e3", "0x10", "1.5", "1_000", "٣", "nan", "inf", "true", " ", "1,5", "--1"],
    ("out-of-range", "people", "age"):
        ["151", "-1", "9223372036854775808", "-9223372036854775809", "1" + "0" * 80, " 151 "],
    ("out-of-range", "works", "words"): ["9223372036854775808", "1" + "0" * 80],
    ("wrong-type", "works", "score"): ["high", "0,5", "0x1", "1_0.0", "1e", "."],
    ("non-finite", "works", "score"): ["nan", "inf", "-inf", "NaN", "Infinity", "1e999"],
    ("out-of-range", "works", "score"): ["1.0000001", "-1e-9", "1e300"],
    ("bad-timestamp", "people", "joined_at"):
        ["yesterday", "2026-02-30", "2026-13-01", "0000-01-01", "10000-01-01", "infinity",
         "2026-01-01T10", "2026-01-01T10:00:61Z", "2026-01-01T10:00:00+99:00", "1767225600",
         "2026-01-01 10:00:00 Europe/Berlin", "01.02.2026", "2026-01-01 (BC)", "now",
         "9999-12-31T23:59:59-01:00"],
    ("wrong-type", "people", "active"): ["maybe", "2", "1.5", "on"],
    ("unknown-value", "works", "kind"):
        ["novel", "essays", "es say", "'; DROP TABLE works; --", '"'],
    ("unknown-reference", "works", "author_id"): ["3", "01", " 1", "1.0", "ada"],
    ("duplicate-key", "people", "id"): ["1", "2"],
}  # fmt: skip


VALID: dict[str, dict[str, Any]] = {"people": PERSON, "works": ESSAY}


def _groups(kinds: Iterable[Kind]) -> list[list[Kind]]:
    """Return the kinds that a source holds at a time: all of them, each alone in full size."""
    return [[kind] for kind in kinds] if ALL else [list(kinds)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("kinds", _groups(BAD_VALUES), ids=lambda kinds: " ".join(kinds[0]))
def test_a_bad_value_is_named_with_its_row_column_and_text(
    make: Make, kinds: list[tuple[str, str, str]]
) -> None:
    """One error gives one message, the same from every source."""
    tables = texts()
    expected: dict[Issue, str] = {}
    for code, table, column in kinds:
        for value in BAD_VALUES[code, table, column]:
            row = {"id": f"x{len(tables[table])}", **VALID[table], column: value}
            tables[table].append(row)
            expected[code, table, column, len(tables[table])] = value
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, make(tables))
    issues = caught.value.issues
    assert len(issues) == len(expected)
    assert {
        (issue.code, issue.table, issue.column, issue.row): issue.value for issue in issues
    } == expected
    assert all(repr(value) in str(caught.value) for value in expected.values())


READ_AS: dict[tuple[str, str], dict[str, object]] = {
    ("people", "age"): {" 36 ": 36, "+36": 36, "36.0": 36, "36.": 36, "-0": 0},
    ("people", "active"):
        {"YES": True, "t": True, "1": True, "1.0": True,
         "0": False, "0.0": False, "No": False, " f ": False},
    ("people", "joined_at"): {
        "2026-01-01": "2026-01-01T00:00:00",
        "2026-01-01 10:00": "2026-01-01T10:00:00",
        "2026-01-01T10:00:00 UTC": "2026-01-01T10:00:00",
        "2026-01-01T10:00:00.1234567Z": "2026-01-01T10:00:00.123456",
        "2026-01-01 10:00:00-0530": "2026-01-01T15:30:00",
        "2026-01-01T10:00:00+02": "2026-01-01T08:00:00",
        " 0001-01-01 ": "0001-01-01T00:00:00",
        "9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999999",
    },
    ("people", "name"): {
        text: text for text in ("x" * 3_000_000, "Ко\u0301\r\n\t\"'\\,;|", " \n ", "NULL", "a\rb")
    },
    ("works", "words"): {str(2**63 - 1): 2**63 - 1, str(-(2**63)): -(2**63)},
    ("works", "score"): {" .5 ": 0.5, "5E-1": 0.5, "+1.": 1.0, "1e-400": 0.0},
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("columns", _groups(READ_AS), ids=lambda columns: " ".join(columns[0]))
def test_other_spellings_of_a_value_are_read_as_that_value(
    make: Make, columns: list[tuple[str, str]]
) -> None:
    """Blanks, signs, zones and long texts are no errors; text is never rewritten."""
    tables = texts()
    expected: dict[tuple[str, str], list[tuple[int, object]]] = {}
    for table, column in columns:
        for spelling, value in READ_AS[table, column].items():
            expected.setdefault((table, column), []).append((len(tables[table]), value))
            row = {"id": f"x{len(tables[table])}", **VALID[table], column: spelling}
            tables[table].append(row)
    with read(SCHEMA, make(tables)) as records:
        for (table, column), numbered in expected.items():
            cells = records.arrow(table).column(column).to_pylist()
            if column == "joined_at":
                cells = [None if time is None else time.isoformat() for time in cells]
            assert [(row, cells[row]) for row, _ in numbered] == numbered


@pytest.mark.sample(2)
def test_all_errors_are_reported_at_once(make: Make) -> None:
    """Correcting records should not need a new check after each correction."""
    tables = texts()
    tables["people"][0].update(name=None, age="old", joined_at="soon")
    tables["people"][2].update(id="2")
    tables["works"][0].update(author_id="9", kind="song", score="7")
    tables["works"][2].update(score=None)
    tables["votes"][0].update(person_id="1")
    # Not the last one: CSV has blank rows at its end, which are none.
    tables["votes"].insert(1, {**tables["votes"].pop(), "work_id": None})
    for row in tables["votes"]:
        del row["points"]
    _, issues = inspect(SCHEMA, make(tables))
    assert places(issues) == {
        ("empty", "people", "name", 1),
        ("wrong-type", "people", "age", 1),
        ("bad-timestamp", "people", "joined_at", 1),
        ("duplicate-key", "people", "id", 3),
        ("unknown-reference", "works", "author_id", 1),
        ("unknown-reference", "works", "author_id", 3),
        ("unknown-value", "works", "kind", 1),
        ("out-of-range", "works", "score", 1),
        ("inconsistent", "works", "score", 3),
        ("missing-column", "votes", "points", None),
        ("exactly-one", "votes", None, 1),
        ("exactly-one", "votes", None, 2),
    }


@pytest.mark.sample(2)
def test_a_missing_table_is_reported_once_with_its_columns(make: Make) -> None:
    """The remedy names the columns that the table needs."""
    tables = texts()
    del tables["people"]
    _, issues = inspect(SCHEMA, make(tables))
    assert places(issues) == {("missing-table", "people", None, None)}
    assert "id, name" in issues[0].remedy


@pytest.mark.sample(2)
def test_a_table_that_rows_refer_to_must_exist(make: Make) -> None:
    """An optional table counts as empty only while no row refers to it."""
    tables = texts()
    del tables["works"]
    _, issues = inspect(SCHEMA, make(tables))
    assert places(issues) == {("missing-table", "works", None, None)}
    assert "2 rows" in issues[0].reason
    assert "work_id" in issues[0].reason


@pytest.mark.sample(2)
def test_many_errors_give_the_first_twenty_of_each_kind_and_a_count(make: Make) -> None:
    """A wrongly saved file must not give a message of a hundred thousand lines."""
    tables = texts()
    tables["people"] += [{**tables["people"][0], "id": f"p{at}", "age": "old"} for at in range(500)]
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, make(tables))
    assert caught.value.total == 500
    assert [issue.row for issue in caught.value.issues] == list(range(4, 24))
    assert "… and 480 more of people wrong-type in column age" in str(caught.value)


@pytest.mark.sample(2)
def test_a_column_without_any_value_is_no_error(make: Make) -> None:
    """Some formats then have no type for it."""
    tables = texts()
    for row in tables["people"]:
        row.update(joined_at=None, age=None, active=None)
    with read(SCHEMA, make(tables)) as records:
        assert records.arrow("people").column("age").null_count == 3


@pytest.mark.sample(2)
def test_empty_text_is_an_empty_value(make: Make) -> None:
    """CSV cannot distinguish the two, so no format does."""
    tables = texts()
    tables["works"][1].update(author_id="", score="", words="")
    expected = texts()
    expected["works"][1].update(author_id=None, score=None, words=None)
    with read(SCHEMA, make(tables)) as records:
        assert records.sha256 == read_rows(SCHEMA, expected).sha256


@pytest.mark.sample(2)
def test_columns_the_schema_does_not_know_are_ignored(make: Make) -> None:
    """They neither fail nor change the hash; a name that differs in case only is another column."""
    tables = texts()
    for row in tables["people"]:
        row.update({"x'); DROP TABLE people; --": "1", "note": "\u2028"})
    with read(SCHEMA, make(tables)) as records:
        assert records.sha256 == EXPECTED.sha256
        assert records.count("people") == 3
