"""The page of a board."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from agon.api.models.analysis import BoardColumn, Movement
from agon.api.models.boards import BoardPage, BoardQuery, UnscoredParticipant
from agon.api.models.contests import Contest
from agon.disciplines import discipline
from agon.errors import NotFound, Unreadable
from agon.kernel.text.bidi import isolated_text
from agon.kernel.text.participants import short_id
from agon.web import addresses
from agon.web.labels import labels
from agon.web.page import SitePage, Visit
from agon.web.pages.boards.board_choice import (
    DRAWN,
    FIXED,
    Choice,
    choice_of,
    chosen_columns,
    details_of,
    offers,
)
from agon.web.pages.boards.board_columns import column_label, column_texts, columns_by_name
from agon.web.pages.boards.board_picture import picture_of
from agon.web.pages.boards.board_rows import Line, interval_ends, lines, part_ranges, rows_html
from agon.web.pages.boards.bot_columns import with_stated
from agon.web.pages.boards.robustness import Robust, robustness_of
from agon.web.pages.empty import or_empty
from agon.web.pages.run import addresses_of_runs
from agon.web.rendering import number_text, phase_of, words

ROWS: Final = 50
MAX_ROWS: Final = 500
_PARTS: Final = ("components", "percentiles", "counts")
_OWN: Final = frozenset({*FIXED, "low", "high", "rank_low", "rank_high", *_PARTS})
_UNSCORED: Final = 100
_SELECTION: Final = ("q", "sort", "minimum", "maximum", "values")
"""Parameters that select rows; links to other pages of a board keep them."""


@or_empty
def default_board(visit: Visit) -> SitePage:
    """Return the page of a contest's default board."""
    contest = visit.contest()
    return _board(visit, visit.api.boards.default(contest.id))


def board(visit: Visit) -> SitePage:
    """Return a page of the board in the path."""
    return _board(visit, visit.path["board"])


def _board(visit: Visit, name: str) -> SitePage:
    contest, boards = visit.contest(), visit.api.boards
    query = _query(visit)
    search, center, as_of = query.q, query.around, query.as_of
    page = with_stated(visit, boards.get(contest.id, name, query))
    robust = robustness_of(visit, page)
    sortable, own_columns = columns_by_name(visit, page), columns_of(page)
    choice, label = choice_of(visit, page, own_columns, sortable), labels(contest, page.board)
    details = details_of(page, own_columns)
    columns = chosen_columns(choice, own_columns, sortable, details=details)
    movement = None if search or query.sort or not page.rows else _movement(visit, page)
    drawn = _figures(page, movement, robust)
    movement = movement if choice.shows("moved") else None
    unscored = _without_score(visit, page, query)
    runs = _runs(visit, contest, page, unscored["unscored"])
    shown = lines(visit, page, columns, movement, robust, choice, label, runs)
    own = _own_row(visit, page)
    listed, marked = boards.list(contest.id).items, _row_to_mark(visit, page) or own
    by_rank = not (search or query.sort or query.cursor)
    chart = picture_of(visit, page, robust, marked, contest) if by_rank else None
    values = {
        "contest": contest,
        "boards": listed,
        "by_problem": {each.board.removeprefix("problem:"): each for each in listed},
        "page": page,
        "columns": columns,
        "sortable": sortable,
        "rows": rows_html(shown),
        "robust": robust,
        **_optional_columns(page, shown, sortable),
        "choice": choice,
        "label": partial(column_label, page),
        "named": label,
        "offers": offers(choice, own_columns, drawn, sortable, details=details),
        "since": None if movement is None else movement.since,
        "own": own,
        "chart": chart,
        **unscored,
        "runs": runs,
        "search": search,
        "sort": _shown_sort(page, query),
        **_selection(visit, query, choice),
        "around": center,
        "as_of": visit.as_of,
    }
    return SitePage(
        template="empty.html" if _is_before_scores(visit, contest, page) else "board.html",
        title=f"{isolated_text(page.board)} · {contest.title}",
        values={**values, **vars(column_texts(page, values))},
        data=addresses.api(
            "contests", contest.id, "boards", name, as_of=as_of,
            **query.model_dump(include={*_SELECTION, "cursor", "around"}),
            limit=visit.query.get("limit"),
        ),
        formats=addresses.FORMATS,
        summary=f"{number_text(page.rows_total)} on the board {words(short_id(page.board))}",
        picture=addresses.card(contest.id, page.rows[0]["id"], board=page.board, as_of=as_of)
        if page.rows
        else "",
    )  # fmt: skip


def _is_before_scores(visit: Visit, contest: Contest, page: BoardPage) -> bool:
    """Return whether a contest that goes on has no row on any board: a page says what is next."""
    if page.rows_total or page.unscored_total or phase_of(contest) not in {"not started", "open"}:
        return False
    listed = visit.api.boards.list(page.contest).items
    return not any(each.rows_total or each.unscored_total for each in listed)


def _runs(
    visit: Visit, contest: Contest, page: BoardPage, unscored: Sequence[UnscoredParticipant]
) -> Mapping[str, str]:
    """Return the addresses of the runs behind the rows of the page, with a score or without."""
    ids = [row["id"] for row in page.rows] + [each.id for each in unscored]
    return addresses_of_runs(visit, contest, page.board, ids)


