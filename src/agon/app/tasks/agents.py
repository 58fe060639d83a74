"""Define what a run needs of an agent."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from agon.app.containers import AgentRun, AgentTrial, Containers, Image, Limits, Mount, Shell
from agon.app.tasks.agent_failure import AgentFailure
from agon.app.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What an agent used, as far as it is known outside the container.

    Attributes:
        steps: commands it ran.
        input_tokens: tokens its model read.
        output_tokens: tokens its model wrote.
        cost_usd: its cost in US dollars; None without a price.
        cached_tokens: how many of the tokens it read were in the endpoint's cache.
        source: ``endpoint``: what the model's server reported; ``trajectory``: what the agent
            itself wrote.
    """

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    cached_tokens: int = 0
    source: Literal["endpoint", "trajectory"] = "endpoint"

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both; its cost is None only if both are.

        Example:
            >>> Usage(steps=1, cost_usd=0.5).plus(Usage(steps=2)).cost_usd
            0.5
        """
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return replace(
            self,
            steps=self.steps + other.steps,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=math.fsum(costs) if costs else None,
        )


@dataclass(frozen=True, kw_only=True)
class AgentWork:
    """An agent's part of a trial.

    Attributes:
        run: the result of its container.
        usage: what it used; None for agents that run inside the container.
        transcript: the file in the trial's folder with its messages and commands, if any.
        setup_s: seconds of its set-up, which are no part of its time.
        logs: files in the trial's folder with what set-up and command printed, if the container's
            own streams do not have it.
        notes: what was ignored, such as a file that is no trajectory.
        failure: how its own command failed; None: it did not, or it has none.
    """

    run: AgentRun
    usage: Usage | None = None
    transcript: Path | None = None
    setup_s: float = 0.0
    logs: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    failure: AgentFailure | None = None


@dataclass(frozen=True, kw_only=True)
class AgentEnvironment:
    """What an agent works with: engine, image and limits.

    Attributes:
        containers: the container engine.
        image: the image of the task.
        trial: the trial, with the folder of its files.
        limits: the limits of its container.
        outputs: the paths that are handed over when it ends.
        end: returns why no model may be called, where a limit of its run is reached; empty: it may.
        count: takes what each call of a model from the host used, and returns the same.
    """

    containers: Containers = field(repr=False)
    image: Image
    trial: AgentTrial
    limits: Limits
    outputs: tuple[str, ...] = ("/app",)
    end: Callable[[], str] = field(default=lambda: "", repr=False)
    count: Callable[[Usage], str] = field(default=lambda _: "", repr=False)

    def run(
        self,
        command: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        mounts: Sequence[Mount] = (),
    ) -> AgentRun:
        """Run an agent that is a command; see :meth:`Containers.run_agent`."""
        return self.containers.run_agent(
            self.image,
            command,
            trial=self.trial,
            limits=self.limits,
            outputs=self.outputs,
            mounts=mounts,
            environment=tuple((variables or {}).items()),
        )

    def drive(
        self,
        driver: Callable[[Shell], None],
        *,
        variables: Mapping[str, str] | None = None,
        mounts: Sequence[Mount] = (),
        further_s: float = 0,
    ) -> AgentRun:
        """Run a driver that acts in the container; see :meth:`Containers.drive_agent`.

        Args:
            driver: what acts.
            variables: further variables of the container.
            mounts: further files that it sees.
            further_s: seconds that the container has beyond those of its limits.
        """
        return self.containers.drive_agent(
            self.image,
            driver,
            trial=self.trial,
            limits=replace(self.limits, timeout_s=self.limits.timeout_s + further_s),
            outputs=self.outputs,
            mounts=mounts,
            environment=tuple((variables or {}).items()),
        )


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
