"""Find participants on a published board by the beginning of their ids."""

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import MAX_ROWS, Page, find_board
from agon.app.contests.ledgers.positions import require_storable_name
from agon.app.service import Service
from agon.entities.contests import Snapshot
from agon.errors import Unreadable
from agon.store.session import Session


def search(
    service: Service,
    view: View,
    board: str | None,
    prefix: str,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page:
    """Return the rows of a board whose ids begin with a prefix, in id order.

    Every id that was ever on a board has steps of its history stored under it, so that the ids are
    found in an index and their rows by index; the board itself is not scanned. Upper and lower
    case differ, as they do in ids.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        prefix: how the ids begin, at least one character.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        cursor: as a page of the same search gave it.
        limit: maximum number of rows, 1 to 1000.

    Returns:
        A page whose ``start`` is the index of the first row found (0 where there is none); the
        others may be anywhere on the board.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    if not prefix or not 1 <= limit <= MAX_ROWS:
        raise Unreadable(f"give the beginning of an id, and a limit of 1 to {MAX_ROWS}")
    require_storable_name(prefix)
    at = None if cursor is None else Cursor.read(cursor)
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of, at=at)
        snapshot, rows_snapshot = published.snapshot, published.rows_snapshot
        after = None if at is None else _id_at(session, rows_snapshot, at.start)
        indexes = _indexes(session, snapshot, rows_snapshot, prefix, after=after, limit=limit + 1)
        selected = indexes[:limit]
        lines = session.snapshots.lines_at(rows_snapshot.no, selected)
    return Page(
        snapshot=snapshot,
        lines=lines,
        start=selected[0] if selected else 0,
        next=str(Cursor(snapshot.no, selected[-1])) if len(indexes) > limit else None,
        previous=None,
        amended_by=published.amended_by,
    )


def _indexes(
    session: Session,
    snapshot: Snapshot,
    rows_snapshot: Snapshot,
    prefix: str,
    *,
    after: str | None,
    limit: int,
) -> list[int]:
    """Return the indexes of the first ``limit`` matching ids after one.

    Ids that were on the board at another time only are skipped.
    """
    matching: list[int] = []
    while len(matching) < limit:
        names = session.histories.names(
            snapshot.contest_no,
            snapshot.board,
            begins=prefix,
            after=after,
            until=snapshot.seq,
            limit=limit,
        )
        indexes = session.snapshots.row_indexes(rows_snapshot.no, names) if names else {}
        matching += [indexes[name] for name in names if name in indexes]
        if len(names) < limit:
            break
        after = names[-1]
    return matching[:limit]


def _id_at(session: Session, rows_snapshot: Snapshot, index: int) -> str:
    """Return the id of the row at an index.

    Raises:
        Unreadable: the board has none there; no page gave such a cursor.
    """
    lines = session.snapshots.lines(rows_snapshot.no, start=index, count=1)
    if not lines:
        raise Unreadable("this cursor is not of a page of this board; begin again without it")
    name: str = orjson.loads(lines[0])["id"]
    return name
