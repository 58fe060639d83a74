"""Read published boards: pages, one's own row with neighbours, proofs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.stored_rows import NotStored, expect_holder
from agon.app.contests.ledgers.positions import (
    board_named,
    expect_storable,
    position,
    reach,
    snapshot_at,
)
from agon.app.service import Service
from agon.entities.contests import Contest, Snapshot
from agon.errors import NotFound, Unreadable
from agon.kernel.fingerprints import canonical_json
from agon.ledger.merkle import Tree
from agon.store.session import Session

MOST_ROWS = 1000
"""A page has no more rows than that."""

_PORTION = 4096
_MOST_OF_A_FAMILY = 10_000


@dataclass(frozen=True, kw_only=True)
class Page:
    """Hold some rows of a published board.

    Attributes:
        snapshot: the board's proof.
        lines: the rows (or unscored ids) as JSON, best first.
        start: place of the first, from 0.
        next, previous: cursors of the pages beside this one; None where there is none.
        place: place of the id that was asked for, if one was.
        amended_by: the snapshot a final result was amended to by change sets, if it was.
    """

    snapshot: Snapshot
    lines: list[bytes]
    start: int
    next: str | None
    previous: str | None
    place: int | None = None
    amended_by: Snapshot | None = None


@dataclass(frozen=True, kw_only=True)
class Published:
    """Hold what a caller sees of a published board before any row is read.

    Attributes:
        snapshot: the board's proof.
        holder: the snapshot under whose number its rows are stored.
        amended_by: as of :class:`Page`.
    """

    snapshot: Snapshot
    holder: Snapshot
    amended_by: Snapshot | None

    def page(
        self,
        lines: list[bytes],
        *,
        start: int,
        limit: int,
        place: int | None = None,
        unscored: bool = False,
    ) -> Page:
        """Make the page of the lines found from ``start`` on, where ``limit`` were asked for."""
        size = self.snapshot.unscored if unscored else self.snapshot.rows
        end, before = start + len(lines), max(0, start - limit)
        return Page(
            snapshot=self.snapshot,
            lines=lines,
            start=start,
            next=str(Cursor(self.snapshot.no, end)) if end < size else None,
            previous=str(Cursor(self.snapshot.no, before, start - before)) if start else None,
            place=place,
            amended_by=self.amended_by,
        )


def boards(service: Service, view: View) -> list[Snapshot]:
    """Return what a caller sees of every published board, the default board first.

    Of a family (``problem:<id>``) every board that was published comes, by name.
    """
    with service.store.read() as session:
        found = [
            session.snapshots.latest(view.contest.no, name, until=position(session, view, None))
            for name in board_names(session, view)
        ]
    return [snapshot for snapshot in found if snapshot is not None]


def board_names(session: Session, view: View) -> list[str]:
    """List the boards a contest publishes, the default first; a family by those there are."""
    names: list[str] = []
    for name in view.contest.boards:
        if not name.endswith(">"):
            names.append(name)
            continue
        names += _family(session, view, name.partition(":")[0])
    return names


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
) -> Page:
    """Return a page of a board.

    Args:
        service: the house.
        view: what the caller may see.
        board: the board; None: the default one.
        as_of: a position of the ledger in digits or a time; None: the newest the caller may see,
            of a final contest its final result.
        cursor: as a page gave it; it stays with that page's snapshot.
        around: an id to have in the middle.
        limit: how many rows, 1 to 1000.
        unscored: those without a score instead of the rows.

    Raises:
        NotFound: there is no such board, snapshot or id, or none the caller may see.
        NotStored: the rows are kept no longer; ``rebuild`` brings them back.
        Unreadable: the cursor, the limit or ``as_of`` cannot be read.
    """
    if not 1 <= limit <= MOST_ROWS:
        raise Unreadable(f"limit is {limit}; give 1 to {MOST_ROWS}")
    at = None if cursor is None else Cursor.read(cursor)
    start = 0 if at is None else at.start
    limit = limit if at is None else at.limit(limit)
    with service.store.read() as session:
        found = published(session, view, board, as_of=as_of, at=at)
        place = None
        if around is not None:
            place = _place(session, found.holder, around)
            start = max(0, place - limit // 2)
        lines = session.snapshots.lines(
            found.holder.no, start=start, count=limit, unscored=unscored
        )
    return found.page(lines, start=start, limit=limit, place=place, unscored=unscored)


def row(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    neighbours: int = 0,
    as_of: str | None = None,
) -> Page:
    """Return somebody's row with so many rows above and below it; ``Page.place`` is theirs.

    Raises:
        NotFound: they are not on the board; an unscored one's reason is told.
        NotStored, Unreadable: as for :func:`page`.
    """
    if not 0 <= neighbours <= MOST_ROWS // 2:
        raise Unreadable(f"neighbours is {neighbours}; give 0 to {MOST_ROWS // 2}")
    with service.store.read() as session:
        found = published(session, view, board, as_of=as_of)
        place = _place(session, found.holder, participant)
        start = max(0, place - neighbours)
        limit = place - start + neighbours + 1
        lines = session.snapshots.lines(found.holder.no, start=start, count=limit)
    return found.page(lines, start=start, limit=limit, place=place)


def published(
    session: Session,
    view: View,
    board: str | None,
    *,
    as_of: str | None = None,
    at: Cursor | None = None,
) -> Published:
    """Look up what a caller sees of a board: at a position or time, or where a cursor is.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`page`.
    """
    if at is None:
        snapshot = snapshot_at(session, view, board, as_of)
    else:
        snapshot = of_cursor(session, view, board, at)
    return Published(
        snapshot=snapshot,
        holder=expect_holder(session, view.contest, snapshot),
        amended_by=_amendment(session, view, snapshot),
    )


def proof(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    as_of: str | None = None,
) -> dict[str, Any]:
    """Prove that a published board says what it says of somebody, scored or not.

    The line's hash, with the hashes of ``path``, gives the manifest's ``merkle_root``, and the
    manifest is signed; ``agon replay --proof`` checks it without this house.

    Raises:
        NotFound, NotStored, Unreadable: as for :func:`page`.
    """
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, board, as_of)
        holder = expect_holder(session, view.contest, snapshot)
        index, line = find(session, holder, participant)
    root = holder.manifest["merkle_root"]
    tree = _tree(_Leaves(root, service, view.contest, holder))
    return {
        "manifest": dict(snapshot.manifest),
        "signature": snapshot.signature,
        "public_key": service.signer.public_key,
        "index": index,
        "line": line.decode(),
        "path": [beside.hex() for beside in tree.proof(index)],
    }


@dataclass(frozen=True)
class _Leaves:
    """Hold where a board's lines can be read; equal roots have equal lines."""

    merkle_root: str
    service: Service = field(compare=False, repr=False)
    contest: Contest = field(compare=False, repr=False)
    holder: Snapshot = field(compare=False, repr=False)

    def __iter__(self) -> Iterator[bytes]:
        with self.service.store.read() as session:
            for unscored, count in ((False, self.holder.rows), (True, self.holder.unscored)):
                for start in range(0, count, _PORTION):
                    yield from session.snapshots.lines(
                        self.holder.no, start=start, count=_PORTION, unscored=unscored
                    )


