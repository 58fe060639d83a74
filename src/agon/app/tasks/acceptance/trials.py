"""Run the trials of a check: an agent on a task, or the tests again on what it left."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import BoundedSemaphore

from agon.app.containers import AgentTrial, Containers, Image, Outputs, RewardSource
from agon.app.tasks.agents import Agent, AgentEnvironment, AgentWork
from agon.app.tasks.task import Task
from agon.app.tasks.trials import Clock, TrialResult, TrialRunner


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """What the operator allows the trials of all tasks.

    Attributes:
        test_network: the network of tests that download something.
        keep_servers: whether the processes of agents go on while tests run that connect to a
            server.
        probes: whether forged programs and remedies are tried.
    """

    test_network: str = "none"
    keep_servers: bool = False
    probes: bool = True


@dataclass(frozen=True, kw_only=True)
class AcceptanceAgents:
    """The three agents that check a task."""

    oracle: Agent
    nothing: Agent
    cheat: Agent


@dataclass(frozen=True, kw_only=True)
class CheckStep:
    """A trial of a check that has ended.

    Attributes:
        task: the task.
        name: what was tried.
        result: its result.
    """

    task: str
    name: str
    result: TrialResult


class RecordingAgent:
    """An agent that keeps what it left, so that the tests can run again without it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name
        self.settings: Mapping[str, str] = agent.settings
        self.work_done: AgentWork | None = None

    def missing_for(self, task: Task) -> str:
        """List the requirements of a task that are not met."""
        return self._agent.missing_for(task)

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Let the agent work."""
        self.work_done = self._agent.work(task, place)
        return self.work_done


class ReplayAgent:
    """An agent that hands over outputs which exist already; no container runs."""

    settings: Mapping[str, str] = {"kind": "replay"}

    def __init__(self, name: str, work: AgentWork, outputs: Outputs | None = None) -> None:
        """Set what it hands over.

        Args:
            name: its name.
            work: the work that it repeats.
            outputs: other outputs than those of that work.
        """
        self.name = name
        self._work = replace(work, run=replace(work.run, outputs=outputs or work.run.outputs))

    def missing_for(self, task: Task) -> str:  # noqa: ARG002 (the protocol's signature)
        """Return an empty text: what it hands over exists."""
        return ""

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:  # noqa: ARG002
        """Return the earlier work."""
        return self._work


@dataclass(frozen=True, kw_only=True)
class TaskTrials:
    """The trials of one task's check.

    Attributes:
        task: the task.
        image: its image.
        containers: the container engine.
        folder: the folder of their files.
        run: a label of the containers.
        now: returns the time in seconds.
        options: what the operator allows.
        slots: bounds how many trials of all tasks run at a time.
        watch: is called after each trial.
    """

    task: Task
    image: Image
    containers: Containers = field(repr=False)
    folder: Path
    run: str
    now: Clock
    options: TrialOptions
    slots: BoundedSemaphore
    watch: Callable[[CheckStep], None]

    def with_source(self, source: RewardSource) -> "TaskTrials":
        """Return the same with another condition of a pass."""
        return replace(self, task=replace(self.task, reward_source=source))

    def with_limit(self, seconds: float) -> "TaskTrials":
        """Return the same with a shorter time limit of the tests, if theirs is longer."""
        settings = self.task.settings
        bounds = replace(settings.bounds, verifier_s=min(settings.bounds.verifier_s, seconds))
        return replace(self, task=replace(self.task, settings=replace(settings, bounds=bounds)))

    def try_agent(self, name: str, agent: Agent) -> TrialResult:
        """Run a trial in a folder of its own, when a slot is free."""
        folder = self.folder / name
        folder.mkdir()
        trial = AgentTrial(
            run=self.run,
            name=f"{self.task.name}__{name}",
            folder=folder,
            test_network=self.options.test_network,
            keep_servers=self.options.keep_servers,
        )
        with self.slots:
            result = TrialRunner(
                agent=agent, containers=self.containers, image=self.image, now=self.now
            ).run(self.task, trial)
        self.watch(CheckStep(task=self.task.name, name=name, result=result))
        return result

    def logs_of(self, name: str, result: TrialResult) -> Path | None:
        """Return the archive of ``/logs`` that the tests of a trial left; None without one."""
        logs = result.parts.get("verifier", {}).get("logs")
        return self.folder / name / logs if logs else None
