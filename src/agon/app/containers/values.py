"""Inputs and outputs of containers: images, limits, trials, outputs, results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from agon.app.containers.egress import NOTHING, Egress
from agon.errors import InvalidRule

Outcome: TypeAlias = Literal["passed", "failed", "timeout", "unscored"]
"""The outcome of a trial; only ``unscored`` is an internal error: no score, never 0, retried."""

AgentOutcome: TypeAlias = Literal["finished", "failed", "timeout", "unscored"]
"""The outcome of an agent's part; only ``finished`` has outputs that can be verified."""

AgentTimeout: TypeAlias = Literal["fail", "verify"]
"""What an agent's time-out means: the trial fails, or its tests judge what the agent left."""

RewardSource: TypeAlias = Literal["exit_code", "reward_file", "both"]
"""What counts as a pass (rule ``reward_source`` of the challenge)."""

Condition: TypeAlias = Literal["started", "healthy", "completed"]
"""What a service waits for: another has begun, its health check passes, it ended with 0."""

Limit: TypeAlias = Literal["time", "memory", "processes", "storage", "output"]
"""A limit that a container reached."""


AGENT_LOGS: Final = ("/logs/agent", "/logs/artifacts")
"""Folders that every agent may write besides its outputs; the tests receive them as well."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one container (``challenge.md``, Running tasks: values from ``task.toml``).

    Attributes:
        timeout_s: seconds of the command; it is terminated then, and killed 5 s later.
        memory_mib: memory of all processes and of all written files, in MiB; there is no swap.
        storage_mib: size of each writable folder, in MiB. Files are in memory, so
            ``memory_mib`` limits them too.
        cpus: number of CPUs; None: all.
        processes: number of processes and threads at a time.
        files: entries (files, folders, links) of the outputs.
        output_kib: how much of each of stdout and stderr is stored, in KiB. A command that prints
            64 times as much is stopped.

    Raises:
        InvalidRule: a limit is out of its bounds.
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
class ContainerEngine:
    """The engine that ran a container, as every record stores it.

    Attributes:
        name: ``podman`` or ``docker``.
        version: the version of the client.
        runtime: what starts the container (``runc``, ``crun``, ``runsc``); empty: the default.
        cgroups: ``v1`` or ``v2``.
        limits_cpus: whether ``cpus`` has an effect here; otherwise it is recorded as not applied.
        ptrace_scope: ``kernel.yama.ptrace_scope`` of this machine: from 1 on, a process may attach
            to its descendants only; None: the kernel has no Yama.
    """

    name: str
    version: str
    runtime: str
    cgroups: str
    limits_cpus: bool
    ptrace_scope: int | None = None


@dataclass(frozen=True, kw_only=True)
class ImageSpec:
    """How a task's image is made: from a Dockerfile, or from an existing image.

    Attributes:
        context: the folder with the ``Dockerfile``; or None.
        image: an image in the engine's storage, used instead of a context; nothing is pulled.
        timeout_s: seconds the build may take.
        memory_mib: memory of the build.
        writable: absolute folders that can be written besides :attr:`Image.writable`'s usual ones.
        optional: the same, ignored where an image's system is; others are created.
    """

    context: Path | None = None
    image: str = ""
    timeout_s: float = 600.0
    memory_mib: int = 4096
    writable: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image that is ready to run.

    Attributes:
        reference: the engine's id of it, which identifies this content permanently.
        content: SHA-256 of the build context and its base images: the key of the cache.
        user: the user that its commands run as; empty: root.
        writable: the folders that are writable in its containers: its working folder, home
            folders, volumes, temporary folders, and all others that are not of the system.
        workdir: the folder that commands run in (``WORKDIR``; ``/app`` where it is the root).
        outputs: the folders that the tests receive unless a task declares others.
        home: the home folder of its user.
        cached: whether it existed already.
        seconds: the time of the build.
        environment: the variables that it sets.
        entrypoint: its entrypoint, which only services run.
        command: its command, likewise.
        ports: the ports that it says to listen on.
        has_tests: whether its own ``/tests`` are those that judge, with what it built of them.
        tests_reference: the id of the same image with programs that can be run but not read, in
            which tests run; empty: there is none.
    """

    reference: str
    content: str
    user: str
    writable: tuple[str, ...]
    cached: bool
    seconds: float
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    workdir: str = "/app"
    outputs: tuple[str, ...] = ("/app",)
    home: str = "/root"
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    tests_reference: str = ""
    has_tests: bool = False


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    """How to see that a service works.

    Attributes:
        command: what is run in its container; 0 says that it works.
        interval_s: seconds between two attempts.
        timeout_s: seconds of one attempt.
        patience_s: seconds after which it does not work.
    """

    command: tuple[str, ...]
    interval_s: float = 30.0
    timeout_s: float = 30.0
    patience_s: float = 180.0


@dataclass(frozen=True, kw_only=True)
class ServiceSpec:
    """A further container in the network of a trial, besides those of agent and tests.

    Attributes:
        name: its name.
        image: its image.
        command: what it runs.
        limits: its limits.
        environment: its variables.
        aliases: further names by which the other containers know it.
        depends_on: what it waits for: names of services before it, and conditions.
        health: how to see that it works; the agent starts only then.
    """

    name: str
    image: Image
    command: tuple[str, ...]
    limits: Limits
    environment: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    depends_on: tuple[tuple[str, Condition], ...] = ()
    health: HealthCheck | None = None


