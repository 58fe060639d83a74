"""A value of another kind is refused with what its form shows, and what would be right."""

import pytest

from agon.records import Column, Kind, Schema, Table, inspect_rows
from agon.records.rows import row_checker

TABLE = Table(
    "runs",
    (
        Column("at", Kind.TIMESTAMP, required=False),
        Column("score", Kind.NUMBER, required=False, low=0, high=1),
        Column("stake", Kind.NUMBER, required=False),
        Column("terms", Kind.INTEGER, required=False),
    ),
)
_FORMS = [
    ("at", "03/04/2025", "it may be 2025-04-03 or 2025-03-04"),
    ("at", "04.04.2025 10:00", "does not begin with the year: it is 2025-04-04"),
    ("at", "13-4-2025", "it is 2025-04-13; give an ISO 8601 time"),
    ("at", "40/40/2025", "is not an ISO 8601 time; give an ISO 8601 time such as"),
    ("at", "Jan 2, 2025", "is not an ISO 8601 time"),
    ("at", "0000-01-01", "is not a time in the years 1 to 9999"),
    ("at", "45750.5", "is the number of a day in a spreadsheet; format the column as yyyy-mm-dd"),
    ("at", "2025-04-03 12:00 PST", "has a zone without an offset; give the offset"),
    ("at", "2025-04-03T12:00:00[Europe/Paris]", "has a zone without an offset"),
    ("at", "2025-02-30", "is no day of the calendar"),
    ("score", "50%", "is not a number; give a number from 0 to 1: 0.5 for 50%"),
    ("stake", "12,5 %", "give a number without the sign %"),
    ("stake", "0,5", "with a point before decimals and nothing between thousands"),
    ("stake", "1.234,5", "with a point before decimals and nothing between thousands"),
    ("terms", "1 000", "with a point before decimals and nothing between thousands"),
    ("stake", "high", "is not a number; give a number"),
]


@pytest.mark.parametrize(("column", "value", "message"), _FORMS, ids=[form[1] for form in _FORMS])
def test_a_wrong_value_is_named_by_its_form(column: str, value: str, message: str) -> None:
    """Whoever exports a spreadsheet needs other advice than "give a number"."""
    [issue] = row_checker(TABLE).issues({column: value})
    assert message in str(issue)


@pytest.mark.exhaustive
def test_tables_and_rows_say_the_same_of_wrong_values() -> None:
    """A file at the command line and the same rows over HTTP are refused in the same words."""
    for column, value, _ in _FORMS:
        records, of_table = inspect_rows(Schema("toy", (TABLE,)), {"runs": [{column: value}]})
        records.close()
        of_row = row_checker(TABLE).issues({column: value})
        says = [[(one.code, one.value, one.reason, one.remedy) for one in issues]
                for issues in (of_table, of_row)]  # fmt: skip
        assert says[0] == says[1]


def test_a_column_in_two_units_names_the_unit_of_each_value() -> None:
    """As a request does, whose rows are in two units."""
    rows = [{"at": "1700000000"}, {"at": "1700000000000"}, {"at": "2026-01-20"}]
    records, issues = inspect_rows(Schema("toy", (TABLE,)), {"runs": rows})
    records.close()
    other = "since 1970, and other times of the column are not"
    assert [issue.reason for issue in issues] == [
        f"is in seconds {other}",
        f"is in milliseconds {other}",
    ]
    assert {issue.remedy for issue in issues} == {
        "give all times of a column in one unit, or all as 2026-11-21T10:00:00Z"
    }
