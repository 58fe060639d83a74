"""Name what goes into a container and what comes out: images, trials, outputs, accounts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agon.errors import InvalidRule

Outcome: TypeAlias = Literal["passed", "failed", "timeout", "unscored"]
"""How a trial ends; ``unscored`` alone is our fault: no score, never 0, and worth a repetition."""

AgentOutcome: TypeAlias = Literal["finished", "failed", "timeout", "unscored"]
"""How an agent's part ends; only ``finished`` leaves outputs that can be verified."""

RewardSource: TypeAlias = Literal["exit_code", "reward_file", "both"]
"""What makes a pass (rule ``reward_source`` of the challenge)."""

Limit: TypeAlias = Literal["time", "memory", "processes", "storage", "output"]
"""A limit that a container reached."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bound one container (``challenge.md``, Running tasks: ``task.toml`` gives the values).

    Attributes:
        timeout_s: seconds the command has; it is ended then, and killed 5 s later.
        memory_mib: memory of all processes and of all files written, in MiB; there is no swap.
        storage_mib: size of each writable folder, in MiB. Files live in memory, so
            ``memory_mib`` bounds them too.
        cpus: processors' worth of time; none: as many as there are.
        processes: processes and threads at a time.
        files: entries (files, folders, links) in what is handed over.
        output_kib: how much of each of stdout and stderr is kept, in KiB. Whoever prints 64 times
            as much is ended.

    Raises:
        InvalidRule: when a limit is out of its bounds.
    """

    timeout_s: float = 600.0
    memory_mib: int = 2048
    storage_mib: int = 1024
    cpus: float | None = None
    processes: int = 256
    files: int = 100_000
    output_kib: int = 1024

    def __post_init__(self) -> None:
        bounds = {
            "timeout_s": (0.1, 7 * 86_400),
            "memory_mib": (16, 1 << 24),
            "storage_mib": (1, 1 << 24),
            "cpus": (0.01, 4096),
            "processes": (8, 1 << 22),
            "files": (1, 10_000_000),
            "output_kib": (1, 1 << 20),
        }
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InvalidRule(f"{name} is {value}; give {low:,} to {high:,}")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Name the engine that ran a container, as every record keeps it.

    Attributes:
        name: ``podman`` or ``docker``.
        version: the client's.
        runtime: what starts the container (``runc``, ``crun``, ``runsc``); empty: the default.
        cgroups: ``v1`` or ``v2``.
        limits_cpus: whether ``cpus`` binds here; otherwise it is recorded as not applied.
    """

    name: str
    version: str
    runtime: str
    cgroups: str
    limits_cpus: bool


@dataclass(frozen=True, kw_only=True)
class ImageSpec:
    """Say how a task's image comes about: from a Dockerfile, or from an image that is there.

    Attributes:
        context: the folder with the ``Dockerfile``; or None.
        image: an image in the engine's storage, used instead of a context; nothing is pulled.
        timeout_s: seconds the build may take.
        memory_mib: memory of the build.
        writable: absolute folders that can be written besides ``/app``, ``/home``, ``/root``,
            ``/run``, ``/tmp``, ``/var/tmp`` and the image's volumes.
    """

    context: Path | None = None
    image: str = ""
    timeout_s: float = 600.0
    memory_mib: int = 4096
    writable: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Image:
    """Hold an image that is ready to run.

    Attributes:
        reference: the engine's id of it, which names this content for ever.
        content: SHA-256 over the build context and the images it stands on: the cache's key.
        user: whom its commands run as; empty: root.
        writable: the folders that are writable in its containers; all else is read-only.
        cached: whether it was there already.
        seconds: how long building took.
    """

    reference: str
    content: str
    user: str
    writable: tuple[str, ...]
    cached: bool
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Name one trial of one task and say where its traces are kept.

    Attributes:
        run: the run it belongs to; a label of every container, by which :meth:`Containers.clean`
            finds them.
        name: its name within the run; a label too.
        folder: an existing folder; ``agent`` and ``verifier`` are made in it, with
            ``stdout.txt``, ``stderr.txt``, ``outputs.tar`` and ``logs.tar``.
    """

    run: str
    name: str
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Mount:
    """Show a folder or file of ours to a container, read-only.

    It is copied when first used, with permissions for everybody, so that it neither changes
    under a run nor depends on who owns it.
    """

    source: Path
    target: str


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Tell what became of stdout or stderr: ``kept`` of ``total`` bytes stand in the file."""

    path: Path
    kept: int
    total: int


@dataclass(frozen=True, kw_only=True)
class ContainerResult:
    """Record what became of one container: facts to store, never to be computed again.

    Attributes:
        exit_code: the command's; None when it did not come to an end by itself.
        started_at: when the engine was asked, in seconds since 1970 (UTC).
        wall_ms: from asking the engine until the container was gone.
        command_ms: from the command's start to its end, by the container's own clock.
        limits_hit: the limits that were reached, whatever the outcome.
        stdout: what the command printed.
        stderr: the same of stderr.
        flags: the engine's arguments before the image: the isolation_flags, word for word.
        engine: which engine.
        attempts: how often it was tried before this was the account: 1 or 2.
    """

    exit_code: int | None
    started_at: float
    wall_ms: float
    command_ms: float
    limits_hit: tuple[Limit, ...]
    stdout: Stream
    stderr: Stream
    flags: tuple[str, ...] = field(repr=False)
    engine: Engine
    attempts: int


@dataclass(frozen=True, kw_only=True)
class RejectedEntry:
    """Name something that an agent left and nobody takes over, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Hold what an agent hands over: a tar file of plain files, folders and links among them.

    The files in it never become files of ours: only containers unpack it.

    Attributes:
        path: the tar file, in the trial's folder.
        declared: the absolute paths that were handed over.
        files: entries in it.
        size: bytes of all files in it.
        sha256: of the tar file.
        left_out: the first of what was not taken over: devices, pipes, links that lead out, …
        left_out_total: how many there were.
    """

    path: Path
    declared: tuple[str, ...]
    files: int
    size: int
    sha256: str
    left_out: tuple[RejectedEntry, ...]
    left_out_total: int


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """Record an agent's part of a trial.

    Attributes:
        outcome: how it ended. An exit code other than 0 is ``finished`` too: the tests decide.
        reason: one line for people, printable; empty when there is nothing to say.
        account: the container's.
        outputs: what it left; None unless the outcome is ``finished``.
    """

    outcome: AgentOutcome
    reason: str
    account: ContainerResult
    outputs: Outputs | None


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Record the verdict of a task's tests on an agent's outputs.

    Attributes:
        outcome: the verdict.
        reason: one line for people, printable; empty for a plain pass.
        reward: the number in the reward file; None when there was none to read.
        account: the container's.
        logs: a tar file of what stood in ``/logs``, in the trial's folder; None when it was lost.
    """

    outcome: Outcome
    reason: str
    reward: float | None
    account: ContainerResult
    logs: Path | None


@dataclass(frozen=True, kw_only=True)
class Step:
    """Record one command that a driver ran in an agent's container.

    Attributes:
        exit_code: the command's; 124, 137 or 143 when its time was up.
        stdout: the first bytes it printed (``Limits.output_kib``).
        stderr: the same of stderr.
        timed_out: whether its time was up.
        truncated: whether more was printed than is here.
    """

    exit_code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    timed_out: bool
    truncated: bool
