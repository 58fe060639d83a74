"""Test the steps between two states of a board."""

from datetime import UTC, datetime

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.contests.boards.steps import GONE, Ranking, steps
from agon.kernel.boards import Board, UnscoredRow

_AT = datetime(2026, 11, 22, tzinfo=UTC)
_IDS = [str(number) for number in range(12)] + ['é"\\', "x\n"]

_STATES = st.dictionaries(
    st.sampled_from(_IDS), st.integers(-3, 3).map(float) | st.sampled_from(["late", "no vote"])
)


def _board(state: dict[str, float | str]) -> Board:
    scored = sorted(
        ((score, name) for name, score in state.items() if isinstance(score, float)), reverse=True
    )
    table = pa.table(
        {
            "rank": pa.array(range(1, len(scored) + 1), pa.int64()),
            "id": pa.array([name for _, name in scored], pa.string()),
            "score": pa.array([score for score, _ in scored], pa.float64()),
            "wins": pa.array([0] * len(scored), pa.int32()),
        }
    )
    unscored = (UnscoredRow(name, why) for name, why in state.items() if isinstance(why, str))
    return Board("b", table, tuple(unscored))


def _naive(before: dict[str, float | str], after: dict[str, float | str]) -> dict[str, object]:
    moved: dict[str, object] = {name: now for name, now in after.items() if before.get(name) != now}
    return moved | {name: GONE for name in before if name not in after}


@settings(deadline=None)  # the first example compiles what pyarrow needs
@given(_STATES, _STATES)
def test_steps_are_the_ids_whose_score_or_reason_changed(
    before: dict[str, float | str], after: dict[str, float | str]
) -> None:
    """Histories have exactly the changes: a plain loop over both states gives the same."""
    rows = list(steps(Ranking.of(_board(before)), Ranking.of(_board(after)), seq=7, at=_AT))
    changes = {step.id: step.reason if step.score is None else step.score for step in rows}
    assert changes == _naive(before, after)
    assert len(rows) == len(changes)
    assert {(step.seq, step.at) for step in rows} <= {(7, _AT)}


@settings(deadline=None)
@given(_STATES)
def test_rankings_are_read_from_published_lines(state: dict[str, float | str]) -> None:
    """Steps are computed from stored lines, so reading them must lose nothing."""
    board = _board(state)
    read = Ranking.from_lines(board.lines(), board.unscored_lines())
    assert read.table.combine_chunks().equals(Ranking.of(board).table.combine_chunks())
    assert read.unscored == Ranking.of(board).unscored


def test_scores_of_any_size_are_read_exactly() -> None:
    """A score read inexactly would look like a change."""
    scores = [1e-300, 0.1, 668.123457, 1e22, 123456789.000001, -0.0]
    table = pa.table({"rank": [1] * 6, "id": list("abcdef"), "score": scores})
    read = Ranking.from_lines(Board("b", table).lines(), [])
    assert read.table["score"].to_pylist() == scores


def test_a_line_longer_than_a_block_is_read() -> None:
    """Some boards have long rows; the block of the reader grows."""
    table = pa.table({"rank": [1], "id": ["a"], "score": [1.0], "text": ["x" * 3_000_000]})
    assert Ranking.from_lines(Board("b", table).lines(), []).table["id"].to_pylist() == ["a"]
