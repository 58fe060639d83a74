"""Draw a board as one page: its rows, why each of the first has its score, and who has none."""

from collections.abc import Mapping
from typing import Any

from agon.app.analysis.score import Result
from agon.app.charts.intervals import interval_chart
from agon.app.charts.markup import element, words
from agon.app.charts.standalone_page import standalone_page
from agon.kernel.boards import Board
from agon.kernel.text.board_text import board_html
from agon.kernel.text.text_tables import html_table

MAX_EXPLAINED = 100
"""Number of rows that are explained: each takes some kilobytes."""

_MAX_ROWS = 10_000
_DIGITS = 6
_FEWEST, _DRAWN = 3, 20


def page(result: Result, board: Board, *, top: int | None = None) -> str:
    """Return a board as one HTML page that needs no other file and no network.

    Args:
        result: the result that the board is of.
        board: the board.
        top: how many rows; None: all, at most 10,000.
    """
    count = min(len(board), top or _MAX_ROWS, _MAX_ROWS)
    rows = board.head(count)
    names = rows["id"].to_pylist()[:MAX_EXPLAINED]
    anchors = {str(name): f"why-{at}" for at, name in enumerate(names)}
    explained = [
        element("details", [element("summary", [words(name)]), _parts(result, board, name)],
                id=anchor)
        for name, anchor in anchors.items()
    ]  # fmt: skip
    more = len(board) - count
    intro = element("p", [words(f"{result.rules_title} · {len(board):,} rows · {_time(result)}")])
    return standalone_page(
        f"{result.discipline.name}: {board.name}",
        intro,
        [
            (
                "Board",
                [
                    *_picture(board, anchors),
                    _data(board_html(rows, board.name, digits=_DIGITS)),
                    *_note(f"{more:,} more rows", if_=more > 0),
                ],
            ),
            (
                "Why",
                [*explained, *_note("Later rows are not explained here.", if_=count > len(names))],
            ),
            ("Without a score", _unscored_table(board)),
            ("Provenance", _provenance(result)),
        ],
    )


def _unscored_table(board: Board) -> list[str]:
    """Return a table of who has no score, if there are any."""
    if not board.unscored:
        return []
    listed = board.unscored[:_MAX_ROWS]
    columns = [
        ("id", [str(item.id) for item in listed]),
        ("reason", [item.reason for item in listed]),
    ]
    return [_data(html_table(columns, f"{len(board.unscored):,} without a score"))]


def _provenance(result: Result) -> list[str]:
    """Return a table of what a board follows from, if that is known."""
    provenance = result.provenance()
    if not provenance:
        return []
    columns = [
        ("what", list(map(str, provenance))),
        ("value", list(map(_text, provenance.values()))),
    ]
    return [_data(html_table(columns, "what this board follows from"))]


def _picture(board: Board, anchors: Mapping[str, str]) -> list[str]:
    """Return the first rows as points, with their intervals; a name leads to why it has its score.

    Fewer rows than three show nothing that the table does not.
    """
    rows = board.rows(top=_DRAWN)
    if len(rows) < _FEWEST:
        return []
    chart = interval_chart(
        rows,
        total=len(board),
        title=f"Board {board.name}",
        subtitle="",
        address=lambda name: f"#{anchors[name]}",
    )
    return [_data(chart), *_note(f"The first {len(rows)} are drawn.", if_=len(board) > len(rows))]


def _text(value: Any) -> str:
    """Return a value of a board's provenance in words.

    Example:
        >>> _text({"algorithm": "scores0002-v1", "top_n": 3}), _text(None), _text({})
        ('algorithm: scores0002-v1, top_n: 3', 'none', 'none')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items()) or "none"
    return "none" if value is None else str(value)


def _parts(result: Result, board: Board, name: str) -> str:
    return _data(result.explain(name, board=board.name)._repr_html_())


def _data(table: str) -> str:
    return f'<div class="data">{table}</div>'


def _note(text: str, *, if_: bool) -> list[str]:
    return [element("p", [words(text)])] if if_ else []


def _time(result: Result) -> str:
    return "all records" if result.as_of is None else f"as of {result.as_of.isoformat()}"
