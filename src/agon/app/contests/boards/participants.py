"""List who takes part in a contest, and show one of them on every board."""

from dataclasses import dataclass
from typing import Any

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import board_names, find, snapshot_of_cursor
from agon.app.contests.boards.stored_rows import require_rows_snapshot
from agon.app.contests.ledgers.positions import shown, snapshot_at
from agon.app.service import Service
from agon.entities.contests import Snapshot
from agon.errors import NotFound, Unreadable
from agon.store.session import Session

MOST_LISTED = 1000
"""A list has no more people than that."""


@dataclass(frozen=True, kw_only=True)
class Participants:
    """Hold some of those who take part.

    Attributes:
        snapshot: the default board's proof; whoever is on it takes part, scored or not.
        lines: their rows, then the unscored with their reasons, as JSON.
        total: how many there are.
        next: cursor of those behind them; None at the end.
    """

    snapshot: Snapshot
    lines: list[bytes]
    total: int
    next: str | None


def participants(
    service: Service, view: View, *, cursor: str | None = None, limit: int = 50
) -> Participants:
    """List who takes part, in the order of the default board, the unscored last.

    Raises:
        NotFound: nothing was published yet, or the cursor's list is gone.
        NotStored: that list's rows are kept no longer.
        Unreadable: the cursor or the limit cannot be read.
    """
    if not 1 <= limit <= MOST_LISTED:
        raise Unreadable(f"limit is {limit}; give 1 to {MOST_LISTED}")
    with service.store.read() as session:
        at = Cursor(0, 0) if cursor is None else Cursor.read(cursor)
        if cursor is None:
            snapshot = snapshot_at(session, view, None, None)
        else:
            snapshot = snapshot_of_cursor(session, view, None, at)
        holder = require_rows_snapshot(session, view.contest, snapshot)
        lines = session.snapshots.lines(holder.no, start=at.start, count=limit)
        if len(lines) < limit:
            lines += session.snapshots.lines(
                holder.no,
                start=max(0, at.start - holder.rows),
                count=limit - len(lines),
                unscored=True,
            )
    total, end = snapshot.rows + snapshot.unscored, at.start + len(lines)
    more = str(Cursor(snapshot.no, end)) if end < total else None
    return Participants(snapshot=snapshot, lines=lines, total=total, next=more)


def participant(service: Service, view: View, name: str) -> dict[str, Any]:
    """Show somebody on every board of a contest as the caller sees it.

    Returns:
        ``id``, ``contest`` and ``boards``: for each board they are on ``board``, ``seq``,
        ``board_sha256``, ``place`` (from 0) and the ``row``, or the ``reason`` for having none.

    Raises:
        NotFound: they are on no board.
        NotStored: a board's rows are kept no longer.
    """
    found = []
    with service.store.read() as session:
        for board in board_names(session, view):
            until = shown(view)
            snapshot = session.snapshots.latest(view.contest.no, board, until=until)
            if snapshot is not None:
                found += _on(session, view, snapshot, name)
    if not found:
        raise NotFound(f"nobody of the id {name!r} is on a board of {view.contest.id}; look there")
    return {"id": name, "contest": view.contest.id, "boards": found}


def _on(session: Session, view: View, snapshot: Snapshot, name: str) -> list[dict[str, Any]]:
    """Return what a board says of somebody, in a list of one; nothing where it says nothing."""
    holder = require_rows_snapshot(session, view.contest, snapshot)
    told: dict[str, Any] = {
        "board": snapshot.board,
        "seq": snapshot.seq,
        "board_sha256": snapshot.board_sha256,
    }
    try:
        index, line = find(session, holder, name)
    except NotFound:
        return []
    value = orjson.loads(line)
    if index < holder.rows:
        return [{**told, "place": index, "row": value}]
    return [{**told, "reason": value["reason"]}]
