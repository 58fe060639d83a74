"""The page of a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agon.api.models.analysis import Movement
from agon.api.models.boards import BoardPage
from agon.app.charts.markup import LIGHT
from agon.errors import NotFound
from agon.web import addresses
from agon.web.page import Page, Visit
from agon.web.rendering import cell_text, number_text, short_id, words

ROWS: Final = 50
MAX_ROWS: Final = 500
_PARTS: Final = ("components", "percentiles", "counts")
_OWN: Final = frozenset({"rank", "id", "score", "low", "high", "rank_low", "rank_high", *_PARTS})
_UNSCORED: Final = 100
_HUES: Final = len(LIGHT)
_COUNTS: Final = ("matches", "wins", "losses", "ties")
"""Columns that are read together; the others follow by name, as rows are stored."""


@dataclass(frozen=True)
class Bar:
    """A part of a score in a stacked bar, in percent of the widest bar of the page.

    ``hue`` is the color's name in the style sheet: a number, or ``-others``.
    """

    name: str
    points: float
    start: float
    width: float
    hue: str


@dataclass(frozen=True)
class Span:
    """An interval in percent of the range of all intervals of the page."""

    low: float
    high: float
    start: float
    width: float
    middle: float


@dataclass(frozen=True)
class Line:
    """A row of a board as it is shown.

    Attributes:
        row: as it is stored.
        address: of the page of its participant.
        texts: the values of the other columns.
        bars: the parts of its score.
        span: its interval.
        moved: how many ranks it rose or fell.
        is_own: whether it is the visitor's, or the one that was looked for.
    """

    row: dict[str, Any]
    address: str
    texts: Sequence[str]
    bars: Sequence[Bar]
    span: Span | None
    moved: str
    is_own: bool


@dataclass(frozen=True)
class PartRange:
    """A part of the scores of a page, for its legend: the largest, and whose it is."""

    name: str
    hue: str
    points: float
    id: str


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
    values = {
        "contest": contest,
        "boards": boards.list(contest.id).items,
        "page": page,
        "columns": columns,
        "ranges": {name: range_text([row.get(name) for row in page.rows]) for name in columns},
        "lines": lines(visit, page, columns, movement),
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


def lines(
    visit: Visit, page: BoardPage, columns: Sequence[str], movement: Movement | None
) -> list[Line]:
    """Return the rows as they are shown, with bars and intervals on one scale each."""
    address = addresses.rows(page.contest, board=page.board, as_of=visit.as_of)
    own = {visit.query.get("around"), visit.caller.user} - {None, ""}
    widest = max((_positive_sum(row) for row in page.rows), default=0.0)
    hues = part_hues(page.rows)
    ends = [row[end] for row in page.rows for end in ("low", "high") if end in row]
    return [
        Line(
            row,
            address(row["id"]),
            [cell_text(row.get(name)) for name in columns],
            _bars(row, widest, hues),
            _span(row, min(ends), max(ends)) if "low" in row and "high" in row else None,
            _movement_text(row, movement),
            row["id"] in own,
        )
        for row in page.rows
    ]


def part_ranges(page: BoardPage) -> list[PartRange]:
    """Return the largest value of each part on a page."""
    largest: dict[str, PartRange] = {}
    hues = part_hues(page.rows)
    for row in page.rows:
        for name, points in positive_parts(row):
            if name not in largest or points > largest[name].points:
                largest[name] = PartRange(name, hues[name], points, str(row["id"]))
    return [largest[name] for name in hues if name in largest]


def part_hues(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the color of each part, in the order in which bars show the parts.

    As many parts as there are hues have one each, in the order of the rules. Of more parts those
    with the largest sums on the page have them; the others share the color of others and follow.
    """
    sums: dict[str, float] = {}
    for row in rows:
        for name in row.get("components", {}):
            sums.setdefault(name, 0.0)
        for name, points in positive_parts(row):
            sums[name] += points
    largest = set(sorted(sums, key=lambda name: -sums[name])[:_HUES])
    hues = {name: str(hue) for hue, name in enumerate(name for name in sums if name in largest)}
    return hues | {name: "-others" for name in sums if name not in largest}


def _movement(visit: Visit, page: BoardPage) -> Movement:
    """Return the ranks that the rows of a page had before."""
    moved: Movement = visit.api.analysis.movement(
        page.contest, page.board, as_of=str(page.seq), start=page.start, limit=len(page.rows)
    )
    return moved


def _movement_text(row: dict[str, Any], movement: Movement | None) -> str:
    """Return how many ranks a row rose or fell; nothing if there is no board before."""
    if movement is None or movement.since is None:
        return ""
    before = movement.ranks.get(str(row["id"]))
    if before is None:
        return "new"
    change = before - row["rank"]
    return "=" if not change else f"{'↑' if change > 0 else '↓'}{number_text(abs(change))}"


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


def _positive_sum(row: dict[str, Any]) -> float:
    return sum(points for _, points in positive_parts(row))


def _bars(row: dict[str, Any], widest: float, hues: Mapping[str, str]) -> list[Bar]:
    bars, start, points = [], 0.0, dict(positive_parts(row))
    for name in (name for name in hues if name in points):
        width = 100 * points[name] / widest
        bars.append(Bar(name, points[name], start, width, hues[name]))
        start += width
    return bars


def positive_parts(row: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the parts that add to a score; one without a value, such as a board, is left out."""
    return [
        (name, points)
        for name, points in row.get("components", {}).items()
        if points and points > 0
    ]


def _span(row: dict[str, Any], lowest: float, highest: float) -> Span:
    scale = 100 / (highest - lowest) if highest > lowest else 0.0
    low, high = row["low"], row["high"]
    return Span(
        low, high, (low - lowest) * scale, (high - low) * scale, (row["score"] - lowest) * scale
    )
