"""What ``agon challenge run`` prints of a run: nothing that was left out is hidden by a rate."""

import dataclasses
import json
from pathlib import Path

import pytest

from agon.app.tasks.results.folder import RunPlan
from agon.app.tasks.results.summary import summarize
from agon.app.tasks.trials import TrialResult
from agon.cli.challenge.run import _report
from agon.errors import Unavailable

PLAN = RunPlan(
    run="r", agent="a", settings={}, tasks={"one": "1", "two": "2"},
    reward_sources={"one": "both", "two": "both"}, trials=1,
    unreadable={"broken": "broken/task.toml: is not TOML"},
)  # fmt: skip
TRIAL = TrialResult(
    task="one", task_sha256="1", number=1, run="r", agent="a", result="passed", reason="",
    reward_source="both", started_at="", finished_at="",
    timings=dict.fromkeys(("build_s", "agent_s", "verifier_s", "total_s"), 1.0),
)  # fmt: skip


def test_folders_that_were_left_out_stand_beside_the_rate_and_in_the_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rate of 1 over what could be read is no rate of 1."""
    two = dataclasses.replace(TRIAL, task="two")
    _report(summarize(PLAN, [TRIAL, two]), tmp_path, "table")
    printed = capsys.readouterr()
    assert "pass rate 1.000 (2 of 2), 1 of 3 folders left out" in printed.out
    assert printed.err.splitlines()[-1].startswith("warning: 1 of 3 folders left out")


def test_no_score_names_what_was_left_out_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error does not replace the counts."""
    unscored = dataclasses.replace(TRIAL, result="unscored", reason="the engine failed")
    with pytest.raises(Unavailable, match="no trial has a score"):
        _report(summarize(PLAN, [unscored]), tmp_path, "table")
    assert "no score · 1 of 1 trials unscored · 1 of 3 folders left out" in capsys.readouterr().out


def test_the_machine_readable_form_has_names_and_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program counts them itself."""
    _report(summarize(PLAN, [TRIAL]), tmp_path, "json")
    assert json.loads(capsys.readouterr().out)["unreadable"] == PLAN.unreadable
