"""The columns of a board's page: their headings, the form that sorts by them, what each is.

These parts are equal on all pages of a board, so they are rendered once for each board and order.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from agon.api.models.analysis import BoardColumn
from agon.api.models.boards import BoardPage
from agon.disciplines import discipline
from agon.disciplines.capabilities import ColumnMeaning
from agon.web.page import Visit
from agon.web.pages.boards.bot_columns import meaning_of
from agon.web.pages.boards.robustness import Robust
from agon.web.rendering import environment, head_words, number_text, share_text, words

_MAX_KEPT: Final = 256
"""Maximum number of boards and orders whose columns are kept; they are a few kilobytes each."""

_COLUMNS: Final[dict[Hashable, Mapping[str, BoardColumn]]] = {}
_PART: Final = "components."

_TEXTS: Final[dict[Hashable, "ColumnTexts"]] = {}


@dataclass(frozen=True)
class ColumnTexts:
    """HTML about the columns of a board.

    Attributes:
        thead: the headings.
        sorting: the form that sorts and filters.
        key: the names of the parts' colors.
        paragraphs: what each column is.
    """

    thead: Markup
    sorting: Markup
    key: Markup
    paragraphs: Markup


def columns_by_name(visit: Visit, page: BoardPage) -> Mapping[str, BoardColumn]:
    """Return the columns by which a board can be sorted; they are the same for equal boards."""
    key = (page.discipline, page.head_sha256, page.board_sha256)
    if key not in _COLUMNS:
        listed = visit.api.analysis.columns(page.contest, page.board, as_of=str(page.seq))
        _keep(_COLUMNS, key, {column.name: column for column in listed.columns})
    return _COLUMNS[key]


def column_label(page: BoardPage, name: str, *, is_head: bool = False) -> str:
    """Return what heads a column of a board, with a capital letter if it is a head.

    Example:
        >>> from types import SimpleNamespace
        >>> season = SimpleNamespace(discipline="dojo", board="season")
        >>> column_label(season, "median_l_chars"), column_label(season, "components.bonus_points")
        ('Median length', 'part: bonus points')
        >>> column_label(season, "stage_passes", is_head=True)
        'Stage passes'
    """
    return _label(meaning_of(page, name.removeprefix(_PART)), name, is_head=is_head)


def label_of(discipline_name: str, board: str, name: str, *, is_head: bool = False) -> str:
    """Return what heads a column of a board that is no page of its own.

    Example:
        >>> label_of("challenge", "validators", "mean_abs_z")
        'Mean distance'
    """
    meaning = discipline(discipline_name).traits.meaning(board, name.removeprefix(_PART))
    return _label(meaning, name, is_head=is_head)


def _label(meaning: ColumnMeaning | None, name: str, *, is_head: bool) -> str:
    if meaning is not None and meaning.label:
        return meaning.label
    text = words(name.replace(_PART, "part: "))
    return head_words(text) if is_head else text


def column_texts(page: BoardPage, values: Mapping[str, Any]) -> ColumnTexts:
    """Return the HTML about the columns of a board, rendered once for equal values.

    Args:
        page: the page of the board.
        values: what the page shows.
    """
    order, since = values["sort"] or {}, values["since"]
    key = (
        page.contest, page.discipline, page.board, page.head_sha256, page.board_sha256,
        page.edition, page.intervals,
        None if since is None else (since.seq, since.at),
        tuple(order.items()), values["selection"]["limit"], values["as_of"], values["choice"].text,
        tuple(values["columns"]), tuple(values["parts"]), values["has_parts"],
        values["has_intervals"], values["has_robustness"], _noise(values["robust"]),
    )  # fmt: skip
    if key not in _TEXTS:
        shown = {
            **values,
            "ranges": {
                each.name: range_text(
                    each, page.rows_total, meaning_of(page, each.name.removeprefix(_PART))
                )
                for each in values["sortable"].values()
            },
            "label": partial(column_label, page),
            "meaning": partial(meaning_of, page),
            "filter": _filter(values["sortable"].get(order.get("column"))),
        }
        parts = environment().get_template("board_columns.html").make_module(shown)
        texts = (getattr(parts, name)() for name in ("thead", "sorting", "key", "paragraphs"))
        _keep(_TEXTS, key, ColumnTexts(*texts))
    return _TEXTS[key]


def _filter(column: BoardColumn | None) -> BoardColumn | None:
    """Return the column that orders the page, if the API lists its values, which are few then."""
    if column is None:
        return None
    is_flag = column.yes is not None and column.low != column.high
    return column if is_flag or len(column.values) > 1 else None


def _noise(robust: Robust | None) -> Hashable:
    """Return what texts about robustness depend on."""
    if robust is None:
        return None
    stored = robust.stored
    noise = tuple((floor.k, floor.width, floor.confidence) for floor in stored.noise)
    return (stored.matches, len(stored.ranks), stored.matches_established, noise)


def _keep(cache: dict[Hashable, Any], key: Hashable, value: Any) -> None:
    if len(cache) >= _MAX_KEPT:
        cache.clear()
    cache[key] = value


def range_text(column: BoardColumn, total: int, meaning: ColumnMeaning | None = None) -> str:
    """Return in words which values a column has on a board of ``total`` rows.

    Shares are stated in percent, as the column shows them.

    Example:
        >>> from agon.entities import boards
        >>> matches = boards.BoardColumn(name="matches", n=3, low=3, high=5)
        >>> column = BoardColumn.model_validate(matches)
        >>> range_text(column, 4), range_text(column.model_copy(update={"yes": 1}), 3)
        ('From 3 to 5; 1 row has none.', 'Yes for 1 of 3.')
        >>> range_text(column.model_copy(update={"low": None, "distinct": 2}), 3)
        '2 different.'
    """
    if column.yes is not None:
        return f"Yes for {number_text(column.yes)} of {number_text(column.n)}."
    is_share = meaning is not None and meaning.is_share
    low, high = (share_text(end) if is_share else number_text(end)
                 for end in (column.low, column.high))  # fmt: skip
    if column.low is not None and column.low == column.high:
        text = f"{low} in all"
    elif column.low is not None:
        text = f"From {low} to {high}"
    else:
        text = f"{number_text(column.distinct or 0)} different"
    absent = total - column.n
    if not absent:
        return f"{text}."
    return f"{text}; {number_text(absent)} row{'s have' if absent > 1 else ' has'} none."