def _without_score(visit: Visit, page: BoardPage, query: BoardQuery) -> dict[str, Any]:
    """Return the participants without a score and their names, below the last row of a board."""
    if not page.unscored_total or page.next is not None or query.q or query.sort:
        return {"unscored": (), "unscored_names": {}}
    unscored = visit.api.boards.unscored(
        page.contest, page.board, as_of=query.as_of, limit=_UNSCORED
    )
    return {"unscored": unscored.unscored, "unscored_names": unscored.names or {}}


def _selection(visit: Visit, query: BoardQuery, choice: Choice) -> dict[str, Any]:
    """Return the parameters that links to other rows keep, and those that say which are shown."""
    rows = {name: visit.query.get(name) for name in (*_SELECTION, "limit")}
    rows |= {"sort": query.sort, "values": query.values}
    return {
        "selection": {**rows, "columns": choice.text},
        "sent": {name: visit.query.get(name) for name in ("cursor", "around")},
    }


def _optional_columns(
    page: BoardPage, shown: Sequence[Line], sortable: Mapping[str, BoardColumn]
) -> dict[str, Any]:
    """Return which columns have a value in some row."""
    return {
        "has_intervals": any(line.span for line in shown),
        "has_robustness": any(line.robustness for line in shown),
        "has_parts": any(line.bars is not None for line in shown),
        "parts": part_ranges(page, sortable) if shown and shown[0].bars is not None else [],
    }


def _figures(page: BoardPage, movement: Movement | None, robust: Robust | None) -> list[str]:
    """Return which of the columns that are no single value of a row a page can have."""
    has = {
        "moved": movement is not None and movement.since is not None,
        "parts": any("components" in row for row in page.rows),
        "interval": any(ends is not None for ends in interval_ends(page.rows, robust)),
        "robustness": robust is not None and any(row["id"] in robust.ranks for row in page.rows),
    }
    return [name for name in DRAWN if has[name]]


def _query(visit: Visit) -> BoardQuery:
    """Return which rows the address names."""
    parameters = {name: text for name in (*_SELECTION, "cursor", "around", "as_of")
             if (text := visit.query.get(name))}  # fmt: skip
    parameters |= _filter(visit)
    if "cursor" in parameters:
        parameters.pop("as_of", None)  # the cursor is of a snapshot
    limit = visit.number("limit", default=ROWS, highest=MAX_ROWS)
    return BoardQuery.model_validate({**parameters, "limit": limit})


def _filter(visit: Visit) -> dict[str, str]:
    """Return the column and the values by which the address filters: ``?only=tier:gold``.

    Raises:
        Unreadable: it names values of two columns.
    """
    pairs = [text.partition(":")[::2] for key, text in visit.query_pairs if key == "only"]
    columns = list(dict.fromkeys(column for column, _ in pairs))
    if len(columns) > 1:
        raise Unreadable(
            f"only: values of {columns[0][:80]} and {columns[1][:80]}; choose those of one column"
        )
    values = ",".join(value for _, value in pairs) or ",".join(visit.texts("values"))
    return ({"sort": f"-{columns[0]}"} if columns else {}) | ({"values": values} if values else {})


def _shown_sort(page: BoardPage, query: BoardQuery) -> dict[str, Any] | None:
    """Return the column by which a page is sorted, with the range of values; None: by rank."""
    if query.sort is None:
        return None
    column = query.sort.removeprefix("-")
    return {
        "column": column,
        "is_descending": column != query.sort,
        "minimum": query.minimum,
        "maximum": query.maximum,
        "values": tuple((query.values or "").split(",")) if query.values else (),
        "matching": page.matching,
    }


def columns_of(page: BoardPage) -> list[str]:
    """Return the names of the columns other than rank, id, score, parts and interval.

    A column that repeats the score, as the rating of a bot does, is left out. The order is that in
    which the discipline describes its columns.
    """
    if not page.rows:
        return []
    names = [
        name
        for name in page.rows[0]
        if name not in _OWN and any(row.get(name) != row["score"] for row in page.rows)
    ]
    order = {name: index for index, name in enumerate(discipline(page.discipline).traits.columns)}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def _movement(visit: Visit, page: BoardPage) -> Movement:
    """Return the ranks that the rows of a page had before."""
    moved: Movement = visit.api.analysis.movement(
        page.contest, page.board, as_of=str(page.seq), start=page.start, limit=len(page.rows)
    )
    return moved


def _row_to_mark(visit: Visit, page: BoardPage) -> dict[str, Any] | None:
    """Return the row of the page that was looked for, or that is the visitor's."""
    for name in (visit.query.get("around"), visit.caller.user):
        row = next((row for row in page.rows if row["id"] == name), None)
        if row is not None:
            return row
    return None


def _own_row(visit: Visit, page: BoardPage) -> dict[str, Any] | None:
    """Return the row of the signed-in visitor, if the board has one that the page does not show."""
    user = visit.caller.user
    if user is None or any(row["id"] == user for row in page.rows):
        return None
    try:
        center = visit.api.boards.page(
            page.contest, page.board, as_of=str(page.seq), around=user, limit=1
        )
    except NotFound:
        return None
    return center.rows[0]
