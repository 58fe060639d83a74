"""Find people on a published board by how their ids begin."""

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import MOST_ROWS, Page, of_cursor
from agon.app.contests.boards.stored_rows import expect_holder
from agon.app.contests.ledgers.positions import expect_storable, snapshot_at
from agon.app.service import Service
from agon.entities.contests import Snapshot
from agon.errors import Unreadable
from agon.store.session import Session


def search(
    service: Service,
    view: View,
    board: str | None,
    begins: str,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page:
    """Return the rows of those on a board whose ids begin with a text, in id order.

    Whoever was ever on a board has steps of their history stored under their id, so that the ids
    are found in an index and their rows by place; the board itself is not read through. Upper and
    lower case differ, as they do in ids.

    Args:
        service: the house.
        view: what the caller may see.
        board: the board; None: the default one.
        begins: how the ids begin, at least one character.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        cursor: as a page of the same search gave it.
        limit: how many rows, 1 to 1000.

    Returns:
        A page whose ``start`` is the place of the first row found (0 where there is none); the
        others stand anywhere on the board.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    if not begins or not 1 <= limit <= MOST_ROWS:
        raise Unreadable(f"give the beginning of an id, and a limit of 1 to {MOST_ROWS}")
    expect_storable(begins)
    with service.store.read() as session:
        at = None if cursor is None else Cursor.read(cursor)
        if at is None:
            snapshot = snapshot_at(session, view, board, as_of)
        else:
            snapshot = of_cursor(session, view, board, at)
        holder = expect_holder(session, view.contest, snapshot)
        after = None if at is None else _id_at(session, holder, at.start)
        places = _found(session, snapshot, holder, begins, after=after, limit=limit + 1)
        shown = places[:limit]
        lines = [
            line
            for place in shown
            for line in session.snapshots.lines(holder.no, start=place, count=1)
        ]
    return Page(
        snapshot=snapshot,
        lines=lines,
        start=shown[0] if shown else 0,
        next=str(Cursor(snapshot.no, shown[-1])) if len(places) > limit else None,
        previous=None,
    )


def _found(
    session: Session,
    snapshot: Snapshot,
    holder: Snapshot,
    begins: str,
    *,
    after: str | None,
    limit: int,
) -> list[int]:
    """Return the places of the first so many ids behind one.

    Who was on the board at another time only is passed over.
    """
    found: list[int] = []
    while len(found) < limit:
        names = session.histories.names(
            snapshot.contest_no,
            snapshot.board,
            begins=begins,
            after=after,
            until=snapshot.seq,
            limit=limit,
        )
        places = session.snapshots.row_indexes(holder.no, names) if names else {}
        found += [places[name] for name in names if name in places]
        if len(names) < limit:
            break
        after = names[-1]
    return found[:limit]


def _id_at(session: Session, holder: Snapshot, place: int) -> str:
    """Return whose row stands at a place.

    Raises:
        Unreadable: the board has none there; no page gave such a cursor.
    """
    lines = session.snapshots.lines(holder.no, start=place, count=1)
    if not lines:
        raise Unreadable("this cursor is of no page here; begin again without it")
    name: str = orjson.loads(lines[0])["id"]
    return name
