"""The port of containers, in which agents work and tests judge them.

Adapters are in ``runners.containers``; use cases depend on this port only.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from agon.app.containers.collection import ServiceCommand, ServicePath
from agon.app.containers.egress import Egress
from agon.app.containers.pass_rule import BY_EXIT_CODE, PassRule
from agon.app.containers.values import (
    AgentRun,
    AgentStep,
    AgentTrial,
    ContainerEngine,
    Image,
    ImageSpec,
    Limits,
    Mount,
    Outputs,
    ServiceSpec,
    TrialVerification,
)
from agon.errors import Unreadable


class Shell(Protocol):
    """Runs the commands of a driver on the host inside an agent's container."""

    def execute(self, command: Sequence[str], *, timeout_s: float) -> AgentStep:
        """Run a command in the working folder and wait for it.

        Raises:
            ContainerGone: the container has ended, for whatever reason. A driver
                does not catch it; the agent's result says why.
        """


class ContainerGone(Exception):
    """The container has ended; no more commands can be run in it."""


class BuildFailed(Unreadable):
    """An image cannot be built from a task's Dockerfile; the message has the end of the log."""


@dataclass(frozen=True, kw_only=True)
class CleanupSummary:
    """Numbers of removed containers and images."""

    containers: int
    images: int


@dataclass(frozen=True, kw_only=True)
class TaskTests:
    """The tests of a task, and how they run.

    Attributes:
        folder: the folder with ``test.sh``.
        pass_rule: what a pass is.
        environment: variables that they get.
        network: the network of their container; ``none``: that of the trial, or none.
    """

    folder: Path
    pass_rule: PassRule = BY_EXIT_CODE
    environment: Sequence[tuple[str, str]] = ()
    network: str = "none"


