"""Test that runs become records of results by submission and validator."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.analysis.score import score
from agon.app.containers import Outcome
from agon.app.importers import import_records
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.run import plan_of, run_tasks
from agon.errors import Conflict, NotFound, Unreadable
from agon.records.writing import write_tables
from agon.runners.agents.builtin import NopAgent
from app.tasks.folders import harbor
from fakes.containers import FakeContainers


def run(out: Path, ends: dict[str, Outcome], *, trials: int = 1, **about: object) -> None:
    """Run tasks with given outcomes, without containers."""
    for name in ends:
        harbor(out.parent / "tasks" / name)
    tasks = read_tasks([out.parent / "tasks"])

    def now() -> datetime:
        return datetime(2026, 11, 21, 10, tzinfo=UTC)

    run_tasks(
        tasks,
        NopAgent(),
        plan=plan_of(tasks, NopAgent(), trials=trials, run="r", now=now, **about),
        containers=FakeContainers(verdict=lambda name, _: ends[name.rpartition("__")[0]]),
        out=out,
        jobs=1,
        now=now,
    )


def test_a_run_becomes_task_results(tmp_path: Path) -> None:
    """Trials without a score leave no row."""
    run(tmp_path / "run", {"a": "passed", "b": "timeout", "c": "unscored"}, trials=2,
        submission="s1", miner_uid=7, validator="v1")  # fmt: skip
    imported = import_records("challenge-runs", tmp_path / "run")
    tables = {name: table.to_pylist() for name, table in imported.tables.items()}
    assert [(row["task_id"], row["passed"]) for row in tables["task_results"]] == [
        ("a", True), ("a#2", True), ("b", False), ("b#2", False),
    ]  # fmt: skip
    assert {(row["submission_id"], row["validator_id"]) for row in tables["task_results"]} == {
        ("s1", "v1")
    }
    assert tables["submissions"] == [
        {"id": "s1", "miner_uid": 7, "submitted_at": datetime(2026, 11, 21, 10, tzinfo=UTC)}
    ]
    assert (
        "s1, run by v1: 2 of 6 trials without a score are left out: its pass rate is 0.500, "
        "with them 0.333 to 0.667; run them before you rank it"
    ) in imported.notes


def test_a_complete_run_has_no_note_and_an_interrupted_one_has(tmp_path: Path) -> None:
    """A trial that never ran is left out like one without a score."""
    run(tmp_path / "run", {"a": "passed", "b": "failed"})
    assert len(import_records("challenge-runs", tmp_path / "run").notes) == 1
    (tmp_path / "run" / "b__1" / "result.json").unlink()
    (note,) = import_records("challenge-runs", tmp_path / "run").notes[1:]
    assert "1 of 2 trials without a score are left out: its pass rate is 1.000" in note


def test_a_submission_without_a_name_has_that_of_its_agent(tmp_path: Path) -> None:
    """A user who runs one agent need not name it."""
    run(tmp_path / "run", {"a": "passed"})
    imported = import_records("challenge-runs", tmp_path / "run")
    assert imported.tables["submissions"]["id"].to_pylist() == ["nop"]
    assert imported.tables["validators"]["id"].to_pylist() == ["local"]


@pytest.mark.exhaustive
def test_runs_of_three_validators_are_scored_like_on_the_network(tmp_path: Path) -> None:
    """From containers to weights: the pass rate is the validators' score."""
    for validator in ("v1", "v2", "v3"):
        run(tmp_path / validator / "run", {"a": "passed", "b": "failed"}, submission="s",
            validator=validator)  # fmt: skip
    runs = tmp_path / "runs"
    runs.mkdir()
    for validator in ("v1", "v2", "v3"):
        (tmp_path / validator / "run").rename(runs / validator)
    write_tables(import_records("challenge-runs", runs).tables, tmp_path / "records")
    result = score("challenge", tmp_path / "records")
    (row,) = result.board("submissions").rows()
    assert (row["id"], row["score"], row["validators"]) == ("s", 0.5, 3)


def test_one_submission_of_two_miners_is_rejected(tmp_path: Path) -> None:
    """It is not known which miner to pay."""
    for uid in (1, 2):
        run(tmp_path / f"run{uid}", {"a": "passed"}, submission="s", miner_uid=uid)
    with pytest.raises(Conflict, match="miners 1 and 2"):
        import_records("challenge-runs", tmp_path)


def test_a_folder_without_runs_is_rejected(tmp_path: Path) -> None:
    """The error states what is expected."""
    with pytest.raises(NotFound):
        import_records("challenge-runs", tmp_path / "nowhere")
    with pytest.raises(Unreadable, match="no run with a finished trial"):
        import_records("challenge-runs", tmp_path)
