"""Rating bots by a named method, with intervals on request."""

from pathlib import Path

import pytest

from agon.app.analysis.simulate import simulate, write_simulation
from agon.app.arena.rating import rate
from agon.errors import NotScorable
from cli.command import arena_folder


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold a simulated arena."""
    folder = tmp_path_factory.mktemp("arena") / "records"
    write_simulation(simulate("arena", size=400, seed=8), folder)
    return folder


def test_elo_is_the_board_of_bots(simulated: Path) -> None:
    """The same numbers, whatever command asks."""
    result, board = rate(simulated)
    assert board.table.equals(result.board("bots").table)


def test_elo_intervals_hold_their_ratings(simulated: Path) -> None:
    """Percentiles of resampled arenas around what was played; the same seed, the same ends."""
    _, board = rate(simulated, ci=True, overrides={"bootstrap_rounds": 60})
    assert board.table.column_names[:5] == ["rank", "id", "score", "low", "high"]
    assert all(row["low"] <= row["high"] for row in board.rows())
    held = sum(row["low"] <= row["score"] <= row["high"] for row in board.rows())
    assert held >= 0.8 * len(board)
    _, again = rate(simulated, ci=True, overrides={"bootstrap_rounds": 60})
    assert again.table.equals(board.table)
    _, other = rate(simulated, ci=True, overrides={"bootstrap_rounds": 60, "bootstrap_seed": 9})
    assert not other.table.equals(board.table)


def test_bradley_terry_shows_intervals_only_when_asked(simulated: Path) -> None:
    """A point estimate is one column."""
    _, bare = rate(simulated, method="bradley-terry")
    _, full = rate(simulated, method="bradley-terry", ci=True)
    assert set(full.table.column_names) - set(bare.table.column_names) == {
        "low",
        "high",
        "rank_low",
        "rank_high",
    }
    assert bare.table["score"].equals(full.table["score"])


def test_where_no_rating_fits_best_none_is_given(tmp_path: Path) -> None:
    """Ann never loses here: refused with the rule that would help, never silently wrong."""
    only = "id,played_at,bot_a,bot_b,kind,winner\n1,2026-01-01,ann,bob,rated,a\n"
    folder = arena_folder(tmp_path / "a", matches=only)
    with pytest.raises(NotScorable, match="bradley_terry_regularisation"):
        rate(folder, method="bradley-terry")
    _, board = rate(folder, method="bradley-terry", overrides={"bradley_terry_regularisation": 1})
    assert [row["id"] for row in board.rows()] == ["ann", "bob"]
