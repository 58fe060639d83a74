"""Check points that people decided to give or take."""

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


def _given(name: str, points: float) -> Adjustment:
    return Adjustment(seq=9, board="toy", id=name, points=points, change=None, reason="r")


def _ranked(board: Board) -> list[tuple[int, str, float]]:
    return [(row["rank"], row["id"], row["score"]) for row in board.rows()]


def test_rows_are_ordered_by_what_they_now_have() -> None:
    """A deduction that leaves the first in first place would be none."""
    board = adjust(_board([9, 8, 7], [1, 2, 3]), [_given("p0", -1.5)], shared=False)
    assert _ranked(board) == [(1, "p1", 8.0), (2, "p0", 7.5), (3, "p2", 7.0)]


@pytest.mark.parametrize(
    ("shared", "ranks", "expected"),
    [
        (False, [1, 2, 3], [1, 2, 3]),
        (True, [1, 2, 3], [1, 2, 2]),
    ],
)
def test_new_ties_follow_the_custom_of_the_board(
    shared: bool,  # noqa: FBT001 - pytest gives parameters by name
    ranks: list[int],
    expected: list[int],
) -> None:
    """Equal scores share a rank on some boards, on others a further criterion decides."""
    board = adjust(_board([9, 8, 7], ranks), [_given("p2", 1)], shared=shared)
    assert [rank for rank, *_ in _ranked(board)] == expected


def test_equal_rows_show_the_custom_themselves() -> None:
    """What a board shows of its ties weighs more than what is said of them."""
    alone = adjust(_board([9, 8, 8], [1, 2, 3]), [_given("p0", -1)], shared=True)
    together = adjust(_board([9, 8, 8], [1, 2, 2]), [_given("p0", -1)], shared=False)
    assert [rank for rank, *_ in _ranked(alone)] == [1, 2, 3]
    assert [rank for rank, *_ in _ranked(together)] == [1, 1, 1]


def test_whoever_is_not_on_the_board_is_passed_over() -> None:
    """Points for somebody unscored move nobody."""
    board = _board([9, 8], [1, 2])
    assert adjust(board, [_given("eve", 100)], shared=False).sha256 == board.sha256


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_points_lie_on_the_grid_of_the_board(one: float, two: float) -> None:
    """Parts of an explanation have to sum to the published score."""
    given = [_given("p0", one), _given("p0", two)]
    board = adjust(_board([3.25], [1]), given, shared=False)
    total = 3.25 + sum(points_of(each, 2) for each in given)
    assert abs(board.rows()[0]["score"] - total) < 1e-8