@dataclass(frozen=True, kw_only=True)
class AgentTrial:
    """One trial of one task and the folder of its files.

    Attributes:
        run: the run it belongs to; a label of every container, by which :meth:`Containers.clean`
            finds them.
        name: its name within the run; a label too.
        folder: an existing folder; ``agent`` and ``verifier`` are created in it, with
            ``stdout.txt``, ``stderr.txt``, ``outputs.tar`` and ``logs.tar``.
        test_network: the network of its tests, if they download something.
        keep_servers: whether processes of the agent go on while its tests run, if these connect to
            a server and the task does not say.
        network: the network of its containers: ``none``, or the one that
            :meth:`Containers.open_network` opened for it.
        servers_s: seconds that the processes which the agent leaves may go on in that network;
            0: they end with the agent.
        egress: what the agent can reach; the tests reach nothing of it.
        proxy: the URL of the proxy in its network; empty: there is none.
        user: the user that the agent changes to; empty: the image's.
        tests_user: the user that runs the tests; empty: the image's.
        reserved: paths that services hand over, so that the agent's own of these names are not.
        keeps_owners: whether the outputs say by their groups which user each file belongs to, as
            what is in the container wrote it there: the next step's agent may be that user.
        excluded: folders of the outputs, each with the patterns of what below it is left out.
        agent_timeout: whether the tests judge an agent whose time was up.
        state: what the step before left: the agent begins with it; None: with the image alone.
        laid: folders whose files are copied into its container, in place of what is there, before
            anything runs in it.
    """

    run: str
    name: str
    folder: Path
    test_network: str = "none"
    keep_servers: bool = False
    network: str = "none"
    servers_s: float = 0.0
    egress: Egress = NOTHING
    proxy: str = ""
    user: str = ""
    tests_user: str = ""
    reserved: tuple[str, ...] = ()
    keeps_owners: bool = False
    excluded: tuple[tuple[str, tuple[str, ...]], ...] = ()
    agent_timeout: AgentTimeout = "fail"
    state: "Outputs | None" = None
    laid: "tuple[Mount, ...]" = ()


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A host folder or file that a container sees, read-only.

    It is copied when first used, readable for all users, so that it neither changes during a run
    nor depends on its owner.
    """

    source: Path
    target: str


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Stdout or stderr of a command: ``kept`` of ``total`` bytes are in the file."""

    path: Path
    stored: int
    total: int


@dataclass(frozen=True, kw_only=True)
class ContainerResult:
    """The result of one container: facts to store, never computed again.

    Attributes:
        exit_code: that of the command; None when it did not end by itself.
        started_at: when the engine was started, in seconds since 1970 (UTC).
        wall_ms: from the engine's start until the container had ended.
        command_ms: from the command's start to its end, by the container's own clock.
        limits_hit: the limits that were reached, with any outcome.
        stdout: the command's stdout.
        stderr: the same of stderr.
        flags: the engine's arguments before the image, verbatim.
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
    engine: ContainerEngine
    attempts: int


@dataclass(frozen=True, kw_only=True)
class RejectedEntry:
    """An entry of an agent's outputs that was rejected, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """An agent's outputs: a tar file of plain files, folders and links among them.

    It is unpacked in containers only, never on the host.

    Attributes:
        path: the tar file, in the trial's folder.
        declared: the absolute paths of the outputs.
        files: entries in it.
        size: bytes of all files in it.
        sha256: of the tar file.
        left_out: the first rejected entries: devices, pipes, links that lead out, …
        left_out_total: the number of rejected entries.
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
    """An agent's part of a trial.

    Attributes:
        outcome: how it ended. An exit code other than 0 is ``finished`` too: the tests decide.
        reason: the reason in one printable line; may be empty.
        account: the result of the container.
        outputs: its outputs; None unless the outcome is ``finished``, or ``timeout`` with outputs
            that :attr:`AgentTrial.agent_timeout` lets the tests judge.
        servers: whether processes that it left go on, in the network of the trial.
        archive: what it left, also where the tests judge nothing of it; None: nothing arrived.
    """

    outcome: AgentOutcome
    reason: str
    account: ContainerResult
    outputs: Outputs | None
    servers: bool = False
    archive: Path | None = None


@dataclass(frozen=True, kw_only=True)
class TrialVerification:
    """The verdict of a task's tests on an agent's outputs.

    Attributes:
        outcome: the verdict.
        reason: the reason in one printable line; empty for a pass.
        reward: the number in the reward file that counts; None without one.
        rewards: all numbers in it, by key.
        account: the result of the container.
        logs: a tar file of ``/logs``, in the trial's folder; None when it was lost.
    """

    outcome: Outcome
    reason: str
    reward: float | None
    account: ContainerResult
    logs: Path | None
    rewards: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AgentStep:
    """The result of one command that a driver ran in an agent's container.

    Attributes:
        exit_code: that of the command; 124, 137 or 143 at a timeout.
        stdout: the first bytes it printed (``Limits.output_kib``).
        stderr: the same of stderr.
        timed_out: whether it reached its time limit.
        truncated: whether more was printed than is stored here.
    """

    exit_code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    timed_out: bool
    truncated: bool
