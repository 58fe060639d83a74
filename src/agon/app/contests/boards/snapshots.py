"""Keep a scored board: its snapshot, the steps it adds to histories, the events that tell of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from agon.app.analysis.compare import Difference
from agon.app.contests.boards.changes import Places, steps
from agon.app.contests.boards.retention import prune
from agon.app.contests.boards.stored_rows import rows_snapshot_of
from agon.app.replay.replica import LiveContest
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.entities.contests import Contest, Event, HistoryStep, Snapshot
from agon.kernel.boards import Board
from agon.ledger.manifest import Manifest
from agon.store.session import Session

_TOLD_AT_ONCE = 500
"""So many people who moved are told of in one event."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Hold the change set that made a board differ from the one before it.

    Attributes:
        undone: whether it was rolled back (else it was applied).
        difference: what it moved on this board.
    """

    change: str
    kind: str
    reason: str
    undone: bool
    difference: Difference


@dataclass(frozen=True, kw_only=True)
class Made:
    """Hold a scored board with all that is stored of it.

    Attributes:
        lines, unscored: its rows and unscored ids as JSON.
        at: the ledger's time at the manifest's position.
        cause: the change set that alone made the difference, if one did.
    """

    board: Board
    lines: list[bytes]
    unscored: list[bytes]
    manifest: Manifest
    at: datetime
    cause: Cause | None = None


def keep(service: Service, contest: Contest, live: LiveContest, made: Made) -> Snapshot:
    """Store a board in one transaction, unless what would be stored is there already.

    Steps are found before the transaction begins, against the snapshot before this one; where
    another publisher has put one in between meanwhile, they are found anew.
    """
    signature = service.signer.sign(made.manifest.to_dict())
    while True:
        with service.store.read() as session:
            before = _before(session, contest, made)
            if before is not None and _says_the_same(session, before, made):
                return before
            places = _stored_places(session, before)
        if before is not None and places is None:
            places = Places.of(live.result(at=before.seq).board(before.board))
        found = _steps(before, places, made)
        with service.store.write() as session:
            session.contests.lock(contest.id)
            newest = _before(session, contest, made)
            if (newest and newest.no) == (before and before.no):
                kept = _stored(service, session, contest, made, before, found, signature)
                prune(service, session, contest, kept)
                return kept


def _before(session: Session, contest: Contest, made: Made) -> Snapshot | None:
    return session.snapshots.latest(contest.no, made.board.name, until=made.manifest.seq)


def _says_the_same(session: Session, one: Snapshot, made: Made) -> bool:
    """Say whether a snapshot is what would be stored, its rows included."""
    same = dict(one.manifest) == made.manifest.to_dict()
    return same and rows_snapshot_of(session, one) is not None


def _stored_places(session: Session, snapshot: Snapshot | None) -> Places | None:
    """Return the places of a snapshot whose rows are stored, None where they are not."""
    holder = None if snapshot is None else rows_snapshot_of(session, snapshot)
    if holder is None:
        return None
    lines = session.snapshots.lines(holder.no, start=0, count=holder.rows)
    unscored = session.snapshots.lines(holder.no, start=0, count=holder.unscored, unscored=True)
    return Places.read(lines, unscored)


def _steps(before: Snapshot | None, places: Places | None, made: Made) -> list[HistoryStep]:
    if before is not None and before.board_sha256 == made.manifest.board_sha256:
        return []
    seq, after = made.manifest.seq, Places.of(made.board)
    return list(steps(places or Places(), after, seq=seq, at=made.at))


def _stored(
    service: Service,
    session: Session,
    contest: Contest,
    made: Made,
    before: Snapshot | None,
    found: Sequence[HistoryStep],
    signature: str,
) -> Snapshot:
    manifest, name = made.manifest, made.board.name
    equal = before is not None and before.board_sha256 == manifest.board_sha256
    has_rows = equal and before is not None and rows_snapshot_of(session, before) is not None
    newest = session.snapshots.latest(contest.no, name)
    snapshot = Snapshot(
        no=0,
        contest_no=contest.no,
        board=name,
        seq=manifest.seq,
        at=made.at,
        published_at=service.clock(),
        manifest=manifest.to_dict(),
        signature=signature,
        board_sha256=manifest.board_sha256,
        rows=manifest.rows,
        unscored=manifest.unscored,
        stored=not has_rows,
    )
    kept = session.snapshots.add(
        snapshot,
        lines=() if has_rows else made.lines,
        ids=() if has_rows else made.board.table["id"].to_pylist(),
        unscored=() if has_rows else made.unscored,
    )
    # A board of an earlier position is brought back, and nothing new is told by it.
    if not equal and (newest is None or newest.seq <= manifest.seq):
        session.histories.add(contest.no, name, found)
        for kind, body in _told(kept, made):
            event = Event(
                no=0, contest_no=contest.no, seq=kept.seq, at=made.at, kind=kind, body=body
            )
            announce(service, session, event)
    return kept


def _told(kept: Snapshot, made: Made) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what is told of a new board: that it is there, and whom a change set moved."""
    manifest = made.manifest
    yield (
        "snapshot-published",
        {
            "snapshot": kept.no,
            "board": kept.board,
            "seq": kept.seq,
            "edition": manifest.edition,
            "board_sha256": kept.board_sha256,
            "rows": kept.rows,
            "unscored": kept.unscored,
        },
    )
    if made.cause is None:
        return
    told = {
        "board": kept.board,
        "change": made.cause.change,
        "kind": made.cause.kind,
        "reason": made.cause.reason,
        "rolled_back": made.cause.undone,
    }
    for moved in _portions(_moved(made.cause.difference)):
        yield "standing-moved", {**told, "moved": moved}


def _moved(difference: Difference) -> Iterator[dict[str, Any]]:
    """Yield where everybody who moved was and is; None for not on the board."""
    for move in difference.moves:
        yield {
            "id": move.id,
            "from": {"rank": move.rank_before, "score": move.score_before},
            "to": {"rank": move.rank_after, "score": move.score_after},
        }
    for one in difference.dropped:
        gone = {"rank": None, "score": None, "reason": one.reason}
        yield {"id": one.id, "from": {"rank": one.rank, "score": one.score}, "to": gone}
    for one in difference.entered:
        was = {"rank": None, "score": None, "reason": one.reason}
        yield {"id": one.id, "from": was, "to": {"rank": one.rank, "score": one.score}}


def _portions(moved: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rest = iter(moved)
    while part := list(islice(rest, _TOLD_AT_ONCE)):
        yield part
