"""The steps of a task: how they are read, and when they end a trial."""

from pathlib import Path

import pytest

from agon.app.containers.pass_rule import PassRule
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.step_trials import StepOutcome, decide, task_of_step
from agon.app.tasks.steps import StepSettings, Strategy
from agon.app.tasks.task import TaskSettings
from app.tasks.folders import stepped

BOTH = PassRule(source="both")


def outcome(name: str, reward: float | None, *, exit_code: int | None = 0) -> StepOutcome:
    """Return the outcome of a step with a reward; None: its tests did not run."""
    rewards = {} if reward is None else {"reward": reward}
    ran = None if reward is None else exit_code
    return StepOutcome(
        name=name,
        result="timeout" if ran is None else "passed" if reward == 1 else "failed",
        reason="" if reward == 1 else "out of time" if ran is None else f"the reward is {reward:g}",
        rewards=rewards,
        exit_code=ran,
    )


@pytest.mark.parametrize(
    ("strategy", "rewards", "result", "reward"),
    [
        ("mean", [1, 1], "passed", 1),
        ("mean", [1, 0], "failed", 0.5),
        ("mean", [0.5], "failed", 0.5),  # steps that did not run are in no mean
        ("mean", [1, None], "timeout", 1),  # and what ran before is no pass
        ("final", [0, 1], "passed", 1),
        ("final", [1, 0.25], "failed", 0.25),
        ("final", [1, None], "timeout", 1),
    ],
)
def test_rewards_of_steps_become_those_of_the_trial(
    strategy: Strategy, rewards: list[float | None], result: str, reward: float
) -> None:
    """The format's two ways: the mean of the steps with a verdict, or the last one's."""
    outcomes = [outcome(f"s{n}", one) for n, one in enumerate(rewards)]
    steps = tuple(StepSettings(name=one.name) for one in outcomes)
    shown, reason, combined = decide(outcomes, TaskSettings(steps=steps, strategy=strategy), BOTH)
    assert (shown, combined["reward"]) == (result, reward)
    assert (reason == "") == (result == "passed")


def test_a_step_has_its_own_instruction_tests_and_limits(tmp_path: Path) -> None:
    """What it does not say is the whole task's."""
    task = read_task(stepped(tmp_path / "t"))
    first, second = (task_of_step(task, step) for step in task.settings.steps)
    assert first.instruction == "Write one to /app/a.\n"
    assert [step.settings.bounds.agent_s for step in (first, second)] == [30, 7]
    assert second.files.tests == task.folder / "steps" / "two" / "tests"
    assert task.settings.steps[0].min_reward == (("reward", 1.0),)


def test_a_step_without_its_files_is_refused_by_name(tmp_path: Path) -> None:
    """A misspelled folder must not run another step's tests."""
    folder = stepped(tmp_path / "t")
    (folder / "steps" / "two").rename(folder / "steps" / "tow")
    with pytest.raises(InvalidPackage) as refused:
        read_task(folder)
    assert "t/steps/two/instruction.md" in str(refused.value)
