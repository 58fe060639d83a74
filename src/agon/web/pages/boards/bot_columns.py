"""Columns of a board's page that the owners of bots state: version, author, license, link."""

from typing import Any, Final

from agon.api.models.boards import BoardPage
from agon.api.models.bots import Bot
from agon.disciplines import discipline
from agon.disciplines.capabilities import ColumnMeaning
from agon.entities.arena import STATED
from agon.web.page import Visit
from agon.web.rendering import link_html

COLUMNS: Final = {
    name: ColumnMeaning(
        f"{str(Bot.model_fields[name].description).partition(';')[0]}, as its owner states it now.",
        is_detail=True,
    )
    for name in STATED
}
"""The columns, as their owners state them now; they are of the page only."""


def with_stated(visit: Visit, page: BoardPage) -> BoardPage:
    """Return a page of a board of bots with what their owners state, where any owner does."""
    scored = discipline(page.discipline)
    table = scored.names.column.partition(".")[0] if scored.names is not None else ""
    ids = scored.traits.ids.get(page.board, "")
    if visit.as_of or scored.rounds is None or not page.rows or ids != f"{table}.id":
        return page
    named = tuple(str(row["id"]) for row in page.rows)
    bots = {bot.id: bot for bot in visit.api.bots.list(page.contest, bot=named)}
    texts = {name: {key: getattr(bot, name) for key, bot in bots.items()} for name in COLUMNS}
    stated = {name: of_bot for name, of_bot in texts.items() if any(of_bot.values())}
    rows = tuple(
        row | {name: _cell(name, of_bot.get(row["id"], "")) for name, of_bot in stated.items()}
        for row in page.rows
    )
    return page.model_copy(update={"rows": rows}) if stated else page


def meaning_of(page: BoardPage, name: str) -> ColumnMeaning | None:
    """Return what a column of a board's page is; None: its discipline does not say it."""
    return COLUMNS.get(name) or discipline(page.discipline).traits.meaning(page.board, name)


def _cell(name: str, text: str) -> Any:
    return link_html(text) if name == "link" and text else text