class Containers(Protocol):
    """Runs agents and tests in containers. Every adapter implements this contract.

    *Two containers for each trial.* An agent works in one; when it ends, everything in it is
    killed and only the declared outputs are copied. The tests run in a fresh one, from the
    same image, where the outputs and ``/tests`` (read-only) have been added. Nothing else passes
    from the first to the second: no process, no file elsewhere, no environment.

    *Isolation.* No network, no capabilities, no new privileges, bounded memory without swap,
    bounded processes; everything is read-only but the image's ``writable`` folders and ``/logs``,
    which are in bounded memory and start as the image has them. Neither the engine's socket nor
    any writable folder of the host is inside.

    *Outputs* are plain files, folders, and links that stay within the same outputs; anything else
    is rejected and listed. They are never unpacked outside a container.

    *Time* is bounded twice: inside (SIGTERM after N s, SIGKILL 5 s later) and outside (N + 10 s,
    then the container is removed). A command that used up its time is a ``timeout`` even when it
    exited with 0.

    *The verdict.* Exit 0 of the tests passes, under ``reward_source`` ``exit_code``;
    ``reward_file`` asks instead for a number in ``/logs/verifier/reward.txt`` or ``reward.json``
    that passes by the rule (:class:`PassRule`; 1 or more), ``both`` for both.
    The reward counts only if the tests can have written it and nothing after them: no process of
    theirs was still running when they ended, no signal ended them, and the reward and its folder
    are plain and writable.

    *Internal errors* (the engine fails, an image is missing, the container is removed) are
    ``unscored`` with the cause, after one retry; never a fail.

    *Nothing remains.* However a command, the engine's client or this process ends, also by
    ``kill -9``, its containers are removed, and after a crash of the machine by the next process.

    *Thread-safe.* Methods may be called from several threads, for different trials.
    """

    @property
    def engine(self) -> ContainerEngine:
        """The engine, as every result records it."""

    @property
    def build_network(self) -> str:
        """The network of builds; ``none``: they have none."""

    def build(self, recipe: ImageSpec) -> Image:
        """Return a task's image, built or cached by the hash of its content.

        Raises:
            BuildFailed: the Dockerfile fails or names a missing image, or takes too long.
            Unavailable: the engine does not work.
        """

    def require_egress(self, egress: Egress) -> None:
        """Require what lets agents reach hosts, before a run begins.

        Raises:
            Unavailable: the proxy is not installed, or the engine cannot do this.
        """

    def open_network(
        self,
        image: Image,
        *,
        trial: AgentTrial,
        services: Sequence[ServiceSpec] = (),
        main: str = "",
    ) -> AbstractContextManager[AgentTrial]:
        """Return a context that yields the trial with a network of its own, which leads nowhere.

        All containers of the trial have this network, and nothing else in common. With
        :attr:`Trial.servers_s` the processes that the agent leaves go on until the end of the
        context, so that the tests can connect to them. They can answer everything that the tests
        connect to in the network, also in the place of servers that the tests start.

        With :attr:`Trial.egress` the network leads to listed hosts or to everything, until
        :meth:`close_egress`.

        Args:
            image: the image of the task.
            trial: the trial.
            services: containers that run in it until the end, in the order of their start.
            main: the name by which they know the containers of agent and tests.

        Raises:
            Unavailable: the engine fails, or cannot do this; a service does not work.
        """

    def close_egress(self, trial: AgentTrial) -> None:
        """Cut a trial's network off from everything outside, once its agent has ended.

        Requests through the proxy are in ``network.log`` in the trial's folder.

        Raises:
            Unavailable: the proxy had ended, or the engine fails.
        """

    def collect(
        self,
        outputs: Outputs,
        *,
        trial: AgentTrial,
        limits: Limits,
        commands: Sequence[ServiceCommand] = (),
        paths: Sequence[ServicePath] = (),
    ) -> Outputs:
        """Run commands in the services of a trial, and return the outputs with what those have.

        It is taken from the services' own containers, within the context of :meth:`open_network`.

        Args:
            outputs: what the agent left, without the paths of services (:attr:`Trial.reserved`).
            trial: the trial.
            limits: limits of what each service hands over.
            commands: what runs in services before; a failure ends nothing.
            paths: what is taken; what is missing is in ``left_out``.

        Raises:
            Unavailable: a service has ended, or hands over more than the limits.
        """

    def select(
        self,
        outputs: Outputs,
        paths: Sequence[str],
        *,
        excluded: Sequence[tuple[str, tuple[str, ...]]] = (),
        folder: Path,
    ) -> Outputs:
        """Return a part of an agent's outputs, in an archive of its own.

        Args:
            outputs: what the agent left.
            paths: what is taken of it; what is missing is in ``left_out``.
            excluded: folders, each with the patterns of what is left out below it.
            folder: an existing folder for the archive, ``selected.tar``.
        """

    def run_agent(
        self,
        image: Image,
        command: Sequence[str],
        *,
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run an agent that is a command in the working folder, and return its outputs.

        Args:
            image: the image of the task.
            command: program and arguments.
            trial: the trial.
            limits: its limits.
            outputs: absolute paths at or under the image's writable folders.
            mounts: further files that it sees (an agent's own files, an oracle's solution).
            environment: further variables; their values are not recorded.

        Raises:
            InvalidRule: an output, a mount or a variable is invalid.
            Unavailable: the containers are closed.
        """

    def drive_agent(
        self,
        image: Image,
        driver: Callable[[Shell], None],
        *,
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run a driver on the host (which may call a model) and return the outputs.

        As :meth:`run_agent`. The driver runs in this thread; what it raises, except
        :class:`ContainerGone`, is raised again when the container has ended. It is called again
        only if it ran no command.
        """

    def verify(
        self,
        image: Image,
        outputs: Outputs,
        tests: TaskTests,
        *,
        trial: AgentTrial,
        limits: Limits,
    ) -> TrialVerification:
        """Run ``test.sh`` on an agent's outputs in a fresh container.

        With a network the image's system is writable too, since tests that download install. An
        image that has the tests (:attr:`Image.has_tests`) keeps its own ``/tests``, which a mount
        would hide; the folder says only which interpreter ``test.sh`` names.

        Raises:
            NotFound: there is no ``test.sh``, or the outputs do not exist.
            Unavailable: the containers are closed.
        """

    def clean(self, run: str | None = None, *, images: bool = False) -> CleanupSummary:
        """Remove the containers of a run, or of all runs, and on request the images built.

        Running containers are removed as well.
        """

    def close(self) -> None:
        """Remove this process's containers and temporary files; may be called twice.

        Running trials end as ``unscored``.
        """

    def __enter__(self) -> Self:
        """Return self."""

    def __exit__(self, *_: object) -> None:
        """Close."""
