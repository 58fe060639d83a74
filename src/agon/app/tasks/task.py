"""Define a task: an instruction, an environment to build, tests, and the limits of a trial."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agon.app.containers import Condition, HealthCheck, RewardSource
from agon.app.containers.collection import ServicePath
from agon.app.containers.pass_rule import BY_EXIT_CODE, PassRule
from agon.app.tasks.steps import Strategy

Flavour: TypeAlias = Literal["harbor", "terminal-bench-1"]
"""The layout of a folder: ``task.toml`` with ``instruction.md``, or ``task.yaml``."""


@dataclass(frozen=True, kw_only=True)
class TaskLimits:
    """The limits of a trial (``challenge.md``, Running tasks: the times are its defaults).

    Attributes:
        agent_s: seconds the agent may work.
        verifier_s: seconds the tests may take.
        build_s: seconds the image may take to build.
        cpus: processors.
        memory_mb: memory in MiB; there is no swap.
        storage_mb: MiB that may be written to each writable folder.
    """

    agent_s: float = 600.0
    verifier_s: float = 300.0
    build_s: float = 600.0
    cpus: float = 1.0
    memory_mb: int = 2048
    storage_mb: int = 10240


@dataclass(frozen=True, kw_only=True)
class TaskMetadata:
    """A task's metadata; it does not change a result."""

    difficulty: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CollectCommand:
    """A command that runs in the agent's container after the agent, before its outputs are taken.

    Attributes:
        command: a line for the shell.
        timeout_s: its seconds.
        user: the user that it runs as; empty: the image's.
        service: the service in whose container it runs; empty: the agent's.
    """

    command: str
    timeout_s: float = 60.0
    user: str = ""
    service: str = ""


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """A row of ``[[steps]]``; what it does not say is as in the whole task.

    Attributes:
        name: its folder in ``steps``.
        agent_s: seconds of the agent; None: as the task.
        agent_user: the user that its agent changes to; empty: as the task.
        verifier_s: seconds of the tests; None: as the task.
        verifier_user: the user that runs the tests; empty: as the task.
        verifier_env: further variables of the tests.
        min_reward: the least reward by key with which the trial goes on.
        health: what must work before its agent begins, besides the task's own check.
        outputs: the paths of the agent's container that the task and the step declare.
        service_outputs: the paths of services that they declare.
        excluded: folders of ``outputs``, each with the patterns of what is left out below it.
        collected: what runs after its agent, besides what the task collects.
        separate: whether its tests receive ``outputs`` alone; None: as the task says.
        verifier_image: the image of its tests; empty: as the task.
        verifier_bounds: the limits of its tests' container; None: as the task.
        verifier_workdir: the folder in which its tests begin, where it has such limits.
    """

    name: str
    agent_s: float | None = None
    agent_user: str = ""
    verifier_s: float | None = None
    verifier_user: str = ""
    verifier_env: tuple[tuple[str, str], ...] = ()
    min_reward: tuple[tuple[str, float], ...] = ()
    health: HealthCheck | None = None
    outputs: tuple[str, ...] = ()
    service_outputs: tuple[ServicePath, ...] = ()
    excluded: tuple[tuple[str, tuple[str, ...]], ...] = ()
    collected: tuple[CollectCommand, ...] = ()
    separate: bool | None = None
    verifier_image: str = ""
    verifier_bounds: TaskLimits | None = None
    verifier_workdir: str = ""


@dataclass(frozen=True, kw_only=True)
class TaskSettings:
    """The settings file of a task, of either layout.

    Attributes:
        bounds: the limits of a trial.
        outputs: the declared paths of the agent's container that the verifier receives.
        service_outputs: the declared paths of services that the verifier receives.
        excluded: folders of ``outputs``, each with the patterns of what is left out below it.
        separate: whether it receives nothing else; otherwise the image's folders as well.
        reward_source: what counts as a pass; None when the file does not say.
        pass_rule: what reward is a pass.
        image: the image to use when there is no Dockerfile; empty when it names none.
        verifier_image: the image of the verifier; empty when it names none.
        agent_env: variables of the agent's container.
        verifier_env: variables of the verifier's container.
        solution_env: further variables of the oracle.
        templates: the variables whose values name others, which an operator hands in
            (:mod:`agon.app.tasks.formats.variables`).
        agent_user: the user that agents change to; empty: the image's.
        verifier_user: the user that runs the tests; empty: the image's.
        workdir: the folder in which agent and tests begin; empty: the image's.
        verifier_bounds: the limits of the tests' container; its times are those of ``bounds``.
        verifier_workdir: the folder in which the tests begin; empty: that of the agent.
        preparation: what runs in the agent's container before the agent, until it works.
        step_preparation: the same of a step, after it, as the step's agent.
        is_step: whether it is one of a task's steps.
        users_of_steps: the users that agents of any of a task's steps change to.
        shown: what the tests of a step receive of its outputs, all of which the next step begins
            with; None: all of them.
        steps: the steps; empty: the task is one.
        strategy: how the rewards of steps become those of a trial.
        collected: what runs there after the agent.
        keys: the keys of the file, with the tables they are in.
        keep_servers: whether the processes that the agent leaves go on while the tests run; None
            when the file does not say.
        allowed_hosts: the hosts that its agents need, for an operator who allows them.
        about: difficulty, category, tags.
        extra: other keys, unchanged.
        notes: warnings.
    """

    bounds: TaskLimits = TaskLimits()
    outputs: tuple[str, ...] = ()
    service_outputs: tuple[ServicePath, ...] = ()
    excluded: tuple[tuple[str, tuple[str, ...]], ...] = ()
    separate: bool = False
    reward_source: RewardSource | None = None
    pass_rule: PassRule = BY_EXIT_CODE
    image: str = ""
    verifier_image: str = ""
    agent_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    verifier_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    solution_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    templates: frozenset[str] = frozenset()
    agent_user: str = ""
    verifier_user: str = ""
    workdir: str = ""
    verifier_bounds: TaskLimits = TaskLimits()
    verifier_workdir: str = ""
    preparation: HealthCheck | None = None
    step_preparation: HealthCheck | None = None
    is_step: bool = False
    users_of_steps: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None
    steps: tuple[StepSettings, ...] = ()
    strategy: Strategy = "mean"
    collected: tuple[CollectCommand, ...] = ()
    keys: tuple[str, ...] = ()
    keep_servers: bool | None = None
    allowed_hosts: tuple[str, ...] = ()
    about: TaskMetadata = TaskMetadata()
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def services_collected(self) -> frozenset[str]:
        """The services that collecting names, also that of steps."""
        parts: tuple[TaskSettings | StepSettings, ...] = (self, *self.steps)
        return frozenset(
            {place.service for part in parts for place in part.service_outputs}
            | {one.service for part in parts for one in part.collected if one.service}
        )