@lru_cache(maxsize=2)
def _tree(leaves: _Leaves) -> Tree:
    """Return a board's tree; proofs are asked for by many of a board at a time."""
    tree = Tree(leaves)
    if tree.root.hex() != leaves.merkle_root:  # the rows were forgotten meanwhile
        raise NotStored(leaves.contest, leaves.holder)
    return tree


def find(session: Session, holder: Snapshot, name: str) -> tuple[int, bytes]:
    """Find somebody on a stored board: the place of their line among all (rows first), and it.

    Raises:
        NotFound: the board says nothing of them.
    """
    expect_storable(name)
    place = session.snapshots.row_indexes(holder.no, [name]).get(name)
    if place is not None:
        return place, session.snapshots.lines(holder.no, start=place, count=1)[0]
    place, line = _among_unscored(session, holder, name)
    return holder.rows + place, line


def of_cursor(session: Session, view: View, board: str | None, at: Cursor) -> Snapshot:
    """Return a cursor's snapshot, if it is of this board and the caller may see it.

    Raises:
        NotFound: it is not, or there is none.
    """
    limit, wanted = reach(view), board_named(view.contest, board)
    try:
        found = session.snapshots.get(at.snapshot)
    except NotFound:
        found = None
    if (
        found is None
        or (found.contest_no, found.board) != (view.contest.no, wanted)
        or (limit is not None and found.seq > limit)
    ):
        raise NotFound("that page is gone; begin again with the first one")
    return found


def _amendment(session: Session, view: View, snapshot: Snapshot) -> Snapshot | None:
    """Return the newest board of a final contest, where it is another than its final result."""
    final = view.contest.finalized_at
    if view.contest.state != "final" or final is None or snapshot.seq > final:
        return None
    newest = session.snapshots.latest(snapshot.contest_no, snapshot.board)
    if newest is None or newest.seq <= final or newest.board_sha256 == snapshot.board_sha256:
        return None
    return newest


def _place(session: Session, holder: Snapshot, name: str) -> int:
    place, line = find(session, holder, name)
    if place < holder.rows:
        return place
    reason = orjson.loads(line)["reason"]
    raise NotFound(f"{name} is unscored on board {holder.board}: {reason}")


def _among_unscored(session: Session, holder: Snapshot, name: str) -> tuple[int, bytes]:
    """Find an id among those without a score: its place there, and its line."""
    begins = b'{"id":' + canonical_json(name) + b","
    for start in range(0, holder.unscored, _PORTION):
        lines = session.snapshots.lines(holder.no, start=start, count=_PORTION, unscored=True)
        for place, line in enumerate(lines, start=start):
            if line.startswith(begins):
                return place, line
    raise NotFound(f"there is no {name!r} on board {holder.board}; look for the id in the board")


def _family(session: Session, view: View, family: str) -> list[str]:
    """List the boards of a family (``problem``: one for each of ``problems``), by name."""
    table, limit = f"{family}s", position(session, view, None)
    found = session.entries.rows(view.contest.no, table, until=limit, limit=_MOST_OF_A_FAMILY)
    ids = {orjson.loads(one.line)["body"]["row"]["id"] for one in found}
    return sorted(f"{family}:{name}" for name in ids)
