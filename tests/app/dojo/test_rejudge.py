"""Judging again: seen as a set before it counts, and nothing lost when it does."""

import json
from pathlib import Path

import pytest

from agon.app.dojo.judge import judge
from agon.app.dojo.problems import read_problem
from agon.app.dojo.rejudge import rejudge
from agon.app.sandbox import Job, Run
from agon.errors import CheckFailed, NotFound
from app.dojo.packing import journaled, pack_problem, pack_solver, rows
from fakes.sandbox import FakeSandbox


class Newer(FakeSandbox):
    """Stand for a runner under which bob's program runs out of time, and cy's is lost."""

    def run(self, job: Job) -> Run:
        """Run one job."""
        run = super().run(job)
        if "/bob/" in job.name:
            return self._ended("time_limit", reason="slower now")
        return self._ended("sandbox_error") if "/cy/" in job.name else run


@pytest.fixture
def season(tmp_path: Path) -> Path:
    """Hold a judged season of one problem and four submissions."""
    pack_problem(tmp_path / "p")
    for user in ("ada", "bob", "cy"):
        pack_solver(tmp_path / "s", user)
    pack_solver(tmp_path / "s", "dan", b"\xff")
    judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    return tmp_path / "season"


def test_changes_are_shown_and_nothing_is_written(season: Path) -> None:
    """Before they count, somebody looks."""
    before = {path: path.read_bytes() for path in season.rglob("*") if path.is_file()}
    done = rejudge(season, Newer())
    (change,) = done.changes
    assert change.to_dict() == {
        "id": change.after["id"],
        "problem_id": change.after["problem_id"],
        "user_id": "bob",
        "verdict_before": "ok",
        "verdict_after": "time_limit",
        "terms_matched_before": 20,
        "terms_matched_after": None,
        "reason": "slower now",
    }
    assert done.runs == 3
    assert done.kept is None
    assert {path: path.read_bytes() for path in season.rglob("*") if path.is_file()} == before


def test_applied_verdicts_count_and_the_old_ones_are_kept(season: Path) -> None:
    """A correction replaces nothing silently."""
    before = (season / "journal.ndjson").read_bytes()
    done = rejudge(season, Newer(), apply=True)
    assert done.kept is not None
    assert done.kept.read_bytes() == before
    verdicts = {row["user_id"]: row["verdict"] for row in rows(season)}
    assert verdicts == {"ada": "ok", "bob": "time_limit", "cy": "ok", "dan": "syntax_error"}
    assert len(journaled(season)) == len(set(journaled(season))) == 4
    assert rejudge(season, FakeSandbox(), apply=True).kept != done.kept


def test_the_same_runner_changes_nothing(season: Path) -> None:
    """Runs are reproducible."""
    assert rejudge(season, FakeSandbox()).changes == ()


def test_one_problem_is_named_by_how_its_id_begins(season: Path) -> None:
    """Sixty-four characters are for machines."""
    (problem,) = rows(season, "problems")
    assert rejudge(season, FakeSandbox(), problem_id=problem["id"][:8]).runs == 3
    with pytest.raises(NotFound, match="no problems 'zzz'"):
        rejudge(season, FakeSandbox(), problem_id="zzz")


def test_a_setter_that_gives_other_terms_now_stops_it(season: Path) -> None:
    """Everybody would be judged by another sequence."""
    (sealed,) = (season / ".sealed").iterdir()
    page = json.loads(sealed.read_text())
    page["terms"][6] = "50"
    sealed.write_text(json.dumps(page))
    with pytest.raises(CheckFailed, match="another term 7"):
        rejudge(season, FakeSandbox())
