"""Test that all issues of a request are reported together, up to a limit."""

from dataclasses import replace

import pytest

from agon.app.contests.ingest.errors import MAX_COUNTED, MAX_LISTED, ErrorCollector
from agon.records import InvalidRecords, RowIssue

WRONG = RowIssue("json", "users", "records", 1, None, None, "is no JSON", "write JSON", line=1)


def test_issues_beyond_the_limit_are_counted() -> None:
    """A thousand issues are listed; the total is a number."""
    errors = ErrorCollector()
    for n in range(MAX_LISTED + 500):
        errors.add(replace(WRONG, row=n, line=n))
    with pytest.raises(InvalidRecords) as caught:
        errors.raise_any()
    assert (len(caught.value.issues), caught.value.total) == (MAX_LISTED, MAX_LISTED + 500)


def test_validation_stops_after_the_maximum_number_of_issues() -> None:
    """Twenty million invalid lines would make all writers wait for minutes."""
    errors = ErrorCollector()
    for _ in range(MAX_COUNTED):
        errors.add(WRONG)
    with pytest.raises(InvalidRecords, match="was not validated") as caught:
        errors.add(replace(WRONG, row=7, line=7))
    last = caught.value.issues[-1]
    assert (last.code, last.line, caught.value.total) == ("unread", 7, MAX_COUNTED + 1)


@pytest.mark.exhaustive
def test_the_list_of_issue_kinds_is_limited() -> None:
    """Each line can name another table; the response must not be as long as the request."""
    errors = ErrorCollector()
    for n in range(3 * MAX_LISTED):
        errors.add(replace(WRONG, table=f"t{n}"))
    with pytest.raises(InvalidRecords) as caught:
        errors.raise_any()
    assert len(caught.value.issues) == 2 * MAX_LISTED
