"""Forget rows of old snapshots; their proofs stay, and the rows can be rebuilt from the ledger."""

from collections.abc import Iterable, Iterator

from agon.app.service import Service
from agon.entities.contests import Contest, Snapshot
from agon.store.session import Session

_MOST_STORED = 100_000


def prune(service: Service, session: Session, contest: Contest, kept: Snapshot) -> int:
    """Forget rows of a board's snapshots but those wanted; returns of how many.

    Kept are the newest ones (setting ``snapshots_kept``; those brought back last as well), as many
    up to a freeze or the end, and the last of each day of the ledger's time.

    Args:
        service: the house.
        session: a writing session.
        contest: the contest.
        kept: the snapshot that was just stored.
    """
    most = service.snapshots_kept
    stored = session.snapshots.page(
        contest.no, board=kept.board, stored_only=True, limit=_MOST_STORED
    )
    if not kept.stored or len(stored) <= most:
        return 0
    by_position = sorted(stored, key=lambda one: (one.seq, one.no), reverse=True)
    wanted = {one.no for one in (*stored[:most], *by_position[:most])}
    wanted |= {one.no for one in _last_of_each_day(by_position)}
    for position in (contest.frozen_at, contest.finalized_at):
        if position is not None:
            # Those the public sees go by themselves: what is forgotten of them must not tell how
            # often boards were published that it does not see.
            wanted |= {one.no for one in [one for one in by_position if one.seq <= position][:most]}
    return session.snapshots.prune(contest.no, kept.board, keep=sorted(wanted))


def _last_of_each_day(by_position: Iterable[Snapshot]) -> Iterator[Snapshot]:
    days = set()
    for one in by_position:
        if one.at.date() not in days:
            days.add(one.at.date())
            yield one
