"""The columns of a published board, with the range of all of their values."""

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import PublishedBoard, find_board
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.boards import BoardColumn


def columns(
    service: Service, view: View, board: str | None, *, as_of: str | None = None
) -> tuple[PublishedBoard, tuple[BoardColumn, ...]]:
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
        BoardColumn(name=name, **values)
        if meaning is None
        else BoardColumn(
            name=name, **values, meaning=meaning.text, unit=meaning.unit, rules=meaning.rules
        )
        for (name, values), meaning in zip(ranges.items(), meanings, strict=True)
    )
