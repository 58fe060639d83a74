"""Delete the rows of old snapshots; their proofs stay, and rows can be rebuilt from the ledger."""

from collections.abc import Iterable, Iterator
from typing import Final

from agon.app.service import Service
from agon.entities.contests import Contest, Snapshot
from agon.store.session import Session

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
    kept = {snapshot.no for snapshot in (*stored[:count], *by_position[:count])}
    kept |= {snapshot.no for snapshot in _last_of_each_day(by_position)}
    for position in (contest.frozen_at, contest.finalized_at):
        if position is not None:
            # Counted separately: which public rows are deleted must not reveal how many snapshots
            # were made that the public does not see.
            visible = [snapshot for snapshot in by_position if snapshot.seq <= position]
            kept |= {snapshot.no for snapshot in visible[:count]}
    return session.snapshots.prune(contest.no, newest.board, keep=sorted(kept))


def _last_of_each_day(by_position: Iterable[Snapshot]) -> Iterator[Snapshot]:
    """Yield the first snapshot of each day in an order from the newest."""
    days = set()
    for snapshot in by_position:
        if snapshot.at.date() not in days:
            days.add(snapshot.at.date())
            yield snapshot
