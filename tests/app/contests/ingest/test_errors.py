"""All errors of a request are reported together, up to a limit."""

from dataclasses import replace

import pytest

from agon.app.contests.ingest.errors import MAX_COUNTED, MAX_LISTED, ErrorCollector
from agon.records import InvalidRecords, RowIssue

WRONG = RowIssue("json", "users", "records", 1, None, None, "is no JSON", "write JSON", line=1)


def test_the_rest_of_many_problems_is_counted() -> None:
    """A thousand lines say what is wrong; the number says how often."""
    errors = ErrorCollector()
    for n in range(MAX_LISTED + 500):
        errors.add(replace(WRONG, row=n, line=n))
    with pytest.raises(InvalidRecords) as caught:
        errors.raise_any()
    assert (len(caught.value.issues), caught.value.total) == (MAX_LISTED, MAX_LISTED + 500)


def test_validation_stops_after_the_maximum_number_of_issues() -> None:
    """Twenty million lines that are none kept all writers waiting for minutes."""
    errors = ErrorCollector()
    for _ in range(MAX_COUNTED):
        errors.add(WRONG)
    with pytest.raises(InvalidRecords, match="was not validated") as caught:
        errors.add(replace(WRONG, row=7, line=7))
    last = caught.value.issues[-1]
    assert (last.code, last.line, caught.value.total) == ("unread", 7, MAX_COUNTED + 1)


def test_kinds_of_problems_are_listed_within_bounds() -> None:
    """Each line can name a table of its own; the answer is not to be as long as the request."""
    errors = ErrorCollector()
    for n in range(3 * MAX_LISTED):
        errors.add(replace(WRONG, table=f"t{n}"))
    with pytest.raises(InvalidRecords) as caught:
        errors.raise_any()
    assert len(caught.value.issues) == 2 * MAX_LISTED
