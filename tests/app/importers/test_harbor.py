"""Test results of Harbor: which trials count, as what, and issues of the others."""

import json
from pathlib import Path
from typing import Any

import pytest

from agon.app.analysis.score import score
from agon.app.files import InvalidPackage
from agon.app.importers import import_records
from agon.app.importers.harbor import read
from agon.errors import NotFound, Unreadable
from agon.records.writing import write_tables


def trial(folder: Path, task: str, **about: Any) -> None:
    """Write one trial's result as Harbor does."""
    folder.mkdir(parents=True)
    result: dict[str, Any] = {
        "id": "00000000-0000-0000-0000-000000000000",
        "task_name": task,
        "trial_name": folder.name,
        "agent_info": {"name": "terminus", "version": "2.0", "model_info": None},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-02T03:04:05.678901",
    }
    (folder / "result.json").write_text(json.dumps(result | about))


def rows(source: Path) -> dict[str, list[dict[str, Any]]]:
    """Import and return all tables' rows."""
    imported = import_records("harbor", source)
    assert imported.discipline == "challenge"
    return {name: table.to_pylist() for name, table in imported.tables.items()}


def test_trials_become_task_results(tmp_path: Path) -> None:
    """The result.json of a job is not a trial; several trials of a task count separately."""
    job = tmp_path / "job"
    trial(job / "sort__a1", "sort")
    trial(job / "sort__b2", "sort", verifier_result={"rewards": {"reward": 0.0}})
    trial(job / "fix__c3", "fix", started_at="2026-01-01T00:00:00Z")
    (job / "result.json").write_text('{"n_total_trials": 3, "stats": {}}')
    tables = rows(tmp_path)
    assert [(row["task_id"], row["passed"]) for row in tables["task_results"]] == [
        ("fix", True), ("sort", True), ("sort#2", False),
    ]  # fmt: skip
    (submission,) = tables["submissions"]
    assert (submission["id"], submission["miner_uid"]) == ("terminus@2.0", 1)
    assert submission["submitted_at"].isoformat() == "2026-01-01T00:00:00+00:00"
    assert tables["validators"] == [{"id": "harbor", "stake": 1.0}]


