"""Rows in the order of a column, and in a range of its values, against plain loops."""

from itertools import pairwise
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import LOCAL, View
from agon.app.contests.boards.pages import BoardRows, page
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.sorting import Sort, sorted_page
from agon.app.service import Service
from agon.errors import Unreadable
from fakes.spring import play, spring, view


@pytest.fixture
def access(service: Service) -> View:
    """Return a view of a contest with bots that have played different numbers of matches."""
    spring(service)
    play(service, 9, 30)
    publish(service, "spring")
    return view(service, LOCAL)


def _rows(lines: list[bytes]) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in lines]


def _all(service: Service, access: View, sort: Sort, *, limit: int) -> list[dict[str, Any]]:
    """Return all pages of an order, forth and back."""
    rows: list[dict[str, Any]] = []
    cursor, pages = None, list[BoardRows]()
    while True:
        each = sorted_page(service, access, None, sort, cursor=cursor, limit=limit)
        assert each.start == len(rows)
        rows += _rows(each.lines)
        pages.append(each)
        if each.next is None:
            break
        cursor = each.next
    assert all(each.matching == len(rows) for each in pages)
    for before, after in pairwise(pages):
        back = sorted_page(service, access, None, sort, cursor=after.previous, limit=limit)
        assert back.lines == before.lines
    return rows


@pytest.mark.sample(2)
@pytest.mark.parametrize("column", ["rank", "id", "score", "matches", "wins", "provisional"])
def test_rows_are_in_the_order_of_a_column(service: Service, access: View, column: str) -> None:
    """The order and the range are those that a loop over all rows gives; ranks stay."""
    rows = _rows(page(service, access, limit=1000).lines)
    largest_first = sorted(rows, key=lambda row: row["rank"])
    largest_first.sort(key=lambda row: row[column], reverse=True)
    down = Sort.read(f"-{column}")
    assert _all(service, access, down, limit=2) == largest_first
    assert _all(service, access, Sort.read(column), limit=3) == largest_first[::-1]
    if column == "id":
        with pytest.raises(Unreadable, match="the column id has no numbers"):
            sorted_page(service, access, None, Sort.read("id", minimum=3))
        return
    values = sorted({float(row[column]) for row in rows})
    middle = values[len(values) // 2]
    ranges = [(values[0], values[-1]), (values[-1], None), (None, values[0] - 1), (middle, middle)]
    for low, high in [*ranges, (2.5, 3.5), (9.0, 1.0)]:
        wanted = [
            row
            for row in largest_first
            if (low is None or row[column] >= low) and (high is None or row[column] <= high)
        ]
        for text, rows_wanted in ((f"-{column}", wanted), (column, wanted[::-1])):
            sort = Sort.read(text, minimum=low, maximum=high)
            assert _all(service, access, sort, limit=4) == rows_wanted, (text, low, high)


def test_an_unknown_column_is_named_with_a_suggestion(service: Service, access: View) -> None:
    """A typing error must not give another order."""
    with pytest.raises(Unreadable, match="no column 'matchs': did you mean matches"):
        sorted_page(service, access, None, Sort.read("matchs"))
