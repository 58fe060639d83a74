"""Run the steps of a trial one after another, and make one result of theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agon.app.containers import AGENT_LOGS, AgentTrial, Outcome, Outputs
from agon.app.containers.pass_rule import REWARD, PassRule
from agon.app.tasks.files import read_text
from agon.app.tasks.steps import below_minimum, combine
from agon.app.tasks.task import Files, StepSettings, Task, TaskSettings


@dataclass(frozen=True, kw_only=True)
class StepOutcome:
    """What decides on a trial with steps.

    Attributes:
        name: the step.
        result: its outcome.
        reason: why; empty for a pass.
        rewards: its rewards; the score where its tests left none and their exit code decides.
        exit_code: that of its tests; None when they did not finish.
    """

    name: str
    result: Outcome
    reason: str
    rewards: Mapping[str, float]
    exit_code: int | None


def tests_of_step(folder: Path, step: StepSettings) -> tuple[Path, ...]:
    """Return the folders of a step's tests, each laid over those before: of all steps, its own."""
    folders = (folder / "tests", folder / "steps" / step.name / "tests")
    return tuple(one for one in folders if one.is_dir())


def solution_of_step(folder: Path, step: StepSettings) -> Path | None:
    """Return the script that solves a step; None where there is none."""
    path = folder / "steps" / step.name / "solution" / "solve.sh"
    return path if path.is_file() and not path.is_symlink() else None


def task_of_step(task: Task, step: StepSettings) -> Task:
    """Return a step as a task of its own."""
    settings, own = task.settings, task.folder / "steps" / step.name
    workdir = own / "workdir"
    separate = settings.separate if step.separate is None else step.separate
    own_limits = step.verifier_bounds is not None
    places = (*step.outputs, *(place.path for place in step.service_outputs), *AGENT_LOGS[1:])
    return replace(
        task,
        folder=own,
        instruction=read_text(own / "instruction.md", where=f"{task.name}/steps/{step.name}"),
        files=replace(
            _with_tests(task, step, separate=separate),
            workdir=workdir if workdir.is_dir() else None,
            solution=solution_of_step(task.folder, step),
        ),
        settings=replace(
            settings,
            bounds=replace(
                settings.bounds,
                agent_s=step.agent_s or settings.bounds.agent_s,
                verifier_s=step.verifier_s or settings.bounds.verifier_s,
            ),
            agent_user=step.agent_user or settings.agent_user,
            verifier_user=step.verifier_user or settings.verifier_user,
            verifier_bounds=step.verifier_bounds or settings.verifier_bounds,
            verifier_workdir=step.verifier_workdir if own_limits else settings.verifier_workdir,
            verifier_env={**settings.verifier_env, **dict(step.verifier_env)},
            step_preparation=step.health,
            collected=(*settings.collected, *step.collected),
            service_outputs=step.service_outputs,
            separate=False,
            shown=tuple(dict.fromkeys(places)) if separate else None,
            excluded=step.excluded,
            steps=(),
            is_step=True,
            users_of_steps=tuple(
                dict.fromkeys(
                    user
                    for one in settings.steps
                    if (user := one.agent_user or settings.agent_user)
                )
            ),
        ),
    )


def _with_tests(task: Task, step: StepSettings, *, separate: bool) -> Files:
    """Return the files of a step's tests: its own over those of the task, or in their own image.

    Only separate tests have an image of their own.
    """
    tests, image = tests_of_step(task.folder, step), step.verifier_image
    own = task.folder / "steps" / step.name / "tests" / "Dockerfile"
    if not own.is_file():
        image = image or task.settings.verifier_image
    image = image if separate else ""
    built = separate and not image and (tests[-1] / "Dockerfile").is_file()
    return replace(
        task.files,
        tests=tests[-1],
        shared_tests=tests[0] if len(tests) > 1 and not built else None,
        verifier=built,
        verifier_image=image,
    )


def run_steps(
    task: Task,
    trial: AgentTrial,
    run: Callable[[Task, AgentTrial], tuple[StepOutcome, Outputs | None]],
) -> list[StepOutcome]:
    """Run steps until one ends the trial, and return the outcomes of those that ran."""
    outcomes: list[StepOutcome] = []
    state: Outputs | None = None
    for settings in task.settings.steps:
        folder = trial.folder / "steps" / settings.name
        folder.mkdir(parents=True)
        outcome, state = run(
            task_of_step(task, settings), replace(trial, folder=folder, state=state)
        )
        outcomes.append(outcome)
        if state is None or outcome.exit_code is None or _end(outcome, settings):
            break
    return outcomes


def decide(
    outcomes: list[StepOutcome], settings: TaskSettings, rule: PassRule
) -> tuple[Outcome, str, dict[str, float]]:
    """Return the outcome of a trial, its reason, and its rewards.

    A step that left no verdict decides alone: what ran before is no substitute for it.
    """
    last = outcomes[-1]
    rewards = combine(
        [one.rewards for one in outcomes if one.exit_code is not None], settings.strategy
    )
    if last.exit_code is None or last.result in {"unscored", "timeout"}:
        return last.result, f"step {last.name}: {last.reason}", rewards
    counted = outcomes if settings.strategy == "mean" else outcomes[-1:]
    failed = [one for one in counted if one.exit_code] if rule.source == "both" else []
    reason = rule.failure(rewards) or (
        f"the tests exit with {failed[0].exit_code}" if failed else ""
    )
    if not reason:
        return "passed", "", rewards
    end = _end(last, settings.steps[len(outcomes) - 1])
    worst = next((one for one in counted if one.result != "passed"), last)
    return "failed", f"{reason}; step {worst.name}: {end or worst.reason or 'passed'}", rewards


def rewards_of(result: Outcome, rewards: Mapping[str, float], source: str) -> dict[str, float]:
    """Return the rewards of a step, its score where the exit code alone decides.

    Example:
        >>> rewards_of("passed", {}, "exit_code"), rewards_of("failed", {}, "both")
        ({'reward': 1.0}, {})
    """
    return {REWARD: float(result == "passed")} if source == "exit_code" else dict(rewards)


def _end(outcome: StepOutcome, settings: StepSettings) -> str:
    return below_minimum(outcome.rewards, settings.min_reward)
