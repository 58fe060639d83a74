"""Store scored boards: snapshots, the steps they add to histories, and their events."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from agon.app.contests.boards.rank_changes import (
    MAX_MOVES_PER_EVENT,
    RankChanges,
    causes_between,
    rank_moves,
)
from agon.app.contests.boards.steps import Ranking, steps
from agon.app.contests.boards.stored_rows import rows_snapshot_of
from agon.app.contests.boards.summary import summarize
from agon.app.replay.replica import ContestReplica
from agon.app.replay.unscored import board_or_reasons
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.entities.contests import BoardSummary, Contest, Event, HistoryStep, Snapshot
from agon.kernel.boards import Board
from agon.ledger.manifest import Manifest
from agon.store.session import Session


@dataclass(frozen=True, kw_only=True)
class SnapshotDraft:
    """A scored board with all that is stored of it.

    Attributes:
        lines: its rows as JSON, best first.
        unscored: the ids without a score as JSON.
        at: the ledger's time at the manifest's position.
    """

    board: Board
    lines: list[bytes]
    unscored: list[bytes]
    manifest: Manifest
    at: datetime

    @cached_property
    def summary(self) -> BoardSummary:
        """What is counted of the board; only of a board whose rows are stored."""
        return summarize(self.board.table)


@dataclass(frozen=True, kw_only=True)
class _Update:
    """A draft compared with the snapshot before it.

    Attributes:
        before: the newest snapshot of the board at or before the draft's position.
        is_stored: whether ``before`` is exactly what would be stored.
        steps: the steps the draft adds to histories.
        changes: whose rank differs, and why; None: the board is equal, or is stored.
    """

    draft: SnapshotDraft
    before: Snapshot | None
    is_stored: bool
    steps: Sequence[HistoryStep]
    changes: RankChanges | None

    @property
    def is_equal(self) -> bool:
        """Whether the board has the same rows as the one before it."""
        sha256 = self.draft.manifest.board_sha256
        return self.before is not None and self.before.board_sha256 == sha256


@dataclass(frozen=True, kw_only=True)
class _Base:
    """What the database has of a board before a draft.

    Attributes:
        unchanged: the draft and the snapshot before it, without a comparison of their rows.
        differs: whether their rows differ.
        ranking: that of the snapshot; None: there is none, its rows are not stored or are equal.
    """

    unchanged: _Update
    differs: bool
    ranking: Ranking | None


def store_boards(
    service: Service, contest: Contest, replica: ContestReplica, drafts: Sequence[SnapshotDraft]
) -> list[Snapshot]:
    """Store boards in one transaction, except those that are stored already.

    Steps are computed before the transaction begins, from the snapshots before. If another
    publisher stores one meanwhile, they are computed again.

    Returns:
        The snapshots, in the order of the drafts.
    """
    signatures = [service.signer.sign(draft.manifest.to_dict()) for draft in drafts]
    while True:
        updates = _updates(service, contest, replica, drafts)
        for update in updates:
            if not (update.is_stored or update.is_equal):
                _ = update.draft.summary  # before others wait for the transaction
        if all(update.is_stored for update in updates):
            return [update.before for update in updates if update.before is not None]
        with service.store.write() as session:
            session.contests.lock(contest.id)
            newest = [_newest(session, contest, update.draft) for update in updates]
            if all(
                _number(before) == _number(update.before)
                for (_, before), update in zip(newest, updates, strict=True)
            ):
                return [
                    _store(service, session, contest, update, last, signature)
                    for update, (last, _), signature in zip(
                        updates, newest, signatures, strict=True
                    )
                ]


def _updates(
    service: Service, contest: Contest, replica: ContestReplica, drafts: Sequence[SnapshotDraft]
) -> list[_Update]:
    """Compare drafts with the snapshots before them."""
    with service.store.read() as session:
        bases = [_read_base(session, contest, draft) for draft in drafts]
        # Boards of one publication mostly have the same position before: its causes are read once.
        spans = {_span(each) for each in bases if each.differs}
        causes = {
            span: causes_between(session, contest, after=span[0], until=span[1]) for span in spans
        }
    return [
        _update(replica, each, causes[_span(each)]) if each.differs else each.unchanged
        for each in bases
    ]


def _read_base(session: Session, contest: Contest, draft: SnapshotDraft) -> _Base:
    """Read what the database has of a board before a draft."""
    _, before = _newest(session, contest, draft)
    is_stored = before is not None and _is_stored(session, before, draft)
    update = _Update(draft=draft, before=before, is_stored=is_stored, steps=(), changes=None)
    differs = not (is_stored or update.is_equal)
    ranking = _stored_ranking(session, before) if before is not None and differs else None
    return _Base(unchanged=update, differs=differs, ranking=ranking)


def _span(base: _Base) -> tuple[int, int]:
    """Return the position of the board before, 0 if there is none, and of the draft."""
    update = base.unchanged
    return 0 if update.before is None else update.before.seq, update.draft.manifest.seq


def _update(replica: ContestReplica, base: _Base, causes: Sequence[Mapping[str, Any]]) -> _Update:
    """Compare a draft with the board before, which has other rows.

    Args:
        replica: replays the board before if its rows are not stored.
        base: what the database has of it.
        causes: what was entered since.
    """
    update, ranking = base.unchanged, base.ranking
    draft, before = update.draft, update.before
    if before is not None and ranking is None:
        ranking = Ranking.of(board_or_reasons(replica.result(at=before.seq), before.board))
    old, new = ranking or Ranking(), Ranking.of(draft.board)
    after, seq = _span(base)
    # A change set notifies everyone whom it moves; of other publications the best ranks are listed.
    is_change = any("change" in cause for cause in causes)
    moves, total = rank_moves(old, new, limit=None if is_change else MAX_MOVES_PER_EVENT)
    return replace(
        update,
        steps=list(steps(old, new, seq=seq, at=draft.at)),
        changes=RankChanges(after=after, moves=moves, total=total, causes=tuple(causes)),
    )


def _newest(
    session: Session, contest: Contest, draft: SnapshotDraft
) -> tuple[Snapshot | None, Snapshot | None]:
    """Return the newest snapshot of a board, and the newest at or before a draft's position."""
    name, seq = draft.board.name, draft.manifest.seq
    newest = session.snapshots.latest(contest.no, name)
    if newest is None or newest.seq <= seq:
        return newest, newest
    return newest, session.snapshots.latest(contest.no, name, until=seq)


