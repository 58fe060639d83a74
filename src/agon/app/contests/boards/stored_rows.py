"""Find the stored rows of a published board, and read the ids and names of participants on them.

A snapshot whose board equals the one before it is stored without rows; the rows of the other are
its rows too. Old rows are no longer stored.
"""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from agon.entities.contests import Contest, Snapshot
from agon.errors import Unavailable
from agon.store.session import Session

_MAX_SNAPSHOTS_SEARCHED = 64
"""Maximum number of stored snapshots searched for equal rows; older ones are rebuilt instead."""


class NotStored(Unavailable):
    """A snapshot's rows are no longer stored; they can be rebuilt from the ledger.

    Attributes:
        contest: the contest's id.
        board: the board.
        seq: the position to rebuild it at (:func:`agon.app.contests.boards.publish.rebuild`).
    """

    def __init__(self, contest: Contest, snapshot: Snapshot) -> None:
        self.contest = contest.id
        self.board = snapshot.board
        self.seq = snapshot.seq
        super().__init__(
            f"the rows of {contest.id}/{snapshot.board} at {snapshot.seq} are no longer stored; "
            "have them rebuilt (a job of kind rebuild) and try again"
        )


def rows_snapshot_of(session: Session, snapshot: Snapshot) -> Snapshot | None:
    """Return the snapshot under whose number a snapshot's rows are stored, or None."""
    if snapshot.stored:
        return snapshot
    near = session.snapshots.page(
        snapshot.contest_no,
        board=snapshot.board,
        until=snapshot.seq,
        stored_only=True,
        limit=_MAX_SNAPSHOTS_SEARCHED,
    )
    return next(
        (candidate for candidate in near if candidate.board_sha256 == snapshot.board_sha256), None
    )


def require_rows_snapshot(session: Session, contest: Contest, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot under whose number a snapshot's rows are stored.

    Raises:
        NotStored: they are not stored any more.
    """
    stored = rows_snapshot_of(session, snapshot)
    if stored is None:
        raise NotStored(contest, snapshot)
    return stored


def shown_names(
    session: Session, contest: Contest, ids: Sequence[str], *, at: int
) -> Mapping[str, str] | None:
    """Return the names of those participants that have one, by id; None: the contest hides names.

    Args:
        session: the session.
        contest: the contest.
        ids: the participants.
        at: the position of the board that they are on, whose names stay those of that position.
    """
    return session.names.of(contest.no, ids, at=at) if contest.shows_names else None


def ids_of(lines: Iterable[bytes]) -> list[str]:
    """Return the ids of lines of a board.

    Example:
        >>> ids_of([b'{"id":"ada","rank":1,"score":668.0}'])
        ['ada']
    """
    return [orjson.loads(line)["id"] for line in lines]
