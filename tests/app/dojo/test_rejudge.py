"""Test rejudging: it is previewed before it counts, and no verdict is lost."""

from pathlib import Path

import pytest

from agon.app.dojo.judge import judge
from agon.app.dojo.problems import read_problem
from agon.app.dojo.rejudge import rejudge
from agon.app.sandbox import RunRequest, RunResult
from agon.errors import CheckFailed, NotFound
from app.dojo.packing import entries, ledger_of, pack_problem, pack_solver, recorded, rows
from fakes.sandbox import FakeSandbox


class Newer(FakeSandbox):
    """A runner on which bob's program exceeds its time, and cy's run is lost."""

    def run(self, request: RunRequest) -> RunResult:
        """Run one job."""
        run = super().run(request)
        if "/bob/" in request.name:
            return self._ended("time_limit", reason="slower now")
        return self._ended("sandbox_error") if "/cy/" in request.name else run


@pytest.fixture
def season(tmp_path: Path) -> Path:
    """Return a judged season of one problem and four submissions."""
    pack_problem(tmp_path / "p")
    for user in ("ada", "bob", "cy"):
        pack_solver(tmp_path / "s", user)
    pack_solver(tmp_path / "s", "dan", b"\xff")
    judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    return tmp_path / "season"


def test_changes_are_shown_and_nothing_is_written(season: Path) -> None:
    """A setter examines them before they count."""
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
    assert done.change is None
    assert {path: path.read_bytes() for path in season.rglob("*") if path.is_file()} == before


def test_applied_verdicts_count_and_the_old_ones_stay_in_the_ledger(season: Path) -> None:
    """A correction is not silent."""
    before = ledger_of(season).read_bytes()
    done = rejudge(season, Newer(), apply=True)
    assert ledger_of(season).read_bytes().startswith(before)
    assert ledger_of(season).stat().st_mode & 0o777 == 0o600
    (entry,) = [one for one in entries(season) if one["kind"] == "record-replaced"]
    assert entry["body"]["change"] == done.change
    assert entry["body"]["row"]["user_id"] == "bob"
    verdicts = {row["user_id"]: row["verdict"] for row in rows(season)}
    assert verdicts == {"ada": "ok", "bob": "time_limit", "cy": "ok", "dan": "syntax_error"}
    assert len(recorded(season)) == 5
    assert len(set(recorded(season))) == 4
    again = rejudge(season, FakeSandbox(), apply=True)
    assert again.change != done.change
    assert {row["verdict"] for row in rows(season) if row["user_id"] == "bob"} == {"ok"}


def test_the_same_runner_changes_nothing(season: Path) -> None:
    """Runs are reproducible."""
    assert rejudge(season, FakeSandbox()).changes == ()


def test_a_problem_is_named_by_a_prefix_of_its_id(season: Path) -> None:
    """A complete id has 64 characters."""
    (problem,) = rows(season, "problems")
    assert rejudge(season, FakeSandbox(), problem_id=problem["id"][:8]).runs == 3
    with pytest.raises(NotFound, match="no problems 'zzz'"):
        rejudge(season, FakeSandbox(), problem_id="zzz")


def test_a_setter_that_gives_other_terms_now_stops_it(season: Path) -> None:
    """All solvers would be judged by another sequence."""
    ledger = ledger_of(season)
    ledger.write_bytes(ledger.read_bytes().replace(b'"36","49","64"', b'"36","50","64"'))
    with pytest.raises(CheckFailed, match="another term 7"):
        rejudge(season, FakeSandbox())
