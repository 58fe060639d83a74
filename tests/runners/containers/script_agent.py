"""An agent that is a shell script in the container of a task."""

from agon.app.tasks.agents import AgentEnvironment, AgentWork
from agon.app.tasks.preparation import with_preparation
from agon.app.tasks.task import Task


class Script:
    """An agent that is a shell script."""

    name = "script"

    def __init__(self, script: str) -> None:
        self.settings = {"kind": "script"}
        self._script = script

    def missing_for(self, task: Task) -> str:  # noqa: ARG002 (the protocol's signature)
        """Return an empty text: it can work on every task."""
        return ""

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Run the script."""
        command = with_preparation(
            task, place.image, ("sh", "-c", self._script), outputs=place.outputs
        )
        return AgentWork(run=place.run(command))
