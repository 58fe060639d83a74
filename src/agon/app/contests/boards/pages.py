"""Read published boards: pages, and the row of one participant with its neighbors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.families import board_names
from agon.app.contests.boards.stored_rows import (
    NotStored,
    ids_of,
    require_rows_snapshot,
    shown_names,
)
from agon.app.contests.clock import amended_board, amendment_of
from agon.app.contests.ledgers.positions import (
    last_readable_seq,
    require_storable_name,
    resolve_as_of,
    snapshot_at,
    visible_board,
)
from agon.app.service import Service
from agon.entities.contests import Amendment, Contest, Snapshot
from agon.errors import NotFound, Unreadable
from agon.kernel.fingerprints import canonical_json
from agon.store.session import Session

MAX_ROWS = 1000

LINES_PER_READ = 4096
"""Number of lines that are read at a time when a complete board is read."""


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """Which rows of a board are wanted.

    Attributes:
        as_of: a position of the ledger in digits or a time; None: the newest the caller may see.
        cursor: where an earlier page said the next one begins; it stays with that page's snapshot.
        id: a participant whose row is wanted, with others around it.
        neighbors: how many rows above and below that row; None: ``limit`` rows, it in the middle.
        limit: maximum number of rows, 1 to :data:`MAX_ROWS`.
        unscored: the participants without a score instead of the rows.

    Raises:
        Unreadable: the limit or the number of neighbors is out of its range.
    """

    as_of: str | None = None
    cursor: Cursor | None = None
    id: str | None = None
    neighbors: int | None = None
    limit: int = 50
    unscored: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_ROWS:
            raise Unreadable(f"limit is {self.limit}; give 1 to {MAX_ROWS}")
        if not 0 <= (self.neighbors or 0) <= MAX_ROWS // 2:
            raise Unreadable(f"neighbors is {self.neighbors}; give 0 to {MAX_ROWS // 2}")

    def window(self, index: int | None) -> tuple[int, int]:
        """Return the index of the first row, and the maximum number of rows.

        Args:
            index: the index of the row of ``id``; None without one.

        Example:
            >>> PageRequest(limit=10).window(None), PageRequest(id="ada", limit=10).window(7)
            ((0, 10), (2, 10))
            >>> PageRequest(id="ada", neighbors=2).window(1)
            (0, 4)
        """
        if index is not None and self.neighbors is not None:
            start = max(0, index - self.neighbors)
            return start, index - start + self.neighbors + 1
        if index is not None:
            return max(0, index - self.limit // 2), self.limit
        if self.cursor is not None:
            return self.cursor.start, self.cursor.limit(self.limit)
        return 0, self.limit


@dataclass(frozen=True, kw_only=True)
class BoardRows:
    """Some rows of a published board.

    Attributes:
        snapshot: the board's proof.
        lines: the rows (or unscored ids) as JSON, best first.
        start: index of the first, from 0.
        next, previous: cursors of the pages after and before this one; None where there is none.
        index: index of the row of the requested id, if one was requested.
        matching: of rows in the order of a column, the number of those in the range of values;
            None: the rows are in the order of the board.
        amended_by: of a final result that is not in force any more, the snapshot to which it was
            amended.
        amendment: the last correction of the contest's final result; None: none.
        names: the names of those of its participants that have one, by id; None: the contest hides
            names.
    """

    snapshot: Snapshot
    lines: list[bytes]
    start: int
    next: str | None
    previous: str | None
    index: int | None = None
    matching: int | None = None
    amended_by: Snapshot | None = None
    amendment: Amendment | None = None
    names: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedBoard:
    """The state of a board that a caller sees, without its rows.

    It is valid as long as nothing is stored; its rows never change, they are only deleted.

    Attributes:
        contest: the contest.
        snapshot: the board's proof.
        rows_snapshot: the snapshot under whose number the rows are stored.
        amended_by, amendment: as of :class:`BoardRows`.
        has_names: whether the contest shows names, and any participant has one, or had one.
    """

    contest: Contest
    snapshot: Snapshot
    rows_snapshot: Snapshot
    amended_by: Snapshot | None
    amendment: Amendment | None
    has_names: bool


def boards(service: Service, view: View) -> list[Snapshot]:
    """Return what a caller sees of every published board, the default board first.

    Of a family (``problem:<id>``) all published boards are listed, by name.
    """
    with service.store.read() as session:
        until = resolve_as_of(session, view, None)
        newest = [
            session.snapshots.latest(view.contest.no, name, until=until)
            for name in board_names(session, view)
        ]
    return [snapshot for snapshot in newest if snapshot is not None]


def page(
    service: Service,
    view: View,
    board: str | None = None,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    around: str | None = None,
    limit: int = 50,
    unscored: bool = False,
) -> BoardRows:
    """Return a page of a board.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        as_of: as of :class:`PageRequest`.
        cursor: as a page gave it; it stays with that page's snapshot.
        around: an id to have in the middle.
        limit: maximum number of rows, 1 to :data:`MAX_ROWS`.
        unscored: the participants without a score instead of the rows.

    Raises:
        NotFound: there is no such board, snapshot or id, or none the caller may see.
        NotStored: the rows are no longer stored; ``rebuild`` brings them back.
        Unreadable: the cursor, the limit or ``as_of`` cannot be read.
    """
    start = None if cursor is None else Cursor.read(cursor)
    request = PageRequest(as_of=as_of, cursor=start, id=around, limit=limit, unscored=unscored)
    return _page(service, view, board, request)


def row(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    neighbors: int = 0,
    as_of: str | None = None,
) -> BoardRows:
    """Return a participant's row with those above and below; ``BoardRows.index`` is its index.

    Raises:
        NotFound: the board has no row of that id; for an unscored one the reason is given.
        NotStored, Unreadable: as for :func:`page`.
    """
    request = PageRequest(as_of=as_of, id=participant, neighbors=neighbors)
    return _page(service, view, board, request)


def _page(service: Service, view: View, board: str | None, request: PageRequest) -> BoardRows:
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=request.as_of, at=request.cursor)
        read = read_page(session, published, request)
        if read is None:
            raise no_row(session, published, str(request.id))
        return read


def read_page(session: Session, board: PublishedBoard, request: PageRequest) -> BoardRows | None:
    """Return the requested page of a board; None: no row has the requested id (:func:`no_row`).

    Args:
        session: any session: the rows are the same in all, as long as they are stored.
        board: what the caller sees of the board, valid now.
        request: which rows.

    Raises:
        NotStored: not all of the rows are stored any more.
    """
    rows, index = board.rows_snapshot, None
    if request.id is not None:
        require_storable_name(request.id)
        index = session.snapshots.row_indexes(rows.no, [request.id]).get(request.id)
        if index is None:
            return None
    start, limit = request.window(index)
    lines = rows_of(session, board, start, limit, unscored=request.unscored)
    no, end, before = board.snapshot.no, start + len(lines), max(0, start - limit)
    size = rows.unscored if request.unscored else rows.rows
    return BoardRows(
        snapshot=board.snapshot,
        lines=lines,
        start=start,
        next=str(Cursor(no, end)) if end < size else None,
        previous=str(Cursor(no, before, start - before)) if start else None,
        index=index,
        amended_by=board.amended_by,
        amendment=board.amendment,
        names=_names(session, board, lines),
    )


def rows_of(
    session: Session, board: PublishedBoard, start: int, limit: int, *, unscored: bool = False
) -> list[bytes]:
    """Return the lines of a board from an index on, at most ``limit``.

    Raises:
        NotStored: not all of them are stored any more.
    """
    rows = board.rows_snapshot
    count = max(0, min(limit, (rows.unscored if unscored else rows.rows) - start))
    lines = session.snapshots.lines(rows.no, start=start, count=count, unscored=unscored)
    if len(lines) < count:
        raise NotStored(board.contest, board.snapshot)
    return lines


def _names(
    session: Session, board: PublishedBoard, lines: Sequence[bytes]
) -> Mapping[str, str] | None:
    if not board.has_names:
        return {} if board.contest.shows_names else None
    return session.names.of(board.contest.no, ids_of(lines), at=board.snapshot.seq)


def no_row(session: Session, board: PublishedBoard, name: str) -> NotFound:
    """Return the error that a board has no row of an id: of an unscored one with the reason.

    It reads the unscored until the id is found.
    """
    try:
        _, line = _among_unscored(session, board.rows_snapshot, name)
    except NotFound as unknown:
        return unknown
    reason = orjson.loads(line)["reason"]
    return NotFound(f"{name} is unscored on board {board.snapshot.board}: {reason}")


def with_names(session: Session, view: View, page: BoardRows) -> BoardRows:
    """Return a page with the names of its participants, if the contest shows them."""
    names = shown_names(session, view.contest, ids_of(page.lines), at=page.snapshot.seq)
    return replace(page, names=names)


def find_board(
    session: Session,
    view: View,
    board: str | None,
    *,
    as_of: str | None = None,
    at: Cursor | None = None,
) -> PublishedBoard:
    """Return what a caller sees of a board: at a position or time, or where a cursor is.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`page`.
    """
    if at is None:
        snapshot = snapshot_at(session, view, board, as_of)
    else:
        snapshot = snapshot_of_cursor(session, view, board, at)
    return PublishedBoard(
        contest=view.contest,
        snapshot=snapshot,
        rows_snapshot=require_rows_snapshot(session, view.contest, snapshot),
        amended_by=_amended_by(session, view, snapshot),
        amendment=amendment_of(session, view.contest),
        has_names=view.contest.shows_names and session.names.exist(view.contest.no),
    )


def find(session: Session, rows_snapshot: Snapshot, name: str) -> tuple[int, bytes]:
    """Return the index of an id's line among all of a stored board (rows first), and the line.

    Raises:
        NotFound: the board has no line of that id.
    """
    require_storable_name(name)
    index = session.snapshots.row_indexes(rows_snapshot.no, [name]).get(name)
    if index is not None:
        return index, session.snapshots.lines(rows_snapshot.no, start=index, count=1)[0]
    index, line = _among_unscored(session, rows_snapshot, name)
    return rows_snapshot.rows + index, line


def snapshot_of_cursor(session: Session, view: View, board: str | None, at: Cursor) -> Snapshot:
    """Return a cursor's snapshot, if it is of this board and the caller may see it.

    Raises:
        NotFound: it is not, or there is none.
    """
    limit, name = last_readable_seq(view), visible_board(session, view, board)
    try:
        snapshot = session.snapshots.get(at.snapshot)
    except NotFound:
        snapshot = None
    if (
        snapshot is None
        or (snapshot.contest_no, snapshot.board) != (view.contest.no, name)
        or (limit is not None and snapshot.seq > limit)
    ):
        raise NotFound("this page no longer exists; begin again with the first one")
    return snapshot


def _amended_by(session: Session, view: View, snapshot: Snapshot) -> Snapshot | None:
    """Return what a board of a final contest was amended to, if it was after a snapshot."""
    final = view.contest.finalized_at
    if view.contest.state != "final" or final is None or snapshot.seq > final:
        return None
    return amended_board(session, view.contest, snapshot.board)


def _among_unscored(session: Session, rows_snapshot: Snapshot, name: str) -> tuple[int, bytes]:
    """Return the index of an id among those without a score, and its line."""
    prefix = b'{"id":' + canonical_json(name) + b","
    for start in range(0, rows_snapshot.unscored, LINES_PER_READ):
        lines = session.snapshots.lines(
            rows_snapshot.no, start=start, count=LINES_PER_READ, unscored=True
        )
        for index, line in enumerate(lines, start=start):
            if line.startswith(prefix):
                return index, line
    raise NotFound(f"there is no {name!r} on board {rows_snapshot.board}; use an id of the board")
