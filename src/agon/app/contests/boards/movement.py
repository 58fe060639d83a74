"""The ranks that the participants of a page had on the board before."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import MAX_ROWS, PublishedBoard, find_board
from agon.app.contests.boards.stored_rows import rows_snapshot_of
from agon.app.service import Service
from agon.entities.contests import ROWS_PER_CHUNK, Snapshot
from agon.errors import Unreadable
from agon.store.session import Session

_GAP = 4 * ROWS_PER_CHUNK
"""Rows at most this far apart are read together."""


@dataclass(frozen=True, kw_only=True)
class Movement:
    """Rows of a board with the ranks that they had before.

    Attributes:
        board: the board.
        since: the board before; None: there is none, or its rows are not stored.
        ranks: of each id on the requested rows its rank before; None: it was not on the board.
    """

    board: PublishedBoard
    since: Snapshot | None
    ranks: dict[str, int | None]


def movement(
    service: Service,
    view: View,
    board: str | None,
    *,
    as_of: str | None = None,
    start: int = 0,
    limit: int = 50,
) -> Movement:
    """Return the previous ranks of the rows of a page.

    That is the last board of an earlier day (UTC, by the ledger's time); in the first day of a
    contest it is the board that was published before this one.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        start: index of the first row, from 0.
        limit: maximum number of rows, 1 to 1000.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    if start < 0 or not 1 <= limit <= MAX_ROWS:
        raise Unreadable(f"give a start from 0, and a limit of 1 to {MAX_ROWS}")
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of)
        since = _before(session, published.snapshot)
        rows_before = None if since is None else rows_snapshot_of(session, since)
        if rows_before is None:
            return Movement(board=published, since=None, ranks={})
        lines = session.snapshots.lines(published.rows_snapshot.no, start=start, count=limit)
        names = [str(orjson.loads(line)["id"]) for line in lines]
        ranks = _ranks(session, rows_before, names)
    return Movement(board=published, since=since, ranks={name: ranks.get(name) for name in names})


def _before(session: Session, snapshot: Snapshot) -> Snapshot | None:
    """Return the last snapshot of an earlier day, else the one before."""
    latest, contest, board = session.snapshots.latest, snapshot.contest_no, snapshot.board
    end = _ENDS_OF_DAYS.before(session, snapshot)
    return latest(contest, board, until=end) or latest(contest, board, until=snapshot.seq - 1)


class _EndsOfDays:
    """The positions at which the days before published boards ended.

    A ledger's head determines all entries up to it, so that a position is computed once for each.
    """

    def __init__(self, size: int = 1024) -> None:
        self._size = size
        self._positions: dict[tuple[str, int, datetime], int] = {}

    def before(self, session: Session, snapshot: Snapshot) -> int:
        """Return the position of the last entry of a day before the snapshot's."""
        key = (snapshot.manifest["head_sha256"], snapshot.seq, snapshot.at)
        position = self._positions.get(key)
        if position is None:
            day = datetime.combine(snapshot.at.astimezone(UTC).date(), time(), UTC)
            position = session.entries.position_at(
                snapshot.contest_no, day - timedelta(microseconds=1), until=snapshot.seq
            )
            if len(self._positions) >= self._size:
                self._positions.clear()
            self._positions[key] = position
        return position


_ENDS_OF_DAYS: Final = _EndsOfDays()


def _ranks(session: Session, rows: Snapshot, names: list[str]) -> dict[str, int]:
    """Return the ranks of those of some ids that a stored board has."""
    indexes = sorted(session.snapshots.row_indexes(rows.no, names).values()) if names else []
    ranks: dict[str, int] = {}
    while indexes:
        # One read for ids that stand close together, instead of one for each.
        near = [index for index in indexes if index < indexes[0] + _GAP]
        indexes = indexes[len(near) :]
        lines = session.snapshots.lines(rows.no, start=near[0], count=near[-1] - near[0] + 1)
        for index in near:
            row = orjson.loads(lines[index - near[0]])
            ranks[str(row["id"])] = row["rank"]
    return ranks