@dataclass(frozen=True, kw_only=True)
class TaskService:
    """A further service of a task's compose file.

    Attributes:
        name: its name; the others know it by that.
        context: the folder that it is built from; None when an image is named.
        dockerfile: the name of its Dockerfile there.
        image: the name of its image; empty when it is built.
        entrypoint: what replaces the image's entrypoint; None: nothing.
        command: what replaces the image's command; None: nothing.
        workdir: its working folder; empty: the image's.
        environment: its variables.
        templates: those whose values name others, which an operator hands in.
        aliases: further names.
        depends_on: the services that it starts after, and their conditions.
        health: how to see that it works; None: nothing says so.
        folders: its volumes by name, with their folders; empty names are not shared.
        ports: the ports that it says to listen on.
    """

    name: str
    context: Path | None
    dockerfile: str = "Dockerfile"
    image: str = ""
    entrypoint: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None
    workdir: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    templates: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    depends_on: tuple[tuple[str, Condition], ...] = ()
    health: HealthCheck | None = None
    folders: tuple[tuple[str, str], ...] = ()
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Files:
    """The paths of a task's parts.

    Attributes:
        context: the folder with the Dockerfile that the image is built from; None when an image
            is named.
        dockerfile: the name of that Dockerfile.
        image: the name of that image; empty when there is a Dockerfile.
        tests: the folder the verifier sees as ``/tests``.
        shared_tests: a folder whose files it sees there as well, where ``tests`` has no such file;
            None: there is none.
        environment: the folder whose files are brought into the working folder of a named image;
            None: there is none.
        workdir: the folder whose files a step brings there; None: there is none.
        verifier: whether the verifier's image is built from that folder.
        verifier_image: the name of the verifier's image; empty: built, or the agent's.
        script: the test script, if it is not ``test.sh`` in ``tests``.
        solution: the script of the oracle; None when there is none.
        cheat: a script that tries to pass without solving; None when there is none.
        services: further services that run in each trial, in the order of their start.
        main: the name by which they know the agent's container.
    """

    context: Path | None
    dockerfile: str = "Dockerfile"
    image: str = ""
    tests: Path
    shared_tests: Path | None = None
    environment: Path | None = None
    workdir: Path | None = None
    verifier: bool = False
    verifier_image: str = ""
    script: Path | None = None
    solution: Path | None = None
    cheat: Path | None = None
    services: tuple[TaskService, ...] = ()
    main: str = ""

    @property
    def of_tests(self) -> tuple[Path, ...]:
        """The folders of the tests, each laid over those before."""
        return (*filter(None, (self.shared_tests,)), self.tests)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A valid task.

    Attributes:
        name: the folder's name.
        folder: where it is.
        flavour: its layout.
        instruction: what the agent is asked to do.
        files: the paths of its parts.
        settings: the settings file.
        reward_source: what counts as a pass.
        sha256: hash over all of the folder's files.
    """

    name: str
    folder: Path
    flavour: Flavour
    instruction: str = field(repr=False)
    files: Files
    settings: TaskSettings
    reward_source: RewardSource
    sha256: str

    def with_pass_rule(self, *, threshold: float | None, key: str | None) -> "Task":
        """Return the task with another threshold or key of its rewards; None: what it says."""
        rule = self.settings.pass_rule
        if threshold is not None:
            rule = replace(rule, threshold=threshold)
        if key is not None:
            rule = replace(rule, key=key)
        return replace(self, settings=replace(self.settings, pass_rule=rule))
