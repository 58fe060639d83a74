"""What is wrong with a request: told at once, and not looked for without end."""

from dataclasses import replace

import pytest

from agon.app.contests.ingest.errors import MOST_COUNTED, MOST_TOLD, Refusals
from agon.records import InvalidRecords, Problem

WRONG = Problem("json", "users", "records", 1, None, None, "is no JSON", "write JSON", line=1)


def test_the_rest_of_many_problems_is_counted() -> None:
    """A thousand lines say what is wrong; the number says how often."""
    refusals = Refusals()
    for n in range(MOST_TOLD + 500):
        refusals.add(replace(WRONG, row=n, line=n))
    with pytest.raises(InvalidRecords) as caught:
        refusals.expect_none()
    assert (len(caught.value.problems), caught.value.total) == (MOST_TOLD, MOST_TOLD + 500)


def test_after_very_many_problems_nothing_more_is_looked_at() -> None:
    """Twenty million lines that are none kept all writers waiting for minutes."""
    refusals = Refusals()
    for _ in range(MOST_COUNTED):
        refusals.add(WRONG)
    with pytest.raises(InvalidRecords, match="was not looked at") as caught:
        refusals.add(replace(WRONG, row=7, line=7))
    last = caught.value.problems[-1]
    assert (last.code, last.line, caught.value.total) == ("unread", 7, MOST_COUNTED + 1)


def test_kinds_of_problems_are_listed_within_bounds() -> None:
    """Each line can name a table of its own; the answer is not to be as long as the request."""
    refusals = Refusals()
    for n in range(3 * MOST_TOLD):
        refusals.add(replace(WRONG, table=f"t{n}"))
    with pytest.raises(InvalidRecords) as caught:
        refusals.expect_none()
    assert len(caught.value.problems) == 2 * MOST_TOLD
