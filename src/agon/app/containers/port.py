"""State the contract: a place where agents work and tests judge them.

Adapters stand in ``runners.containers``; use cases name only what is written here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from agon.app.containers.values import (
    AgentRun,
    Engine,
    Image,
    ImageSpec,
    Limits,
    Mount,
    Outputs,
    RewardSource,
    Step,
    Trial,
    Verification,
)
from agon.errors import Unreadable


class Shell(Protocol):
    """Let a driver, which thinks outside, act inside an agent's container."""

    def execute(self, command: Sequence[str], *, timeout_s: float) -> Step:
        """Run a command in ``/app`` and wait for it.

        Raises:
            ContainerGone: the container has ended, for whatever reason. A driver
                does not catch it; the agent's result says why.
        """


class ContainerGone(Exception):
    """Say that a container is gone, so that nothing more can be run in it."""


class BuildFailed(Unreadable):
    """Say that an image cannot be built from a task's Dockerfile, with the end of its log."""


@dataclass(frozen=True, kw_only=True)
class CleanupSummary:
    """Count what was removed."""

    containers: int
    images: int


class Containers(Protocol):
    """Run agents and tests in containers. This is the contract; every adapter keeps it.

    *Two containers for each trial.* An agent works in one; when it ends, everything in it is
    killed and only the declared outputs are taken over. The tests run in a fresh one, from the
    same image, where the outputs and ``/tests`` (read-only) have been added. Nothing else passes
    from the first to the second: no process, no file elsewhere, no environment.

    *The wall.* No network, no capabilities, no new privileges, bounded memory without swap,
    bounded processes; everything is read-only but the image's ``writable`` folders and ``/logs``,
    which live in bounded memory and start as the image has them. Neither the engine's socket nor
    any folder of the host's that can be written is inside.

    *Outputs* are plain files, folders, and links that lead nowhere but into the same outputs;
    anything else is left out and listed. They are never unpacked outside a container.

    *Time* is bounded twice: inside (``timeout -k 5 N``) and outside (N + 10 s, then the container
    is removed). A command whose time was up is a ``timeout`` even when it ended well.

    *The verdict.* Exit 0 of the tests passes, under ``reward_source`` ``exit_code``;
    ``reward_file`` asks instead for a number above 0 in ``/logs/verifier/reward.txt`` or
    ``reward.json``, ``both`` for both. The reward counts only when nothing of the tests was still
    running as they ended: what still runs could have written it.

    *Our own fault* (the engine fails, an image is missing, somebody removes the container) is
    ``unscored`` with its cause, after one repetition; never a fail.

    *Nothing remains.* However a command, the engine's client or this process ends, by ``kill -9``
    too, its containers are removed. :meth:`clean` removes what a crash of the machine left.

    *Safe to share.* Methods may be called from several threads, for different trials.
    """

    @property
    def engine(self) -> Engine:
        """Name the engine, as every account records it."""

    def build(self, recipe: ImageSpec) -> Image:
        """Build a task's image, or find it by the hash of its content.

        Raises:
            BuildFailed: the Dockerfile fails or names a missing image, or takes too long.
            Unavailable: the engine does not work.
        """

    def run_agent(
        self,
        image: Image,
        command: Sequence[str],
        *,
        trial: Trial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run an agent that is a command in the container, in ``/app``, and take its outputs.

        Args:
            image: the task's.
            command: program and arguments.
            trial: which one.
            limits: what it may use.
            outputs: absolute paths at or under the image's writable folders.
            mounts: what it sees besides (an agent's own files, an oracle's solution).
            environment: further variables; their values are not recorded.

        Raises:
            InvalidRule: an output, a mount or a variable cannot be what it should.
            Unavailable: the containers are closed.
        """

    def drive_agent(
        self,
        image: Image,
        driver: Callable[[Shell], None],
        *,
        trial: Trial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Let a driver of ours (which may ask a model) act in a container, and take its outputs.

        As :meth:`run_agent`. The driver runs in this thread; what it raises, except
        :class:`ContainerGone`, is raised again when the container has ended. It is called again
        only if it ran no command.
        """

    def verify(
        self,
        image: Image,
        outputs: Outputs,
        tests: Path,
        *,
        trial: Trial,
        limits: Limits,
        reward_source: RewardSource = "exit_code",
        environment: Sequence[tuple[str, str]] = (),
    ) -> Verification:
        """Run ``tests/test.sh`` on an agent's outputs in a fresh container.

        Raises:
            NotFound: there is no ``test.sh``, or the outputs are gone.
            Unavailable: the containers are closed.
        """

    def clean(self, run: str | None = None, *, images: bool = False) -> CleanupSummary:
        """Remove the containers of a run, or of all runs, and on request the images built.

        It removes containers that are running: clean while nothing runs that is wanted.
        """

    def close(self) -> None:
        """Remove this process's containers and temporary files; may be called twice.

        Trials under way end as ``unscored``.
        """

    def __enter__(self) -> Self:
        """Give itself."""

    def __exit__(self, *_: object) -> None:
        """Close."""
