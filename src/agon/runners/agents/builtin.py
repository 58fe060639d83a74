"""The agents that check whether a task can be accepted: oracle, no action, cheat."""

from collections.abc import Mapping
from pathlib import Path

from agon.app.containers import Mount
from agon.app.tasks.agent_failure import failure_of_run
from agon.app.tasks.agents import AgentEnvironment, AgentWork
from agon.app.tasks.preparation import with_preparation
from agon.app.tasks.task import Task
from agon.runners.agents.scripts import script_command


class OracleAgent:
    """The agent that runs the task's solution, ``solution/solve.sh``, with its folder mounted."""

    name = "oracle"
    settings: Mapping[str, str] = {"kind": "oracle"}

    def missing_for(self, task: Task) -> str:
        """Return that there is no solution, if so."""
        return "" if task.files.solution else "it has no solution/solve.sh for the oracle to run"

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Run the solution."""
        script = task.files.solution
        assert script is not None, "a run checks missing_for() first"  # noqa: S101 - for mypy
        has_folder = script.parent.name == "solution"
        source = script.parent if has_folder else script
        own = task.settings.solution_env
        return _run_script(task, place, script, "/solution", source=source, variables=own)


class NopAgent:
    """The agent that does nothing."""

    name = "nop"
    settings: Mapping[str, str] = {"kind": "nop"}

    def missing_for(self, task: Task) -> str:  # noqa: ARG002 (the protocol's signature)
        """Return an empty text: it can work on every task."""
        return ""

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Start the container and end it."""
        run = place.run(
            with_preparation(task, place.image, ("true",), place.outputs),
            variables=task.settings.agent_env,
        )
        return AgentWork(run=run)


class CheatAgent:
    """The agent that runs the task's cheat, ``tests/cheat.sh``, which tries to pass unsolved."""

    name = "cheat"
    settings: Mapping[str, str] = {"kind": "cheat"}

    def missing_for(self, task: Task) -> str:
        """Return that there is no cheat, if so."""
        return "" if task.files.cheat else "it has no tests/cheat.sh"

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Run the cheat; the other tests are not mounted."""
        script = task.files.cheat
        assert script is not None, "a run checks missing_for() first"  # noqa: S101 - for mypy
        return _run_script(task, place, script, "/cheat", source=script, variables={})


def _run_script(
    task: Task,
    place: AgentEnvironment,
    script: Path,
    inside: str,
    *,
    source: Path,
    variables: Mapping[str, str],
) -> AgentWork:
    """Run a script of the task with its folder, or the script alone, mounted in the container."""
    target = inside if source.is_dir() else f"{inside}/{script.name}"
    run = place.run(
        with_preparation(
            task, place.image, script_command(script, f"{inside}/{script.name}"), place.outputs
        ),
        variables={**task.settings.agent_env, **variables},
        mounts=(Mount(source=source, target=target),),
    )
    return AgentWork(run=run, failure=failure_of_run(run))
