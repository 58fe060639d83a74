"""Find a published board's rows: its own, those of an equal board, or none any more.

A snapshot whose board equals the one before it is kept without rows; those of the other are its
rows too.
"""

from agon.entities.contests import Contest, Snapshot
from agon.errors import Unavailable
from agon.store.session import Session

_LOOKED_THROUGH = 64
"""So many stored snapshots are looked through; others of the same rows are rebuilt."""


class NotStored(Unavailable):
    """Say that a snapshot's rows are kept no longer; they can be rebuilt from the ledger.

    Attributes:
        contest: the contest's id.
        board: the board.
        seq: the position to rebuild it at (:func:`agon.app.contests.boards.publication.rebuild`).
    """

    def __init__(self, contest: Contest, snapshot: Snapshot) -> None:
        self.contest = contest.id
        self.board = snapshot.board
        self.seq = snapshot.seq
        super().__init__(
            f"the rows of {contest.id}/{snapshot.board} at {snapshot.seq} are kept no longer; "
            "have them rebuilt (a job of kind rebuild) and ask again"
        )


def holder_of(session: Session, snapshot: Snapshot) -> Snapshot | None:
    """Return the snapshot under whose number a snapshot's rows are stored; None for nowhere."""
    if snapshot.stored:
        return snapshot
    near = session.snapshots.page(
        snapshot.contest_no,
        board=snapshot.board,
        until=snapshot.seq,
        stored_only=True,
        limit=_LOOKED_THROUGH,
    )
    return next((one for one in near if one.board_sha256 == snapshot.board_sha256), None)


def expect_holder(session: Session, contest: Contest, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot under whose number a snapshot's rows are stored.

    Raises:
        NotStored: they are not stored any more.
    """
    found = holder_of(session, snapshot)
    if found is None:
        raise NotStored(contest, snapshot)
    return found
