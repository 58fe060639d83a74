"""Read a board in the order of one of its columns, or the rows with some of its values.

The order of each column is stored with the board (:mod:`agon.app.contests.boards.summary`), so that
a page reads its own rows only; the ends of a range, and the rows with a value, are found by
bisection.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import MAX_ROWS, BoardRows, find_board, with_names
from agon.app.service import Service
from agon.errors import Unreadable, did_you_mean
from agon.store.session import Session

MAX_VALUES: Final = 50
"""Maximum number of values by which rows are filtered: each is looked for."""

_FLAGS: Final = {"false": 0.0, "true": 1.0}
_RANK: Final = "rank"
"""The column in whose order rows are stored."""


@dataclass(frozen=True, kw_only=True)
class Sort:
    """An order of rows, and which of them are wanted.

    Attributes:
        column: a column of the board; ``components.NAME`` is a part of scores.
        is_descending: whether the largest value comes first. The other direction is the exact
            reverse.
        minimum, maximum: the smallest and the largest wanted value; None: any.
        values: the wanted values as texts; empty: any.
    """

    column: str
    is_descending: bool = False
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        text: str,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        values: str | None = None,
    ) -> "Sort":
        """Return the order that a text names: a column, after ``-`` the largest value first.

        Raises:
            Unreadable: ``values`` names none, or more than 50.

        Example:
            >>> Sort.read("-matches", minimum=3)
            Sort(column='matches', is_descending=True, minimum=3, maximum=None, values=())
            >>> Sort.read("tier", values="gold, silver").values
            ('gold', 'silver')
        """
        column = text.removeprefix("-")
        listed = tuple(value for each in (values or "").split(",") if (value := each.strip()))
        if values is not None and not 1 <= len(listed) <= MAX_VALUES:
            raise Unreadable(
                f"values: expected 1 to {MAX_VALUES} values with commas between them, "
                f"got {len(listed)}"
            )
        return cls(
            column=column, is_descending=column != text, minimum=minimum, maximum=maximum,
            values=tuple(dict.fromkeys(listed)),
        )  # fmt: skip


def sorted_page(
    service: Service,
    view: View,
    board: str | None,
    sort: Sort,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> BoardRows:
    """Return the rows of a board in the order of a column; rows without a value are left out.

    Rows with equal values are in the order of the board where the largest value comes first.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        sort: the order, and which rows.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        cursor: as a page of the same order gave it.
        limit: maximum number of rows, 1 to 1000.

    Returns:
        A page whose ``start`` counts from the first of the ``matching`` rows.

    Raises:
        NotFound, NotStored: as for :func:`agon.app.contests.boards.pages.page`.
        Unreadable: the board has no such column, or a range of it is wanted and it has no numbers,
            or a value that is none of its kind; or as for
            :func:`agon.app.contests.boards.pages.page`.
    """
    if not 1 <= limit <= MAX_ROWS:
        raise Unreadable(f"limit is {limit}; give 1 to {MAX_ROWS}")
    begin = None if cursor is None else Cursor.read(cursor)
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of, at=begin)
        order = _Order(session, published.rows_snapshot.no, sort.column)
        wanted = _Ranges(order.ranges(sort))
        start, count = (0, limit) if begin is None else (begin.start, begin.limit(limit))
        count = max(0, min(count, len(wanted) - start))
        # The order is stored in one direction; the other one is read from its end, reversed.
        forward = sort.is_descending == order.is_descending
        pieces = wanted.part(start if forward else len(wanted) - start - count, count)
        indexes = [index for piece in pieces for index in order.indexes(*piece)]
        indexes = indexes if forward else indexes[::-1]
        lines = session.snapshots.lines_at(published.rows_snapshot.no, indexes)
        no, before = published.snapshot.no, max(0, start - limit)
        has_more = start + count < len(wanted)
        sorted_rows = BoardRows(
            snapshot=published.snapshot,
            lines=lines,
            start=start,
            next=str(Cursor(no, start + count)) if has_more else None,
            previous=str(Cursor(no, before, start - before)) if start else None,
            matching=len(wanted),
            amended_by=published.amended_by,
            amendment=published.amendment,
        )
        return with_names(session, view, sorted_rows)


class _Ranges:
    """Ranges of positions that do not overlap, as one sequence of positions.

    Example:
        >>> ranges = _Ranges([(2, 4), (7, 9)])
        >>> len(ranges), list(ranges.part(1, 2))
        (4, [(3, 1), (7, 1)])
    """

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)

    def __len__(self) -> int:
        return sum(end - first for first, end in self._ranges)

    def part(self, start: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield the first position and the number of positions of each piece of a part."""
        for first, end in self._ranges:
            taken = max(0, min(count, end - first - start))
            if taken:
                yield first + start, taken
            start, count = max(0, start - (end - first)), count - taken


