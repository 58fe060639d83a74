"""A task of several steps in real containers."""

from datetime import UTC, datetime
from pathlib import Path

from agon.app.containers import AgentTrial, Containers, ImageSpec
from agon.app.tasks.agents import Agent
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.trials import TrialResult, run_trial
from agon.runners.agents.builtin import NopAgent, OracleAgent
from app.tasks.folders import stepped


def result_of(containers: Containers, agent: Agent, place: Path) -> TrialResult:
    """Return the result of one trial of the task with two steps."""
    task = read_task(stepped(place / "task"))
    image = containers.build(ImageSpec(context=task.files.context))
    (place / "trial").mkdir()
    trial = AgentTrial(run="steps", name="steps", folder=place / "trial")
    return run_trial(
        task, 1, agent, containers=containers, image=image, trial=trial,
        now=lambda: datetime.now(UTC),
    )  # fmt: skip


def test_a_step_begins_with_what_the_one_before_left_and_sees_no_tests(
    containers: Containers, tmp_path: Path
) -> None:
    """The second solution needs the first's file, and would be seen with tests or rewards."""
    result = result_of(containers, OracleAgent(), tmp_path)
    assert (result.result, result.reason, result.rewards) == ("passed", "", {"reward": 1.0})
    assert [step["name"] for step in result.steps] == ["one", "two"]
    streams = [step["parts"]["verifier"]["stdout"]["file"] for step in result.steps]
    assert all((tmp_path / "trial" / name).is_file() for name in streams)
    assert TrialResult.from_dict(result.to_dict()) == result


def test_a_step_below_its_min_reward_ends_the_trial(containers: Containers, tmp_path: Path) -> None:
    """An agent that does nothing in the first step never begins the second."""
    result = result_of(containers, NopAgent(), tmp_path)
    assert (result.result, len(result.steps)) == ("failed", 1)
    assert "min_reward is 1" in result.reason
