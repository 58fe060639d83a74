"""One suite that every source takes: the same records, the same tables; the same faults, told."""

from collections.abc import Callable, Mapping

import pytest

from agon.records import InvalidRecords, RowIssue, inspect, read, read_rows
from records.contest import SCHEMA, Rows, texts, values

Make = Callable[[Mapping[str, Rows]], str]
Issue = tuple[str, str, str | None, int | None]

EXPECTED = read_rows(SCHEMA, values())


def faults(issues: list[RowIssue]) -> set[Issue]:
    """Reduce issues to what must be equal from every source."""
    return {(one.code, one.table, one.column, one.row) for one in issues}


@pytest.mark.parametrize("given", [texts, values], ids=["as text", "as values"])
def test_the_same_records_give_the_same_tables_and_the_same_hash(
    make: Make, given: Callable[[], dict[str, Rows]]
) -> None:
    """A community may keep its records anywhere; that must not move a score."""
    with read(SCHEMA, make(given())) as records:
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
    ("wrong-type", "people", "active"): ["maybe", "2", "1.0", "on"],
    ("unknown-value", "works", "kind"):
        ["novel", "Essay", "essay ", "'; DROP TABLE works; --", '"'],
    ("unknown-reference", "works", "author_id"): ["3", "01", " 1", "1.0", "ada"],
    ("duplicate-key", "people", "id"): ["1", "2"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "table", "column"), BAD_VALUES, ids=[" ".join(kind) for kind in BAD_VALUES]
)
def test_a_bad_value_is_named_with_its_row_column_and_text(
    make: Make, code: str, table: str, column: str
) -> None:
    """One fault gives one message, and it is the same one whatever the records are kept in."""
    tables = texts()
    usual = PERSON if table == "people" else ESSAY
    bad = BAD_VALUES[code, table, column]
    tables[table] += [{"id": f"x{at}", **usual, column: value} for at, value in enumerate(bad)]
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, make(tables))
    issues = caught.value.issues
    assert faults(list(issues)) == {(code, table, column, at + 4) for at in range(len(bad))}
    assert [issue.value for issue in issues] == bad
    assert all(repr(value) in str(caught.value) for value in bad)


READ_AS: dict[tuple[str, str], dict[str, object]] = {
    ("people", "age"): {" 36 ": 36, "+36": 36, "36.0": 36, "36.": 36, "-0": 0},
    ("people", "active"):
        {"YES": True, "t": True, "1": True, "0": False, "No": False, " f ": False},
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


@pytest.mark.parametrize(("table", "column"), READ_AS, ids=[" ".join(kind) for kind in READ_AS])
def test_a_value_written_in_another_way_is_read_as_what_it_says(
    make: Make, table: str, column: str
) -> None:
    """Blanks, signs, zones and long texts are no faults; text is never rewritten."""
    tables = texts()
    usual = PERSON if table == "people" else ESSAY
    ways = READ_AS[table, column]
    tables[table] += [{"id": f"x{at}", **usual, column: way} for at, way in enumerate(ways)]
    with read(SCHEMA, make(tables)) as records:
        found = records.arrow(table).column(column).to_pylist()[3:]
    if column == "joined_at":
        found = [when.isoformat() for when in found]
    assert found == list(ways.values())


def test_everything_wrong_is_told_at_once(make: Make) -> None:
    """Who repairs records should not have to start the check again after each repair."""
    tables = texts()
    tables["people"][0].update(name=None, age="old", joined_at="soon")
    tables["people"][2].update(id="2")
    tables["works"][0].update(author_id="9", kind="song", score="7")
    tables["works"][2].update(score=None)
    tables["votes"][0].update(person_id="1")
    tables["votes"][2].update(work_id=None)
    for row in tables["votes"]:
        del row["points"]
    _, issues = inspect(SCHEMA, make(tables))
    assert faults(issues) == {
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
        ("exactly-one", "votes", None, 3),
    }


def test_a_missing_table_is_told_once_with_its_columns(make: Make) -> None:
    """The remedy names what the table needs."""
    tables = texts()
    del tables["people"]
    _, issues = inspect(SCHEMA, make(tables))
    assert faults(issues) == {("missing-table", "people", None, None)}
    assert "id, name" in issues[0].remedy


def test_a_table_that_rows_refer_to_must_be_there(make: Make) -> None:
    """A table that may be missing counts as empty only while nobody needs it."""
    tables = texts()
    del tables["works"]
    _, issues = inspect(SCHEMA, make(tables))
    assert faults(issues) == {("missing-table", "works", None, None)}
    assert "2 rows" in issues[0].reason
    assert "work_id" in issues[0].reason


def test_many_faults_give_the_first_twenty_of_each_kind_and_a_count(make: Make) -> None:
    """A file saved wrongly must not bury its message in a hundred thousand lines."""
    tables = texts()
    tables["people"] += [{**tables["people"][0], "id": f"p{at}", "age": "old"} for at in range(500)]
    with pytest.raises(InvalidRecords) as caught:
        read(SCHEMA, make(tables))
    assert caught.value.total == 500
    assert [issue.row for issue in caught.value.issues] == list(range(4, 24))
    assert "… and 480 more of people wrong-type in column age" in str(caught.value)


def test_a_column_that_is_empty_throughout_is_no_fault(make: Make) -> None:
    """Some formats then do not even know its type."""
    tables = texts()
    for row in tables["people"]:
        row.update(joined_at=None, age=None, active=None)
    with read(SCHEMA, make(tables)) as records:
        assert records.arrow("people").column("age").null_count == 3


def test_empty_text_is_an_empty_value(make: Make) -> None:
    """CSV cannot tell the two apart, so no format does."""
    tables = texts()
    tables["works"][1].update(author_id="", score="", words="")
    expected = texts()
    expected["works"][1].update(author_id=None, score=None, words=None)
    with read(SCHEMA, make(tables)) as records:
        assert records.sha256 == read_rows(SCHEMA, expected).sha256


def test_columns_the_schema_does_not_know_are_ignored(make: Make) -> None:
    """They neither fail nor move the hash; a name that differs in case alone is another column."""
    tables = texts()
    for row in tables["people"]:
        row.update({"x'); DROP TABLE people; --": "1", "note": "\u2028"})
    with read(SCHEMA, make(tables)) as records:
        assert records.sha256 == EXPECTED.sha256
        assert records.count("people") == 3
