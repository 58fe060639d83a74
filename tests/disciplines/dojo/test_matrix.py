"""Tests of a season by user and problem."""

import pytest

import agon
from agon.disciplines import discipline
from agon.disciplines.capabilities import ProblemMatrix


@pytest.fixture(scope="module")
def season() -> agon.Result:
    """Return a simulated season with several submissions of each user."""
    return agon.score("dojo", agon.simulate("dojo", size=300, seed=3).tables)


def matrix_of(season: agon.Result, users: list[str]) -> ProblemMatrix:
    """Return what some users have on each problem."""
    problems = discipline("dojo").problems
    assert problems is not None
    assert problems.matrix is not None
    return problems.matrix(season.scored, users)


def test_the_cells_of_a_row_sum_to_the_score_of_the_season(season: agon.Result) -> None:
    """The matrix is the board taken apart by problem."""
    rows = season.board().to_arrow().to_pylist()
    matrix = matrix_of(season, [row["id"] for row in rows])
    assert len(rows) > 10
    for row in rows:
        cells = matrix.solutions[row["id"]]
        assert sum(cell.points for cell in cells.values()) == row["score"]
        assert len(cells) == row["problems"]
        assert sum(cell.solved for cell in cells.values()) == row["reward_corrects"]


def test_the_first_solver_is_the_earliest_right_submission() -> None:
    """A better program that comes later is solved, not first; a wrong or late one is neither."""
    problem = {"id": "p", "n_check": 60, "freeze_started_at": "2026-01-02T00:00:00Z"}
    sent = [
        ("wrong", "2026-01-01T08:00:00Z", "wrong_answer", 55),
        ("bob", "2026-01-01T10:00:00Z", "ok", 200),
        ("ada", "2026-01-01T11:00:00Z", "ok", 200),
        ("late", "2026-01-02T10:00:00Z", "ok", 200),
    ]
    submissions = [
        {"id": f"s{n}", "problem_id": "p", "user_id": user, "created_at": at, "source_hash": None,
         "source": f"def solver():\n    return {'9' * (4 - n)}\n", "l_chars": None,
         "method_tag": None, "verdict": verdict, "terms_matched": matched}
        for n, (user, at, verdict, matched) in enumerate(sent)
    ]  # fmt: skip
    season = agon.score("dojo", {"problems": [problem], "submissions": submissions})
    matrix = matrix_of(season, ["ada", "bob", "wrong", "late"])
    cells = {user: (cell.solved, cell.first) for user, row in matrix.solutions.items()
             for cell in row.values()}  # fmt: skip
    assert cells == {"ada": (True, False), "bob": (True, True), "wrong": (False, False)}
    assert matrix.solved_by == {"p": 2}


def test_a_problem_without_scores_is_not_named() -> None:
    """Its id may not be public yet."""
    tables = agon.simulate("dojo", size=60, seed=1).tables
    season = agon.score("dojo", tables)
    listed = set(season.records.sql("SELECT id FROM problems")["id"].to_pylist())
    chosen = min(listed)
    submissions = tables["submissions"]
    rest = submissions.filter([name != chosen for name in submissions["problem_id"].to_pylist()])
    without = agon.score("dojo", {**tables, "submissions": rest})
    assert chosen not in matrix_of(without, []).problems
    assert chosen in matrix_of(season, []).problems
