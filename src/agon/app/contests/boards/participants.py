"""List the participants of a contest, and show one of them on every board."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.families import board_names
from agon.app.contests.boards.pages import find, snapshot_of_cursor
from agon.app.contests.boards.stored_rows import ids_of, require_rows_snapshot, shown_names
from agon.app.contests.ledgers.positions import last_readable_seq, snapshot_at
from agon.app.service import Service
from agon.entities.contests import Snapshot
from agon.errors import NotFound, Unreadable
from agon.store.session import Session

MAX_LISTED = 1000


@dataclass(frozen=True, kw_only=True)
class Participants:
    """Some participants of a contest.

    Attributes:
        snapshot: the default board's proof; every id on it participates, scored or not.
        lines: their rows, then the unscored with their reasons, as JSON.
        total: number of all participants.
        next: cursor of those after them; None at the end.
        names: the names that are shown, by id.
    """

    snapshot: Snapshot
    lines: list[bytes]
    total: int
    next: str | None
    names: Mapping[str, str]


def participants(
    service: Service, view: View, *, cursor: str | None = None, limit: int = 50
) -> Participants:
    """Return participants in the order of the default board, the unscored last.

    Raises:
        NotFound: nothing was published yet, or the cursor's snapshot is gone.
        NotStored: the rows of that snapshot are no longer stored.
        Unreadable: the cursor or the limit cannot be read.
    """
    if not 1 <= limit <= MAX_LISTED:
        raise Unreadable(f"limit is {limit}; give 1 to {MAX_LISTED}")
    with service.store.read() as session:
        start = Cursor.read(cursor) if cursor else Cursor(0, 0)
        if not cursor:
            snapshot = snapshot_at(session, view, None, None)
        else:
            snapshot = snapshot_of_cursor(session, view, None, start)
        rows_snapshot = require_rows_snapshot(session, view.contest, snapshot)
        lines = session.snapshots.lines(rows_snapshot.no, start=start.start, count=limit)
        if len(lines) < limit:
            lines += session.snapshots.lines(
                rows_snapshot.no,
                start=max(0, start.start - rows_snapshot.rows),
                count=limit - len(lines),
                unscored=True,
            )
        names = shown_names(session, view.contest, ids_of(lines), at=snapshot.seq) or {}
    total, end = snapshot.rows + snapshot.unscored, start.start + len(lines)
    more = str(Cursor(snapshot.no, end)) if end < total else None
    return Participants(snapshot=snapshot, lines=lines, total=total, next=more, names=names)


def participant(service: Service, view: View, name: str) -> dict[str, Any]:
    """Return a participant on every board of a contest as the caller sees it.

    Returns:
        ``id``, ``contest``, ``name`` (None: none is shown) and ``boards``: for each board with that
        id ``board``, ``seq``, ``board_sha256``, ``place`` (from 0) and the ``row``, or the
        ``reason`` for having none.

    Raises:
        NotFound: the id is on no board.
        NotStored: a board's rows are no longer stored.
    """
    lines = []
    with service.store.read() as session:
        for board in board_names(session, view):
            until = last_readable_seq(view)
            snapshot = session.snapshots.latest(view.contest.no, board, until=until)
            if snapshot is not None:
                lines += _on(session, view, snapshot, name)
        newest = max((line["seq"] for line in lines), default=0)
        names = shown_names(session, view.contest, [name], at=newest) or {}
    if not lines:
        raise NotFound(
            f"there is no {name!r} on any board of {view.contest.id}; use an id of a board"
        )
    fields = {"id": name, "contest": view.contest.id, "name": names.get(name)}
    return {**fields, "boards": lines}


def _on(session: Session, view: View, snapshot: Snapshot, name: str) -> list[dict[str, Any]]:
    """Return a list of what a board has on a participant; empty if the id is not on it."""
    rows_snapshot = require_rows_snapshot(session, view.contest, snapshot)
    fields: dict[str, Any] = {
        "board": snapshot.board,
        "seq": snapshot.seq,
        "board_sha256": snapshot.board_sha256,
    }
    try:
        index, line = find(session, rows_snapshot, name)
    except NotFound:
        return []
    value = orjson.loads(line)
    if index < rows_snapshot.rows:
        return [{**fields, "index": index, "row": value}]
    return [{**fields, "reason": value["reason"]}]
