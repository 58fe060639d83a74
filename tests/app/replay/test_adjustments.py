"""Check adjustments: points that staff added or subtracted."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.replay.adjustments import adjust, points_of
from agon.kernel.boards import Board
from agon.ledger.contest_state import Adjustment


def _board(scores: list[float], ranks: list[int], *, places: int = 2) -> Board:
    ids = [f"p{at}" for at in range(len(scores))]
    table = pa.table({"rank": ranks, "id": ids, "score": pa.array(scores, pa.float64())})
    return Board("toy", table, places=places)


def _adjustment(name: str, points: float) -> Adjustment:
    return Adjustment(seq=9, board="toy", id=name, points=points, change=None, reason="r")


def _ranked(board: Board) -> list[tuple[int, str, float]]:
    return [(row["rank"], row["id"], row["score"]) for row in board.rows()]


def test_rows_are_ordered_by_their_adjusted_scores() -> None:
    """A deduction must change the order."""
    board = adjust(_board([9, 8, 7], [1, 2, 3]), [_adjustment("p0", -1.5)], shared=False)
    assert _ranked(board) == [(1, "p1", 8.0), (2, "p0", 7.5), (3, "p2", 7.0)]


@pytest.mark.parametrize(
    ("shared", "ranks", "expected"),
    [
        (False, [1, 2, 3], [1, 2, 3]),
        (True, [1, 2, 3], [1, 2, 2]),
    ],
)
def test_new_ties_share_ranks_like_the_board(
    shared: bool,  # noqa: FBT001 - pytest gives parameters by name
    ranks: list[int],
    expected: list[int],
) -> None:
    """Equal scores share a rank on some boards, on others a further criterion decides."""
    board = adjust(_board([9, 8, 7], ranks), [_adjustment("p2", 1)], shared=shared)
    assert [rank for rank, *_ in _ranked(board)] == expected


def test_existing_ties_determine_whether_ranks_are_shared() -> None:
    """The ties of a board take precedence over the parameter."""
    alone = adjust(_board([9, 8, 8], [1, 2, 3]), [_adjustment("p0", -1)], shared=True)
    together = adjust(_board([9, 8, 8], [1, 2, 2]), [_adjustment("p0", -1)], shared=False)
    assert [rank for rank, *_ in _ranked(alone)] == [1, 2, 3]
    assert [rank for rank, *_ in _ranked(together)] == [1, 1, 1]


def test_an_adjustment_of_an_id_that_is_not_on_the_board_is_ignored() -> None:
    """Points for an unscored participant change no row."""
    board = _board([9, 8], [1, 2])
    assert adjust(board, [_adjustment("eve", 100)], shared=False).sha256 == board.sha256


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_adjusted_scores_are_on_the_grid_of_the_board(first: float, second: float) -> None:
    """Parts of an explanation have to sum to the published score."""
    adjustments = [_adjustment("p0", first), _adjustment("p0", second)]
    board = adjust(_board([3.25], [1]), adjustments, shared=False)
    total = 3.25 + sum(points_of(each, 2) for each in adjustments)
    assert abs(board.rows()[0]["score"] - total) < 1e-8