def test_agents_and_models_are_separate_submissions(tmp_path: Path) -> None:
    """Each submission has a separate miner."""
    for at, model in enumerate(("small", "large")):
        info = {"name": "a", "version": "1", "model_info": {"name": model, "provider": "p"}}
        trial(tmp_path / str(at), "sort", agent_info=info)
    submissions = rows(tmp_path)["submissions"]
    assert [(row["id"], row["miner_uid"]) for row in submissions] == [
        ("a@1 p/large", 1), ("a@1 p/small", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("about", "passed"),
    [
        ({"verifier_result": {"rewards": {"reward": 0.5}}}, False),
        ({"verifier_result": {"rewards": {"reward": True}}}, True),
        ({"verifier_result": {"rewards": {"a": 1.5, "b": False}}}, False),
        ({"verifier_result": None}, False),
        ({"verifier_result": None,
          "exception_info": {"exception_type": "RewardFileNotFoundError"}}, False),
        ({"verifier_result": {"rewards": {}},
          "exception_info": {"exception_type": "VerifierOutputParseError"}}, False),
        ({"verifier_result": None,
          "exception_info": {"exception_type": "HealthcheckError"}}, False),
        ({"verifier_result": {"rewards": {"reward": 1, "style": 0}}}, True),
        ({"verifier_result": {"rewards": {"speed": 1, "style": 0}}}, False),
        ({"exception_info": {"exception_type": "AgentTimeoutError"}}, False),
        ({"exception_info": {"exception_type": "VerifierTimeoutError"},
          "verifier_result": None}, False),
        ({"exception_info": {"exception_type": "NonZeroAgentExitCodeError"}}, True),
    ],
)  # fmt: skip
def test_a_full_reward_passes_unless_the_time_limit_was_exceeded(
    tmp_path: Path, about: dict[str, Any], *, passed: bool
) -> None:
    """As in a run: no reward and a part of one fail (document 001, Test Execution)."""
    trial(tmp_path / "t", "sort", **about)
    assert [row["passed"] for row in rows(tmp_path)["task_results"]] == [passed]


def step(reward: float | None, cause: str = "") -> dict[str, Any]:
    """Return the result of a step as Harbor writes it."""
    return {
        "step_name": "s",
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": {"exception_type": cause} if cause else None,
    }


@pytest.mark.parametrize(
    ("steps", "passed"),
    [
        ([step(1), step(1)], [True]),
        ([step(1), step(None, "AgentTimeoutError")], [False]),
        ([step(1), step(None, "VerifierTimeoutError")], [False]),
        ([step(1, "AgentTimeoutError"), step(1)], [False]),
        ([step(1), step(None, "RewardFileNotFoundError")], [False]),
        ([step(1), step(None, "HealthcheckError")], [False]),
        ([step(1, "NonZeroAgentExitCodeError"), step(1)], [True]),
    ],
)
def test_a_step_without_a_verdict_decides_on_the_trial(
    tmp_path: Path, steps: list[dict[str, Any]], *, passed: list[bool]
) -> None:
    """As in a run; Harbor's own reward of the trial is the mean of the other steps, here 1."""
    trial(tmp_path / "t", "sort", step_results=steps)
    assert [row["passed"] for row in rows(tmp_path)["task_results"]] == passed


def test_a_step_that_broke_leaves_its_trial_without_a_score(tmp_path: Path) -> None:
    """As a trial without steps whose environment failed: left out, and counted."""
    trial(tmp_path / "a", "sort")
    trial(tmp_path / "b", "fix", step_results=[step(1), step(None, "EnvironmentStartError")])
    imported = import_records("harbor", tmp_path)
    assert len(imported.tables["task_results"]) == 1
    assert any("1 of 2 trials without a score" in note for note in imported.notes)


def test_steps_out_of_time_are_counted_aloud_and_may_count(tmp_path: Path) -> None:
    """Their exceptions stand in the steps alone."""
    trial(tmp_path / "a", "sort", step_results=[step(1, "AgentTimeoutError"), step(1)])
    notes = [note for note in import_records("harbor", tmp_path).notes if "time limit" in note]
    assert notes[0].startswith("terminus@2.0: trials with a reward after the agent's time limit: 1")
    counted = read(str(tmp_path), agent_timeout="verify").tables["task_results"].to_pylist()
    assert [row["passed"] for row in counted] == [True]


def test_steps_that_are_no_tables_are_named(tmp_path: Path) -> None:
    """Another program wrote them."""
    trial(tmp_path / "a", "sort", step_results={"one": 1})
    with pytest.raises(
        InvalidPackage, match=r"step_results is \{'one': 1\}; give a list of tables"
    ):
        import_records("harbor", tmp_path)


def test_rewards_after_the_time_limit_fail_and_are_counted_aloud(tmp_path: Path) -> None:
    """Harbor's mean has them: a reader of both numbers must see why they differ."""
    late = {"exception_type": "AgentTimeoutError"}
    trial(tmp_path / "a", "sort", exception_info=late)
    trial(tmp_path / "b", "fix", exception_info=late, verifier_result={"rewards": {"reward": 0}})
    trial(tmp_path / "c", "cut", exception_info=late, verifier_result=None)
    trial(tmp_path / "d", "add")
    notes = [note for note in import_records("harbor", tmp_path).notes if "time limit" in note]
    assert len(notes) == 1
    assert notes[0].startswith("terminus@2.0: trials with a reward after the agent's time limit: 1")


def test_a_trial_whose_environment_failed_has_no_score(tmp_path: Path) -> None:
    """It is left out and counted, and is not a failure."""
    trial(tmp_path / "a", "sort")
    error = {"exception_type": "EnvironmentBuildError"}
    trial(tmp_path / "b", "fix", verifier_result=None, exception_info=error)
    imported = import_records("harbor", tmp_path)
    assert len(imported.tables["task_results"]) == 1
    assert (
        "terminus@2.0, run by harbor: 1 of 2 trials without a score are left out: its pass rate is "
        "1.000, with them 0.500 to 1.000; run them before you rank it"
    ) in imported.notes


def test_a_reward_of_any_size_is_read(tmp_path: Path) -> None:
    """A test may write any number of digits."""
    trial(tmp_path / "t", "sort", verifier_result={"rewards": {"reward": 10**400}})
    assert [row["passed"] for row in rows(tmp_path)["task_results"]] == [True]


def test_all_unreadable_results_are_reported_at_once(tmp_path: Path) -> None:
    """Each issue names its file."""
    trial(tmp_path / "a", "sort", verifier_result={"rewards": {"reward": "good"}})
    trial(tmp_path / "b", "sort", started_at="yesterday")
    trial(tmp_path / "c", "")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/result.json").write_text("{")
    with pytest.raises(InvalidPackage) as error:
        import_records("harbor", tmp_path)
    issues = [str(issue) for issue in error.value.issues]
    assert [line.split("/")[0] for line in issues] == ["a", "b", "c", "d"]
    assert "a reward is 'good'" in issues[0]


def test_a_folder_without_trials_is_rejected(tmp_path: Path) -> None:
    """A link to other results is not followed."""
    with pytest.raises(NotFound):
        import_records("harbor", tmp_path / "nowhere")
    trial(tmp_path / "elsewhere/t", "sort")
    (tmp_path / "job").mkdir()
    (tmp_path / "job/linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unreadable, match="no trial with a score"):
        import_records("harbor", tmp_path / "job")


@pytest.mark.exhaustive
def test_imported_results_can_be_scored(tmp_path: Path) -> None:
    """One validator is enough when the rules say so."""
    trial(tmp_path / "job/a", "sort")
    trial(tmp_path / "job/b", "fix", verifier_result={"rewards": {"reward": 0}})
    write_tables(import_records("harbor", tmp_path / "job").tables, tmp_path / "records")
    result = score("challenge", tmp_path / "records", overrides={"min_validators": 1})
    (row,) = result.board("submissions").rows()
    assert (row["id"], row["score"]) == ("terminus@2.0", 0.5)


def test_all_rewards_are_records_with_their_fractions(tmp_path: Path) -> None:
    """A benchmark compares them; the score counts passes alone."""
    trial(tmp_path / "a", "sort", verifier_result={"rewards": {"reward": 0.25, "style": True}})
    trial(tmp_path / "b", "sort", verifier_result=None)
    tables = rows(tmp_path)
    rewards = [(row["reward_key"], row["reward"]) for row in tables["task_rewards"]]
    assert rewards == [("reward", 0.25), ("style", 1.0)]
    assert [row["passed"] for row in tables["task_results"]] == [False, False]


def test_the_means_of_rewards_are_in_the_explanation_of_a_submission(tmp_path: Path) -> None:
    """A result without a reward counts as 0 of it."""
    trial(tmp_path / "job/a", "sort", verifier_result={"rewards": {"reward": 1, "style": 0.5}})
    trial(tmp_path / "job/b", "fix", verifier_result=None)
    write_tables(import_records("harbor", tmp_path / "job").tables, tmp_path / "records")
    result = score("challenge", tmp_path / "records", overrides={"min_validators": 1})
    explained = result.explain("terminus@2.0", board="submissions")
    (part,) = [part for part in explained.parts if part.name == "rewards"]
    assert part.inputs == {"reward": 0.5, "style": 0.25}
    assert part.points == 0
    assert "2 task results: reward 0.5, style 0.25" in part.text


@pytest.mark.parametrize(("agent_timeout", "passed"), [("fail", False), ("verify", True)])
def test_a_reward_after_the_agents_time_counts_where_the_rule_says_so(
    tmp_path: Path, agent_timeout: Any, *, passed: bool
) -> None:
    """Harbor verifies such a trial, the seed fails it; the note says which rule held."""
    trial(tmp_path / "t", "sort", exception_info={"exception_type": "AgentTimeoutError"})
    imported = import_records("harbor", tmp_path, agent_timeout=agent_timeout)
    assert imported.tables["task_results"].column("passed").to_pylist() == [passed]
    assert any(f"agent_timeout = {agent_timeout}" in note for note in imported.notes)
