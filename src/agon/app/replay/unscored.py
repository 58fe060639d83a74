"""Give the reason for each participant of a board that cannot be scored."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.app.analysis.score import Result
from agon.errors import NotScorable
from agon.kernel.boards import Board, UnscoredRow, id_order
from agon.kernel.explanations import Explanation


@dataclass(frozen=True)
class UnscorableRecords:
    """Records that cannot be scored: every board and explanation raises the reason."""

    reason: NotScorable

    def board(self, name: str) -> Board:  # noqa: ARG002 - the signature of Scored
        """Raise the reason."""
        raise self.reason

    def explain(self, name: str, *, board: str) -> Explanation:  # noqa: ARG002 - as above
        """Raise the reason."""
        raise self.reason


@dataclass(frozen=True)
class BoardOrReason:
    """A board, and why it cannot be scored.

    Attributes:
        board: the board; where it cannot be scored, one with every participant unscored for the
            reason, or None where there is no participant.
        reason: why it cannot be scored; None if it can.
    """

    board: Board | None
    reason: str | None = None


def board_of(result: Result, name: str) -> BoardOrReason:
    """Return a board, or one without rows that gives every participant the reason.

    Participants are the ids that the board ranks (``BoardTraits.ids``).

    Raises:
        NotFound: there is no such board.
    """
    try:
        return BoardOrReason(result.board(name))
    except NotScorable as error:
        reason, ids = str(error), _ids(result, name)
    if not ids:
        return BoardOrReason(None, reason)
    empty = pa.table(
        {
            "rank": pa.array([], pa.int64()),
            "id": pa.array([], pa.string()),
            "score": pa.array([], pa.float64()),
        }
    )
    return BoardOrReason(Board(name, empty, tuple(UnscoredRow(id_, reason) for id_ in ids)), reason)


def board_or_reasons(result: Result, name: str) -> Board:
    """Return a board as :func:`board_of` does.

    Raises:
        NotFound: there is no such board.
        NotScorable: it cannot be scored, and there is no participant.
    """
    made = board_of(result, name)
    if made.board is None:
        raise NotScorable(made.reason or "")
    return made.board


def explanation_or_reason(result: Result, name: str, *, board: str) -> Explanation:
    """Return the explanation of a score; where the board cannot be scored, with that reason.

    Raises:
        NotFound: there is no such id or board.
        NotScorable: the board cannot be scored and has no participant.
    """
    try:
        return result.explain(name, board=board)
    except NotScorable as error:
        unscored = board_or_reasons(result, board).unscored
        if not any(item.id == name for item in unscored):
            raise
        return Explanation(board, name, None, None, (), reason=str(error))


def _ids(result: Result, board: str) -> list[str]:
    """Return the ids a board ranks, in id order."""
    column = result.discipline.traits.ids.get(board)
    if column is None:
        return []
    table, _, name = column.partition(".")
    if not result.records.has(table):
        return []
    ids = pc.unique(pc.cast(result.records.arrow(table, [name])[name], pa.string()))
    order = pa.array(np.asarray(id_order(ids)))
    return [str(name) for name in ids.take(order).to_pylist()]
