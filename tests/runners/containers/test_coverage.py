"""Tasks that a shared container solves are solved here, or are in the list of exceptions.

The reference runs the solution and then the tests in one container, as the formats' own runners do.
``TEST_ALL_SIZES=1`` runs all tasks; ``docs/methods/task-coverage.md`` has the table.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import AgentTrial, Containers
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.services import build
from agon.app.tasks.task import Task
from agon.app.tasks.trials import TrialRunner
from agon.runners.agents.builtin import NopAgent, OracleAgent
from agon.runners.containers.engine import is_unsettled
from agon.runners.containers.isolation import build_ulimits
from runners.containers.coreutils_image import import_coreutils_image
from runners.containers.coverage_tasks import TASKS, CoverageTask
from sizes import ALL

QUICK = ("verifier image", "words (two files)")
DOCUMENT = Path(__file__).parents[3] / "docs" / "methods" / "task-coverage.md"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TASKS if ALL else QUICK)
def test_what_a_shared_container_solves_is_solved_or_an_exception(
    containers: Containers, tmp_path: Path, name: str
) -> None:
    """The oracle passes in both, or is an exception here; doing nothing passes in neither."""
    task = TASKS[name]
    base = "localhost/agon-base:1" if task.image == "busybox" else import_coreutils_image()
    folder = task.write(tmp_path / name, base)
    solved = reference(folder, task)
    assert (solved(solution=False), solved(solution=True)) == (False, True)
    if task.exception.startswith("refused"):
        with pytest.raises(InvalidPackage):
            read_task(folder)
        return
    agents = (OracleAgent(), NopAgent())
    outcomes = [outcome(read_task(folder), agent, containers, tmp_path) for agent in agents]
    assert outcomes == ["failed" if task.exception else "passed", "failed"]


def test_the_table_of_the_documentation_lists_every_task() -> None:
    """With its class and, where it has one, the reason of the exception."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for task in TASKS.values():
        assert f"| {task.what} |" in text
        assert task.exception in text


def outcome(task: Task, agent: OracleAgent | NopAgent, engine: Containers, folder: Path) -> str:
    """Return the outcome of a trial."""
    place = folder / f"trial of {agent.name}"
    place.mkdir()
    result = TrialRunner(
        agent=agent, containers=engine, image=build(task, engine), now=lambda: datetime.now(UTC)
    ).run(task, AgentTrial(run="coverage", name=place.name, folder=place, keep_servers=True))
    return result.result


def reference(folder: Path, task: CoverageTask) -> Callable[..., bool]:
    """Return a function that says whether a task's tests pass in one shared container."""
    old = task.toml is None
    context = folder if old else folder / "environment"
    image = _built(context)
    tests = folder / "tests"
    verifier = ""
    if (tests / "Dockerfile").exists():
        verifier = _built(tests)

    def solved(*, solution: bool) -> bool:
        with _container(image) as agent, _service(task, image, agent):
            if solution:
                script = folder / ("solution.sh" if old else "solution/solve.sh")
                _podman("cp", str(script), f"{agent}:/solve.sh")
                _podman("exec", agent, "sh", "/solve.sh", check=False)
            if not verifier:
                return _passes(agent, folder, old=old)
            with _container(verifier) as judge:
                _podman("exec", judge, "mkdir", "-p", "/work")
                copied = f"podman cp {agent}:/work/out - | podman cp - {judge}:/work"
                subprocess.run(["sh", "-c", copied], check=False, capture_output=True)
                return _passes(judge, folder, old=old)

    return solved


def _built(context: Path) -> str:
    """Return the id of the image of a Dockerfile; it stays, and is the same the next time."""
    command = ("build", "-q", "--network=none", "--pull=never", *build_ulimits(), str(context))
    built = _podman(*command, check=False)
    if built.returncode and is_unsettled(built.stderr):  # by another test
        built = _podman(*command, "--layers=false", check=False)
    assert not built.returncode, built.stderr
    return built.stdout.strip()


def _passes(container: str, folder: Path, *, old: bool) -> bool:
    """Return whether the tests pass, by their exit code, or by the reward if they write one."""
    _podman("exec", "-u", "0", container, "mkdir", "-p", "/tests", "/logs/verifier")
    if (folder / "tests").is_dir():
        _podman("cp", f"{folder}/tests/.", f"{container}:/tests")
    script = "run-tests.sh" if old else "test.sh"
    if old:
        _podman("cp", str(folder / script), f"{container}:/tests/{script}")
    done = _podman(
        "exec", "-e", "TEST_DIR=/tests", container, "sh", f"/tests/{script}", check=False
    )
    reward = _podman("exec", container, "cat", "/logs/verifier/reward.txt", check=False)
    return done.returncode == 0 and reward.stdout.strip() in {"", "1"}


def _service(task: CoverageTask, image: str, agent: str) -> AbstractContextManager[str]:
    """Return a context with the task's service, in the network of the agent's container."""
    if not task.service:
        return nullcontext("")
    return _container(image, f"--network=container:{agent}", *task.service.split())


@contextmanager
def _container(image: str, network: str = "--network=none", *command: str) -> Iterator[str]:
    """Yield a running container as the formats' own runners start it, without a way out."""
    names = ("--add-host=db:127.0.0.1",) if network == "--network=none" else ()
    name = _podman(
        "run", "-d", network, *names, *build_ulimits(), image, *(command or ("sleep", "300"))
    ).stdout.strip()
    try:
        yield name
    finally:
        _podman("rm", "-f", "--depend", "-t", "0", name, check=False)


def _podman(*arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["podman", *arguments], capture_output=True, text=True, check=check)
