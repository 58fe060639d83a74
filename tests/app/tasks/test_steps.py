"""The steps of a task: how they are read, and when they end a trial."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers import AgentTrial, Image, Outputs, TaskTests
from agon.app.containers.pass_rule import PassRule
from agon.app.files import InvalidPackage
from agon.app.tasks.downloads import downloads
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.overrides import Overrides, with_overrides
from agon.app.tasks.preparation import before
from agon.app.tasks.servers import connections
from agon.app.tasks.step_trials import StepOutcome, decide, task_of_step
from agon.app.tasks.steps import Strategy
from agon.app.tasks.task import StepSettings, TaskSettings
from agon.app.tasks.trials import TrialRunner
from agon.runners.agents.builtin import NopAgent
from app.tasks.folders import prepared, stepped, write
from fakes.containers import FakeContainers

IMAGE = Image(
    reference="i", content="c", user="", writable=("/app",), cached=True, seconds=0.0
)  # fmt: skip
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


def test_a_step_brings_files_and_its_tests_lie_over_those_of_all(tmp_path: Path) -> None:
    """Its ``setup.sh`` runs between the health check of the task and its own."""
    task = read_task(prepared(tmp_path / "t"))
    one, two = (task_of_step(task, step) for step in task.settings.steps)
    assert (one.files.workdir, two.files.workdir) == (None, task.folder / "steps/two/workdir")
    assert (one.files.tests, one.files.shared_tests) == (task.folder / "tests", None)
    assert two.files.shared_tests == task.folder / "tests"
    script = before(two, replace(IMAGE, entrypoint=()))
    assert script.index("setup.sh") < script.index("[ -e ready ]")
    assert "setup.sh" not in before(one, IMAGE)


@pytest.mark.parametrize(
    ("path", "target", "message"),
    [
        (
            "steps/two/workdir/x",
            "../../../tests",
            "t/steps/two/workdir/x: is a link to ../../../te",
        ),
        ("steps/two/workdir/x", "/etc/passwd", "t/steps/two/workdir/x: is a link to /etc/passwd"),
        ("steps/two/workdir/x", "nothing", "t/steps/two/workdir/x: is a link to nothing"),
        ("steps/one/workdir", "../two/workdir", "t/steps/one/workdir: is no folder"),
        (
            "steps/two/tests/test.sh",
            "check.sh",
            "t/steps/two/tests/test.sh: cannot replace tests/test.sh",
        ),
        ("steps/one/tests", None, "t/steps/one/tests/check.sh: cannot replace tests/ch"),
        ("steps/one/tests", "/usr", "t/steps/one/tests: is a link that leads out of the task"),
        ("steps/one/environment", None, "belongs to one step"),
    ],
)
def test_files_of_a_step_that_lead_elsewhere_are_refused(
    tmp_path: Path, path: str, target: str | None, message: str
) -> None:
    """Before a run: a link could bring what is not the step's, or write where it should not."""
    folder = prepared(tmp_path / "t")
    if target is None:
        (folder / path / "check.sh").mkdir(parents=True)
    else:
        (folder / path).symlink_to(target)
    with pytest.raises(InvalidPackage) as refused:
        read_task(folder)
    assert message in str(refused.value)


def test_links_within_the_files_of_a_step_stay(tmp_path: Path) -> None:
    """They are in public tasks, and lead nowhere else."""
    folder = prepared(tmp_path / "t")
    (folder / "steps/two/workdir/same.txt").symlink_to("data/in.txt")
    assert read_task(folder).settings.steps


def test_tests_of_a_step_replace_files_and_no_target_of_links(tmp_path: Path) -> None:
    """The tests that run are those of all with the step's own over them."""
    task = read_task(prepared(tmp_path / "t"))
    seen: dict[str, str] = {}

    class Reading(FakeContainers):
        def verify(self, image: Image, outputs: Outputs, tests: TaskTests, **others: Any) -> Any:
            seen.update({path.name: path.read_text() for path in tests.folder.iterdir()})
            return super().verify(image, outputs, tests, **others)

    (tmp_path / "trial").mkdir()
    TrialRunner(
        agent=NopAgent(),
        containers=Reading(rewards={"reward": 1.0}),
        image=IMAGE,
        now=lambda: datetime.now(UTC),
    ).run(task, AgentTrial(run="r", name="n", folder=tmp_path / "trial"))
    assert "42" in seen["check.sh"]
    assert "reward.txt" in seen["test.sh"]
    assert "first" in (task.folder / "tests/check.sh").read_text()


def test_a_step_collects_what_the_task_collects_and_more(tmp_path: Path) -> None:
    """The task's commands run first; paths of all steps are handed over from step to step."""
    toml = (
        'artifacts = ["/srv/all"]\n[[verifier.collect]]\ncommand = "first"\n'
        '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\nartifacts = ["/srv/two"]\n'
        '[[steps.verifier.collect]]\ncommand = "second"\nuser = "root"\n'
    )
    task = read_task(write(prepared(tmp_path / "t"), {"task.toml": toml}))
    assert task.settings.outputs == ("/srv/all", "/srv/two")
    commands = [
        [one.command for one in task_of_step(task, step).settings.collected]
        for step in task.settings.steps
    ]
    assert commands == [["first"], ["first", "second"]]


