"""Apply adjustments (points added or taken by decision) to boards and to explanations.

An adjusted score is the published one plus the points, on the board's grid. The rows are sorted
again, with equal scores in their former order. An adjustment gives no score to an unscored id.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines import ScoredRecords
from agon.kernel.arrays import FloatArray
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part
from agon.kernel.rounding import publish
from agon.ledger.contest_state import Adjustment


@dataclass(frozen=True)
class AdjustedScores:
    """Scored records with the adjustments in force.

    Attributes:
        scored: the scores without adjustments.
        adjustments: the adjustments in ledger order.
        shared: whether equal scores share a rank where the board itself does not show it.
    """

    scored: ScoredRecords
    adjustments: Sequence[Adjustment]
    shared: bool

    def board(self, name: str) -> Board:
        """Return a board with its adjustments applied.

        Raises:
            NotFound: there is no such board.
        """
        mine = [adjustment for adjustment in self.adjustments if adjustment.board == name]
        board = self.scored.board(name)
        return adjust(board, mine, shared=self.shared) if mine else board

    def explain(self, name: str, *, board: str) -> Explanation:
        """Return the explanation of a score with a further part for each adjustment.

        Raises:
            NotFound: the id is not in the records, or there is no such board.
        """
        explanation = self.scored.explain(name, board=board)
        of_id = [
            adjustment
            for adjustment in self.adjustments
            if adjustment.board == board and adjustment.id == name
        ]
        places = explanation.places
        if explanation.score is None:
            reasons = tuple(
                f"{_sentence(adjustment, places)}; no score, no effect" for adjustment in of_id
            )
            return replace(explanation, notes=(*explanation.notes, *reasons))
        if not any(adjustment.board == board for adjustment in self.adjustments):
            return explanation
        row = self.board(board).row(name)
        parts = tuple(_part(adjustment, places) for adjustment in of_id)
        return replace(
            explanation, rank=row["rank"], score=row["score"], parts=(*explanation.parts, *parts)
        )


def adjust(board: Board, adjustments: Sequence[Adjustment], *, shared: bool) -> Board:
    """Return a board with points added to its scores, sorted by the new scores.

    Args:
        board: the board without adjustments.
        adjustments: those of this board; ids that are not on it are ignored.
        shared: whether equal scores share a rank, if no two rows of the board show it.
    """
    table = board.table
    indexes = {name: index for index, name in enumerate(table["id"].to_pylist())}
    scores = table["score"].to_numpy().astype(np.float64)
    applied = [adjustment for adjustment in adjustments if adjustment.id in indexes]
    points = np.zeros(len(scores))
    for adjustment in applied:
        points[indexes[adjustment.id]] += points_of(adjustment, board.places)
    moved = np.where(points == 0, scores, publish(scores + points, places=board.places))
    order = np.argsort(-moved, kind="stable")
    ranks = _ranks(moved[order], shared=_shares(board, otherwise=shared))
    table = table.set_column(table.column_names.index("score"), "score", pa.array(moved))
    table = table.take(order)
    rank = pa.array(ranks, table["rank"].type)
    table = table.set_column(table.column_names.index("rank"), "rank", rank)
    return replace(board, table=table)


def points_of(adjustment: Adjustment, places: int) -> float:
    """Return an adjustment's points on a board's grid."""
    return float(publish(np.array([adjustment.points], np.float64), places=places)[0])


def _shares(board: Board, *, otherwise: bool) -> bool:
    """Return whether equal scores share a rank: as in the board's equal rows, if it has any."""
    scores, ranks = board.table["score"].to_numpy(), board.table["rank"].to_numpy()
    equal = np.flatnonzero(scores[1:] == scores[:-1])
    return bool(ranks[equal[0]] == ranks[equal[0] + 1]) if len(equal) else otherwise


def _ranks(scores: FloatArray, *, shared: bool) -> npt.NDArray[np.int64]:
    ranks = np.arange(1, len(scores) + 1, dtype=np.int64)
    if shared and len(scores):
        opens = np.concatenate([[True], scores[1:] != scores[:-1]])
        ranks = ranks[np.maximum.accumulate(np.where(opens, np.arange(len(scores)), 0))]
    return ranks


def _part(adjustment: Adjustment, places: int) -> Part:
    return Part(
        "adjustment",
        points_of(adjustment, places),
        inputs={"entry": adjustment.seq, "points": adjustment.points, "change": adjustment.change},
        rules={},
        text=_sentence(adjustment, places),
    )


def _sentence(adjustment: Adjustment, places: int) -> str:
    points = points_of(adjustment, places)
    return f"Decided in entry {adjustment.seq}: {points:+.15g} ({adjustment.reason})"
