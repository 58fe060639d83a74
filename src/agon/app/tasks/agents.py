"""Define what a run needs of an agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agon.app.containers import AgentRun, AgentTrial, Containers, Image, Limits
from agon.app.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What an agent used, as far as it is known outside the container.

    Attributes:
        steps: commands it ran.
        input_tokens: tokens its model read.
        output_tokens: tokens its model wrote.
        cost_usd: its cost in US dollars; None without a price.
    """

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class AgentWork:
    """An agent's part of a trial.

    Attributes:
        run: the result of its container.
        usage: what it used; None for agents that run inside the container.
        transcript: the file in the trial's folder with its messages and commands, if any.
    """

    run: AgentRun
    usage: Usage | None = None
    transcript: Path | None = None


@dataclass(frozen=True, kw_only=True)
class AgentEnvironment:
    """What an agent works with: engine, image and limits.

    Attributes:
        containers: the container engine.
        image: the image of the task.
        trial: the trial, with the folder of its files.
        limits: the limits of its container.
        outputs: the paths that are handed over when it ends.
    """

    containers: Containers = field(repr=False)
    image: Image
    trial: AgentTrial
    limits: Limits
    outputs: tuple[str, ...] = ("/app",)


class Agent(Protocol):
    """An agent that works on tasks. Its methods are called from several threads."""

    @property
    def name(self) -> str:
        """The name that is shown."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings that identify it; a run stores them. No secrets."""

    def missing_for(self, task: Task) -> str:
        """List the requirements of a task that are not met."""

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Work on a task until done or stopped.

        Raises:
            AgonError: it cannot work for an external reason (its model is unavailable): the trial
                is unscored.
        """
