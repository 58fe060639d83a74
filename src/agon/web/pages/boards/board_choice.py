"""The columns of a board's page that a visitor chose: ``?columns=score,matches``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agon.api.models.analysis import BoardColumn
from agon.api.models.boards import BoardPage
from agon.disciplines import discipline
from agon.web.page import Visit
from agon.web.pages.boards.bot_columns import meaning_of

FIXED: Final = ("rank", "id", "score")
"""Columns that every page has."""

DRAWN: Final = ("moved", "parts", "interval", "robustness")
"""Columns of the page that are no single value of a row."""

_PART: Final = "components."
_MAX_OFFERED: Final = 12
"""Of a board with more parts the form offers none by itself; an address may name any."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which columns a page shows.

    Attributes:
        names: the chosen columns; None: those that a page shows by itself.
        unknown: names in the address that no column of the board has.
    """

    names: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        """The choice as links have it; None: there is none."""
        return None if self.names is None else ",".join(self.names)

    def shows(self, name: str) -> bool:
        """Return whether a column that a page shows by itself stays."""
        return self.names is None or name in self.names


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A column in the form: its name, and whether the page shows it."""

    name: str
    is_shown: bool


def choice_of(
    visit: Visit, page: BoardPage, own: Sequence[str], sortable: Mapping[str, BoardColumn]
) -> Choice:
    """Return the columns that an address names; unknown ones are left out, and reported.

    A column that this page cannot have, such as ``moved`` of a sorted board, is not unknown. An
    address that names unknown columns only shows what it would show without them.

    Args:
        visit: whose address names them.
        page: the page of the board.
        own: the columns that the page shows by itself.
        sortable: all columns that have a value in some row.
    """
    asked = dict.fromkeys(visit.texts("columns"))
    described = discipline(page.discipline).traits.columns
    known = {*FIXED, *DRAWN, *sortable, *described, *own}
    names = tuple(name for name in asked if name in known)
    unknown = tuple(name for name in asked if name not in known) if page.rows else ()
    return Choice(names=names or None, unknown=unknown)


def chosen_columns(
    choice: Choice,
    own: Sequence[str],
    sortable: Mapping[str, BoardColumn],
    *,
    details: Collection[str] = (),
) -> list[str]:
    """Return the columns with one value for each row, in the order in which the page shows them.

    Args:
        choice: of the visitor.
        own: the columns of the board.
        sortable: all columns that have a value in some row.
        details: those of ``own`` that the page shows only if they are chosen.
    """
    if choice.names is None:
        return [name for name in own if name not in details]
    more = (name for name in sortable if name not in own and name not in FIXED)
    return [name for name in (*own, *more) if name in choice.names]


def offers(
    choice: Choice,
    own: Sequence[str],
    drawn: Sequence[str],
    sortable: Mapping[str, BoardColumn],
    *,
    details: Collection[str] = (),
) -> list[Offer]:
    """Return the columns that the form offers, in the order of the page.

    Args:
        choice: of the visitor.
        own: the columns of the board.
        drawn: those of :data:`DRAWN` that the board can have.
        sortable: all columns that have a value in some row.
        details: those of ``own`` that the page shows only if they are chosen.
    """
    parts = [name for name in sortable if name.startswith(_PART) and "," not in name]
    chosen = chosen_columns(choice, own, sortable, details=details)
    offered = [*drawn, *own, *(parts if len(parts) <= _MAX_OFFERED else ()), *chosen]
    shown = {*chosen, *(name for name in drawn if choice.shows(name))}
    return [Offer(name=name, is_shown=name in shown) for name in dict.fromkeys(offered)]


def details_of(page: BoardPage, own: Sequence[str]) -> frozenset[str]:
    """Return the columns that a page leaves out, so that a screen of 1280 pixels shows the rest."""
    meanings = ((name, meaning_of(page, name)) for name in own)
    return frozenset(name for name, meaning in meanings if meaning and meaning.is_detail)


def value_of(row: Mapping[str, Any], column: str) -> Any:
    """Return a row's value in a column; None: it has none.

    Example:
        >>> value_of({"matches": 3, "components": {"base": 2.5}}, "components.base")
        2.5
    """
    if column.startswith(_PART):
        return row.get("components", {}).get(column.removeprefix(_PART))
    return row.get(column)
