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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("column", ["matches", "wins", "provisional", "id"])
def test_rows_with_some_values_are_those_that_a_loop_finds(
    service: Service, access: View, column: str
) -> None:
    """Several values, also those that no row has, in both orders and over pages."""
    rows = _rows(page(service, access, limit=1000).lines)
    rows.sort(key=lambda row: row[column], reverse=True)
    texts = sorted({str(row[column]).lower() for row in rows})
    for chosen in (texts[:1], texts[::2], texts[-2:], texts[:1] * 2):
        values = ",".join([*chosen, "none" if column == "id" else "77"])
        wanted = [row for row in rows if str(row[column]).lower() in chosen]
        for text, expected in ((f"-{column}", wanted), (column, wanted[::-1])):
            sort = Sort.read(text, values=values)
            assert _all(service, access, sort, limit=2) == expected, (text, values)


def test_a_value_of_another_kind_is_named(service: Service, access: View) -> None:
    """A column of numbers has no value `many`; an empty list is no filter."""
    for values in ("many", "3,nan", "1e999"):
        with pytest.raises(Unreadable, match="the column matches has numbers, got"):
            sorted_page(service, access, None, Sort.read("matches", values=values))
    for values in (",", ",".join(map(str, range(51)))):
        with pytest.raises(Unreadable, match="expected 1 to 50 values"):
            Sort.read("matches", values=values)


@pytest.mark.exhaustive
def test_an_unknown_column_is_named_with_a_suggestion(service: Service, access: View) -> None:
    """A typing error must not give another order."""
    with pytest.raises(Unreadable, match="no column 'matchs': did you mean matches"):
        sorted_page(service, access, None, Sort.read("matchs"))
