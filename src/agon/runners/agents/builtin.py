"""Know the answer, or do nothing: the two agents by which a task is accepted."""

from collections.abc import Mapping
from pathlib import Path

from agon.app.containers import Mount
from agon.app.tasks.agents import AgentEnvironment, Work
from agon.app.tasks.task import Task
from agon.runners.agents.scripts import interpreted


class OracleAgent:
    """Run the task's own solution: ``solution/solve.sh``, with its folder at ``/solution``."""

    name = "oracle"
    settings: Mapping[str, str] = {"kind": "oracle"}

    def lacks(self, task: Task) -> str:
        """Say that there is no solution, if so."""
        return "" if task.files.solution else "it has no solution/solve.sh for the oracle to run"

    def work(self, task: Task, place: AgentEnvironment) -> Work:
        """Run the solution."""
        script = task.files.solution
        assert script is not None, "a run asks lacks() first"  # noqa: S101 - tells mypy
        whole = script.parent.name == "solution"
        return _ran(task, place, script, "/solution", source=script.parent if whole else script)


class NopAgent:
    """Do nothing at all."""

    name = "nop"
    settings: Mapping[str, str] = {"kind": "nop"}

    def lacks(self, task: Task) -> str:  # noqa: ARG002 (the protocol's signature)
        """Say nothing: it can always do nothing."""
        return ""

    def work(self, task: Task, place: AgentEnvironment) -> Work:
        """Start the container and end."""
        run = place.containers.run_agent(
            place.image,
            ("true",),
            trial=place.trial,
            limits=place.limits,
            outputs=task.settings.outputs,
            environment=tuple(task.settings.agent_env.items()),
        )
        return Work(run=run)


class CheatAgent:
    """Run the task's own cheat, ``tests/cheat.sh``: it tries to pass without solving."""

    name = "cheat"
    settings: Mapping[str, str] = {"kind": "cheat"}

    def lacks(self, task: Task) -> str:
        """Say that there is no cheat, if so."""
        return "" if task.files.cheat else "it has no tests/cheat.sh"

    def work(self, task: Task, place: AgentEnvironment) -> Work:
        """Run the cheat, which sees none of the other tests."""
        script = task.files.cheat
        assert script is not None, "a run asks lacks() first"  # noqa: S101 - tells mypy
        return _ran(task, place, script, "/cheat", source=script)


def _ran(task: Task, place: AgentEnvironment, script: Path, inside: str, *, source: Path) -> Work:
    """Run a script of the task's with its folder, or itself alone, shown in the container."""
    target = inside if source.is_dir() else f"{inside}/{script.name}"
    run = place.containers.run_agent(
        place.image,
        interpreted(script, f"{inside}/{script.name}"),
        trial=place.trial,
        limits=place.limits,
        outputs=task.settings.outputs,
        mounts=(Mount(source=source, target=target),),
        environment=tuple(task.settings.agent_env.items()),
    )
    return Work(run=run)
