"""Say what an agent is to a run: somebody who works on a task in a container."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agon.app.containers import AgentRun, Containers, Image, Limits, Trial
from agon.app.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Count what an agent used, as far as it can be known from outside.

    Attributes:
        steps: commands it ran.
        input_tokens: tokens its model read.
        output_tokens: tokens its model wrote.
        cost_usd: what that cost; None when nobody told a price.
    """

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class Work:
    """Hold an agent's part of a trial.

    Attributes:
        run: what became of its container.
        usage: what it used; None when it works inside, where nobody counts.
        transcript: the file in the trial's folder with what it said and did, if there is one.
    """

    run: AgentRun
    usage: Usage | None = None
    transcript: Path | None = None


@dataclass(frozen=True, kw_only=True)
class AgentEnvironment:
    """Hold what an agent gets: engine, image, and what it may use.

    Attributes:
        containers: the engine.
        image: the task's.
        trial: which one, and where traces are kept.
        limits: what its container may use.
    """

    containers: Containers = field(repr=False)
    image: Image
    trial: Trial
    limits: Limits


class Agent(Protocol):
    """Work on tasks. Methods may be called from several threads, for different trials."""

    @property
    def name(self) -> str:
        """Name it for people."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Say what makes it this agent and no other; a run keeps it. Never a secret."""

    def lacks(self, task: Task) -> str:
        """Say what keeps it from working on a task at all; empty when nothing does."""

    def work(self, task: Task, place: AgentEnvironment) -> Work:
        """Work on a task until done or ended.

        Raises:
            AgonError: it cannot work for a reason that is not its own (its model is out of reach):
                the trial is unscored.
        """
