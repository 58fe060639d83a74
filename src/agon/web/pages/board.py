"""The page of a board."""

from collections.abc import Sequence
from typing import Any, Final

from agon.api.models.analysis import Movement
from agon.api.models.boards import BoardPage
from agon.errors import NotFound
from agon.web import addresses
from agon.web.page import Page, Visit
from agon.web.pages.board_rows import lines, part_ranges, rows_html
from agon.web.rendering import number_text, short_id, words

ROWS: Final = 50
MAX_ROWS: Final = 500
_PARTS: Final = ("components", "percentiles", "counts")
_OWN: Final = frozenset({"rank", "id", "score", "low", "high", "rank_low", "rank_high", *_PARTS})
_UNSCORED: Final = 100
_COUNTS: Final = ("matches", "wins", "losses", "ties")
"""Columns that are read together; the others follow by name, as rows are stored."""


def default_board(visit: Visit) -> Page:
    """Return the page of a contest's default board."""
    contest = visit.contest()
    return _board(visit, visit.api.boards.default(contest.id))


def board(visit: Visit) -> Page:
    """Return a page of the board in the path."""
    return _board(visit, visit.path["board"])


def _board(visit: Visit, name: str) -> Page:
    contest, boards = visit.contest(), visit.api.boards
    limit = visit.number("limit", default=ROWS, highest=MAX_ROWS)
    search, cursor, around = (visit.query.get(key) or None for key in ("q", "cursor", "around"))
    as_of = None if cursor else visit.as_of
    if search:
        page = boards.search(
            contest.id, search, board=name, as_of=as_of, cursor=cursor, limit=limit
        )
    else:
        page = boards.page(contest.id, name, as_of=as_of, cursor=cursor, around=around, limit=limit)
    unscored = (
        boards.unscored(contest.id, name, as_of=as_of, limit=_UNSCORED).unscored
        if page.unscored_total and page.next is None and not search
        else ()
    )
    columns = columns_of(page)
    movement = None if search or not page.rows else _movement(visit, page)
    shown = lines(visit, page, columns, movement)
    values = {
        "contest": contest,
        "boards": boards.list(contest.id).items,
        "page": page,
        "columns": columns,
        "ranges": {name: range_text([row.get(name) for row in page.rows]) for name in columns},
        "rows": rows_html(shown),
        "has_intervals": any(line.span for line in shown),
        "has_parts": any("components" in row for row in page.rows),
        "parts": part_ranges(page),
        "since": None if movement is None else movement.since,
        "own": _own_row(visit, page),
        "unscored": unscored,
        "search": search,
        "around": around,
        "as_of": visit.as_of,
    }
    return Page(
        template="board.html",
        title=f"{page.board} · {contest.title}",
        values=values,
        data=addresses.api(
            "contests",
            contest.id,
            "boards",
            name,
            as_of=as_of,
            q=search,
            cursor=cursor,
            around=around,
            limit=visit.query.get("limit"),
        ),
        formats=addresses.FORMATS,
        summary=f"{number_text(page.rows_total)} on the board {words(short_id(page.board))}",
        picture=addresses.card(contest.id, page.rows[0]["id"], board=page.board, as_of=as_of)
        if page.rows
        else "",
    )


def range_text(values: Sequence[Any]) -> str:
    """Return in words which values a column has on a page.

    Example:
        >>> range_text([3, None, 5]), range_text([True, False])
        ('On this page from 3 to 5; 1 row has none.', 'Yes for 1 of 2 on this page.')
        >>> range_text(["a", "b", "a"])
        '2 different ones on this page.'
    """
    own = [value for value in values if value is not None]
    absent = len(values) - len(own)
    if own and all(isinstance(value, bool) for value in own):
        return f"Yes for {sum(own)} of {len(values)} on this page."
    if own and all(isinstance(value, int | float) for value in own):
        text = f"On this page from {number_text(min(own))} to {number_text(max(own))}"
    else:
        text = f"{len({str(value) for value in own})} different ones on this page"
    return (
        f"{text}; {absent} row{'s have' if absent > 1 else ' has'} none." if absent else f"{text}."
    )


def columns_of(page: BoardPage) -> list[str]:
    """Return the names of the columns other than rank, id, score, parts and interval.

    A column that repeats the score, as the rating of a bot does, is left out. Counts of matches
    come first.
    """
    if not page.rows:
        return []
    names = [
        name
        for name in page.rows[0]
        if name not in _OWN and any(row.get(name) != row["score"] for row in page.rows)
    ]
    return [*(name for name in _COUNTS if name in names),
            *(name for name in names if name not in _COUNTS)]  # fmt: skip


def _movement(visit: Visit, page: BoardPage) -> Movement:
    """Return the ranks that the rows of a page had before."""
    moved: Movement = visit.api.analysis.movement(
        page.contest, page.board, as_of=str(page.seq), start=page.start, limit=len(page.rows)
    )
    return moved


def _own_row(visit: Visit, page: BoardPage) -> dict[str, Any] | None:
    """Return the row of the signed-in visitor, if the board has one that the page does not show."""
    user = visit.caller.user
    if user is None or any(row["id"] == user for row in page.rows):
        return None
    try:
        around = visit.api.boards.page(
            page.contest, page.board, as_of=str(page.seq), around=user, limit=1
        )
    except NotFound:
        return None
    return around.rows[0]