class _Order:
    """The rows of a board that have a value in a column, in the order in which they are stored.

    Attributes:
        is_descending: whether the largest value comes first, as in all orders but that of ranks.
    """

    def __init__(self, session: Session, no: int, column: str) -> None:
        columns = session.snapshots.summary(no).get("columns", {})
        if column not in columns:
            raise Unreadable(
                f"sort: this board has no column {column[:80]!r}: {did_you_mean(column, columns)}"
            )
        self._session = session
        self._no = no
        self._column = column
        self._has_numbers = "low" in columns[column]
        self._count: int = columns[column]["n"]
        self.is_descending = column != _RANK

    def indexes(self, start: int, count: int) -> list[int]:
        """Return the indexes of some rows, from the one after ``start`` others."""
        if not self.is_descending:
            return list(range(start, start + count))
        return self._session.snapshots.order(self._no, self._column, start=start, count=count)

    def ranges(self, sort: Sort) -> list[tuple[int, int]]:
        """Return of each range of wanted rows how many are before it, and before its end.

        Raises:
            Unreadable: the column has no numbers, and numbers are wanted.
        """
        if sort.values:
            wanted = {self._read(text) for text in sort.values}
            return [self._range(value, value) for value in wanted]
        low, high = sort.minimum, sort.maximum
        if low is None and high is None:
            return [(0, self._count)]
        if not self._has_numbers:
            raise Unreadable(
                f"minimum, maximum: the column {self._column} has no numbers; give a column of "
                "numbers, or no range"
            )
        return [self._range(low, high)]

    def _range(self, low: Any, high: Any) -> tuple[int, int]:
        if self.is_descending:
            first = 0 if high is None else self._first(lambda value: value <= high)
            end = self._count if low is None else self._first(lambda value: value < low)
        else:
            first = 0 if low is None else self._first(lambda value: value >= low)
            end = self._count if high is None else self._first(lambda value: value > high)
        return first, max(first, end)

    def _first(self, holds: Callable[[Any], bool]) -> int:
        """Return the place of the first value for which a condition holds, as for all after it."""
        return bisect_left(range(self._count), True, key=lambda index: holds(self[index]))

    def _read(self, text: str) -> float | str:
        """Return a value of the column from its text.

        Raises:
            Unreadable: it is no number, and the column has numbers.
        """
        if not self._has_numbers:
            return text
        try:
            value = _FLAGS[text.lower()] if text.lower() in _FLAGS else float(text)
        except ValueError:
            value = nan
        if not isfinite(value):
            raise Unreadable(
                f"values: the column {self._column} has numbers, got {text[:80]!r}; give numbers"
            )
        return value

    def __getitem__(self, at: int) -> Any:
        """Return the value of a row: a number, or a text."""
        [line] = self._session.snapshots.lines_at(self._no, self.indexes(at, 1))
        value: Any = orjson.loads(line)
        for name in self._column.split(".", 1):
            value = value[name]
        return float(value) if self._has_numbers else value
