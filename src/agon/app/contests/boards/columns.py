"""The columns of a published board, with the range of all of their values."""

from dataclasses import dataclass

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import PublishedBoard, find_board
from agon.app.service import Service
from agon.disciplines import discipline


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of numbers, flags or text, or a part of scores.

    Attributes:
        name: the column; ``components.NAME`` is a part of scores.
        n: number of rows that have a value.
        low, high: the smallest and the largest number, false is 0 and true is 1; None for text.
        top: the first id on the board of those with the largest number; None for text and ranks.
        yes: of flags the number of rows with true.
        distinct: of text the number of different values.
        meaning: what the value is, in a sentence; empty: the discipline does not say it.
        unit: of the value, or empty.
        rules: the rules that determine it, the most important first.
    """

    name: str
    n: int
    low: float | None = None
    high: float | None = None
    top: str | None = None
    yes: int | None = None
    distinct: int | None = None
    meaning: str = ""
    unit: str = ""
    rules: tuple[str, ...] = ()


def columns(
    service: Service, view: View, board: str | None, *, as_of: str | None = None
) -> tuple[PublishedBoard, tuple[Column, ...]]:
    """Return a board with its columns; rows can be sorted by each.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of)
        ranges = session.snapshots.summary(published.rows_snapshot.no).get("columns", {})
    described = discipline(view.contest.discipline)
    meanings = (described.traits.meaning(published.snapshot.board, name) for name in ranges)
    return published, tuple(
        Column(name=name, **values)
        if meaning is None
        else Column(
            name=name, **values, meaning=meaning.text, unit=meaning.unit, rules=meaning.rules
        )
        for (name, values), meaning in zip(ranges.items(), meanings, strict=True)
    )