def _number(snapshot: Snapshot | None) -> int | None:
    return None if snapshot is None else snapshot.no


def _is_stored(session: Session, snapshot: Snapshot, draft: SnapshotDraft) -> bool:
    """Return whether a snapshot is what would be stored, including its rows."""
    is_equal = dict(snapshot.manifest) == draft.manifest.to_dict()
    return is_equal and rows_snapshot_of(session, snapshot) is not None


def _stored_ranking(session: Session, snapshot: Snapshot) -> Ranking | None:
    """Return the ranking of a snapshot whose rows are stored, None if they are not."""
    rows_snapshot = rows_snapshot_of(session, snapshot)
    if rows_snapshot is None:
        return None
    lines = session.snapshots.lines(rows_snapshot.no, start=0, count=rows_snapshot.rows)
    unscored = session.snapshots.lines(
        rows_snapshot.no, start=0, count=rows_snapshot.unscored, unscored=True
    )
    return Ranking.from_lines(lines, unscored)


def _store(
    service: Service,
    session: Session,
    contest: Contest,
    update: _Update,
    newest: Snapshot | None,
    signature: str,
) -> Snapshot:
    """Store one board; ``newest`` is the newest snapshot of it."""
    draft, before = update.draft, update.before
    if update.is_stored and before is not None:
        return before
    manifest = draft.manifest
    has_rows = (
        update.is_equal and before is not None and rows_snapshot_of(session, before) is not None
    )
    snapshot = session.snapshots.add(
        Snapshot(
            no=0,
            contest_no=contest.no,
            board=draft.board.name,
            seq=manifest.seq,
            at=draft.at,
            published_at=service.clock(),
            manifest=manifest.to_dict(),
            signature=signature,
            board_sha256=manifest.board_sha256,
            rows=manifest.rows,
            unscored=manifest.unscored,
            stored=not has_rows,
            notes=draft.board.notes,
        ),
        lines=() if has_rows else draft.lines,
        ids=() if has_rows else draft.board.table["id"].to_pylist(),
        unscored=() if has_rows else draft.unscored,
        summary=BoardSummary() if has_rows else draft.summary,
    )
    # A rebuilt board of an earlier position changes no history and causes no event.
    if not update.is_equal and (newest is None or newest.seq <= manifest.seq):
        session.histories.add(contest.no, draft.board.name, update.steps)
        for kind, body in _events(snapshot, update):
            event = Event(
                no=0, contest_no=contest.no, seq=snapshot.seq, at=draft.at, kind=kind, body=body
            )
            announce(service, session, event)
    prune(service, session, contest, snapshot)
    return snapshot


def _events(snapshot: Snapshot, update: _Update) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield kind and body of a new board's events: that it exists, and whose rank it changes."""
    yield (
        "snapshot-published",
        {
            "snapshot": snapshot.no,
            "board": snapshot.board,
            "seq": snapshot.seq,
            "edition": update.draft.manifest.edition,
            "board_sha256": snapshot.board_sha256,
            "rows": snapshot.rows,
            "unscored": snapshot.unscored,
        },
    )
    if update.changes is not None:
        for body in update.changes.bodies(snapshot.board):
            yield "rank-changed", body


_MAX_STORED: Final = 100_000


def prune(service: Service, session: Session, contest: Contest, newest: Snapshot) -> int:
    """Delete the rows of a board's old snapshots; return of how many.

    Kept are the newest (setting ``snapshots_kept``), including those rebuilt last, as many up to a
    freeze or the final result, and the last of each day of the ledger's time.

    Args:
        service: the service.
        session: a writing session.
        contest: the contest.
        newest: the snapshot that was just stored.
    """
    count = service.snapshots_kept
    stored = session.snapshots.page(
        contest.no, board=newest.board, stored_only=True, limit=_MAX_STORED
    )
    if not newest.stored or len(stored) <= count:
        return 0
    by_position = sorted(stored, key=lambda snapshot: (snapshot.seq, snapshot.no), reverse=True)
    retained = {snapshot.no for snapshot in (*stored[:count], *by_position[:count])}
    retained |= {snapshot.no for snapshot in _last_of_each_day(by_position)}
    for position in (contest.frozen_at, contest.finalized_at):
        if position is not None:
            # Counted separately: which public rows are deleted must not reveal how many snapshots
            # were made that the public does not see.
            visible = [snapshot for snapshot in by_position if snapshot.seq <= position]
            retained |= {snapshot.no for snapshot in visible[:count]}
    return session.snapshots.prune(contest.no, newest.board, keep=sorted(retained))


def _last_of_each_day(by_position: Iterable[Snapshot]) -> Iterator[Snapshot]:
    """Yield the first snapshot of each day in an order from the newest."""
    days = set()
    for snapshot in by_position:
        if snapshot.at.date() not in days:
            days.add(snapshot.at.date())
            yield snapshot