SEPARATE = """\
artifacts = ["/app/all"]
[verifier.environment]
memory_mb = 128
[[steps]]
name = "one"
[[steps]]
name = "two"
artifacts = [{ source = "/app/two", exclude = ["*.pyc"] }]
[steps.verifier.environment]
memory_mb = 256
workdir = "/srv"
env = { A = "a" }
[[steps]]
name = "three"
[steps.verifier]
environment_mode = "shared"
"""


def three_steps(place: Path, **files: str) -> Path:
    """Write a task with tests that receive artifacts alone, but for the last step."""
    more = {"steps/three/instruction.md": "Go on.\n", "task.toml": SEPARATE}
    return write(prepared(place / "t"), more | files)


def test_tests_of_a_step_receive_artifacts_alone_where_it_or_its_task_says_so(
    tmp_path: Path,
) -> None:
    """As the reference decides: the step's mode, its environment, then the task's."""
    task = read_task(three_steps(tmp_path))
    one, two, three = (task_of_step(task, step).settings for step in task.settings.steps)
    assert [each.shown for each in (one, two, three)] == [
        ("/app/all", "/logs/artifacts"), ("/app/all", "/app/two", "/logs/artifacts"), None,
    ]  # fmt: skip
    assert [each.verifier_bounds.memory_mb for each in (one, two, three)] == [128, 256, 128]
    assert (two.verifier_workdir, two.verifier_env["A"]) == ("/srv", "a")
    assert two.excluded == (("/app/two", ("*.pyc",)),)
    assert with_overrides(task, Overrides(memory_mb=64)).settings.steps[1].verifier_bounds == (
        replace(two.verifier_bounds, memory_mb=64)
    )


def test_an_image_of_tests_is_that_of_the_step_before_that_of_the_task(tmp_path: Path) -> None:
    """It is built from the folder that has the tests, whose files are all the tests then."""
    own = "FROM localhost/agon-base:1\nCOPY . /tests\n"
    toml = SEPARATE.replace("memory_mb = 128", 'docker_image = "of-the-task"')
    task = read_task(three_steps(tmp_path, **{
        "steps/two/tests/Dockerfile": own, "steps/two/tests/test.sh": "true", "task.toml": toml,
    }))  # fmt: skip
    one, two = (task_of_step(task, step).files for step in task.settings.steps[:2])
    assert (one.verifier, one.verifier_image) == (False, "of-the-task")
    assert (two.verifier, two.verifier_image, two.shared_tests) == (True, "", None)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"tests/Dockerfile": "FROM x\nCOPY . /tests"},
            "t/steps/two/tests: has no Dockerfile, and tests/Dockerfile has the tests of the task",
        ),
        ({"tests/Dockerfile": "FROM x"}, "t/tests/Dockerfile: copies no tests"),
        (
            {"steps/two/tests/Dockerfile": "FROM x", "steps/two/tests/test.sh": "true"},
            "t/steps/two/tests/Dockerfile: copies no tests",
        ),
        (
            {"steps/two/tests/docker-compose.yaml": "services: {}"},
            "install in steps/two/tests/Dockerfile what the tests need",
        ),
        ({"steps/two/tests/Dockerfile": "FROM x\nCOPY . /tests"}, "t/steps/two/tests/test.sh"),
    ],
)
def test_an_image_without_the_tests_of_its_step_is_refused(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    """Elsewhere no trial of such a task has a reward, or other tests run."""
    with pytest.raises(InvalidPackage) as refused:
        read_task(three_steps(tmp_path, **files))
    assert message in str(refused.value)


def test_tests_of_all_steps_are_searched_for_what_they_need(tmp_path: Path) -> None:
    """Downloads and servers are named by file, whether the tests are a step's own or of all."""
    needs = "pip install pytest\ncurl http://localhost:80/\n"
    task = read_task(write(prepared(tmp_path / "t"), {"tests/need.sh": needs}))
    for step in task.settings.steps:
        one = task_of_step(task, step)
        assert downloads(one) == ("../../tests/need.sh, line 1: pip install",)
        assert connections(one) == ("../../tests/need.sh, line 2: localhost:80",)
    assert downloads(task) == ("tests/need.sh, line 1: pip install",)


def test_a_step_elsewhere_is_refused_and_tests_of_another_step_are_not(tmp_path: Path) -> None:
    """A link within the task leads to what its hash covers."""
    folder = prepared(tmp_path / "t")
    (folder / "steps/one/tests").symlink_to("../two/tests")
    assert read_task(folder).settings.steps
    (folder / "steps").rename(tmp_path / "steps")
    (folder / "steps").symlink_to(tmp_path / "steps")
    with pytest.raises(InvalidPackage, match="t/steps/one: is a link that leads out of the task"):
        read_task(folder)
