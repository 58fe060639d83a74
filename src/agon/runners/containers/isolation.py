"""Return the engine's arguments that isolate a container.

``challenge.md``, Running tasks, names the flags; further ones limit what those leave open: system
calls, other processes in ``/proc``, files on the host's disk, the image's entry point, health
checks and volumes, the host's proxies.
"""

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from agon.app.containers import AgentTrial, ContainerEngine, Image, Limits
from agon.runners.containers.first_process import ACCOUNT, SHELL
from agon.runners.containers.owner_process import process_label

OUTER_GRACE_S: Final = 10
"""Seconds from the command's limit until the container is removed (``challenge.md``: N + 10 s)."""
HAND_OVER_S: Final = 120
"""Maximum seconds of unpacking before and of packing after a command, each."""
LABEL: Final = "agon"
PROCESS_LABEL: Final = f"{LABEL}.process"
"""The label that names the process to which a container or a network belongs."""
_SHARED: Final = "container:"
_HOSTS: Final = "127.0.0.1 localhost task\n::1 localhost\n"
"""The names that are known inside; images get theirs from an engine that has a network."""
_OPEN_FILES = 4096
_PROCESSES = 32_768
_MIB = 1 << 20
_HEADERS = 2048
"""Bytes of an archive for each entry besides its content: header, padding, a long name."""
_DROPPING: Final = ("CHOWN", "KILL", "SETGID", "SETUID")
AGENT_CAPABILITIES: Final = (*_DROPPING, "FOWNER", "FSETID", "NET_BIND_SERVICE")
"""What an agent that is root may do to its own files and processes.

It may not read files against their mode (``DAC_OVERRIDE``), so the first process stays unreadable.
"""
_PASSING_RUNTIMES: Final = ("runc", "crun")


@dataclass(frozen=True)
class BindMount:
    """A host path that is mounted inside, read-only by default."""

    source: Path
    target: str
    writable: bool = False


def report_bytes(limits: Limits) -> int:
    """Return the maximum size of the result file: what fits in memory, and the headers.

    All files of a container are in its memory, so the tests could unpack no more.
    """
    return limits.memory_mib * _MIB + limits.files * _HEADERS + _MIB


def passes_descriptors(engine: ContainerEngine) -> bool:
    """Return whether a container can be given an open descriptor (``--preserve-fds``).

    The result file then arrives over a pipe; elsewhere a host file is mounted.
    """
    return engine.name == "podman" and Path(engine.runtime).name in _PASSING_RUNTIMES


def outermost_s(limits: Limits, servers_s: float = 0.0) -> int:
    """Return the seconds after which the engine itself ends a container."""
    return int(limits.timeout_s + servers_s) + 1 + OUTER_GRACE_S + 2 * HAND_OVER_S


def network_of(container: str) -> str:
    """Return the name of a container's network for other containers."""
    return f"{_SHARED}{container}"


def is_shared(network: str) -> bool:
    """Return whether a network is that of another container, which leads nowhere.

    Example:
        >>> is_shared(network_of("agon-1")), is_shared("none")
        (True, False)
    """
    return network.startswith(_SHARED)


def write_hosts(folder: Path, names: Sequence[str] = ()) -> BindMount:
    """Write the file of names that containers see, with further names of this machine."""
    file = folder / "hosts"
    file.write_text(_HOSTS + "".join(f"127.0.0.1 {name}\n" for name in names))
    file.chmod(0o644)
    return BindMount(file, "/etc/hosts")


def name_pattern(owner: str = "agon-[0-9a-f]{12}", *, run: str | None = None) -> str:
    """Return a regular expression for the names of an owner's or a run's containers."""
    return rf"{owner}-{'[0-9a-f]{12}' if run is None else _run_code(run)}-\d+"


def container_name(owner: str, run: str, number: int) -> str:
    """Return the name of a container: it shows the owner and the run before labels exist."""
    return f"{owner}-{_run_code(run)}-{number}"


def _run_code(run: str) -> str:
    return sha256(run.encode()).hexdigest()[:12]


def labels(trial: AgentTrial, *, owner: str, phase: str) -> tuple[str, ...]:
    """Return the labels of a container, by which :func:`clean` finds it."""
    named = {"run": trial.run, "trial": trial.name, "owner": owner, "phase": phase}
    return (
        f"--label={PROCESS_LABEL}={process_label()}",
        *(f"--label={LABEL}.{key}={value}" for key, value in named.items()),
    )


def isolation_flags(
    engine: ContainerEngine,
    image: Image,
    limits: Limits,
    *,
    agent: bool,
    system_calls: Path,
    network: str = "none",
    servers_s: float = 0.0,
) -> tuple[str, ...]:
    """Return the flags that isolate and limit a container, the same for every trial of a task.

    Args:
        engine: the engine that gets them.
        image: the image, with its writable folders.
        limits: the limits.
        agent: whether it is for an agent or a service; otherwise for tests.
        system_calls: the file of the seccomp profile.
        network: its network; with one that leads anywhere the image's system is writable.
        servers_s: seconds that it may go on after its command.
    """
    memory = f"{limits.memory_mib}m"
    folders = (*image.writable, "/logs")
    size = min(limits.storage_mib, limits.memory_mib)
    return (
        f"--network={network}",
        f"--memory={memory}",
        f"--memory-swap={memory}",
        f"--pids-limit={limits.processes}",
        "--cap-drop=ALL",
        *_capabilities(engine, image, agent=agent),
        "--security-opt=no-new-privileges",
        f"--security-opt=seccomp={system_calls}",
        *_processors(limits, engine),
        *(("--read-only",) if network == "none" or is_shared(network) else ()),
        *(f"--tmpfs={folder}:{_empty(engine)},size={size}m" for folder in folders),
        *_ulimits(engine, limits, len(folders)),
        "--log-driver=none",
        "--pull=never",
        *(("--hostname=task",) if engine.name == "podman" or not is_shared(network) else ()),
        "--no-healthcheck",
        "--workdir=/",
        f"--entrypoint={SHELL}",
        *_of_one_engine(engine, outermost_s(limits, servers_s), _hidden(image, agent=agent)),
    )


def binds(engine: ContainerEngine, bound: Sequence[BindMount], account: Path) -> tuple[str, ...]:
    """Return the mounts of host files, all read-only, and the way of the result file."""
    report: tuple[BindMount, ...] = (BindMount(account, ACCOUNT, writable=True),)
    if passes_descriptors(engine):
        report = ()
    mounts = tuple(
        f"--mount=type=bind,source={bind.source},target={bind.target}"
        + ("" if bind.writable else ",readonly")
        for bind in (*bound, *report)
    )
    return mounts if report else (*mounts, "--preserve-fds=1")


def cap_limit(name: str, wanted: int) -> int:
    """Return a limit, lowered to the process's own hard limit."""
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def build_ulimits() -> tuple[str, ...]:
    """Return the limits of commands that run while an image is built."""
    bounds = {"nofile": _OPEN_FILES, "nproc": _PROCESSES}
    return tuple(
        f"--ulimit={name}={(most := cap_limit(name, wanted))}:{most}"
        for name, wanted in bounds.items()
    )


def _capabilities(engine: ContainerEngine, image: Image, *, agent: bool) -> tuple[str, ...]:
    """Return the capabilities of an image whose user is root.

    With them tests run the agent's programs as another user, and solutions do what they usually do
    to their own files and processes. None of them reads what root may not read. Where the result
    file is mounted there are none: as its owner, a program could lock it.
    """
    if not is_root(image.user) or not passes_descriptors(engine):
        return ()
    return tuple(f"--cap-add={name}" for name in (AGENT_CAPABILITIES if agent else _DROPPING))


def is_root(user: str) -> bool:
    """Return whether an image's commands run as root.

    Example:
        >>> is_root(""), is_root("0:0"), is_root("ada")
        (True, True, False)
    """
    return user.partition(":")[0] in {"", "0", "root"}


def _processors(limits: Limits, engine: ContainerEngine) -> tuple[str, ...]:
    """Return the CPU limit, where the engine supports one, at most the CPUs of this machine."""
    if limits.cpus is None or not engine.limits_cpus:
        return ()
    return (f"--cpus={min(limits.cpus, os.cpu_count() or 1):g}",)


def _empty(engine: ContainerEngine) -> str:
    """Return the mount options of a writable folder: empty, owned by the image's user."""
    bare = "rw,exec,nosuid,nodev,mode=1777"
    return f"{bare},notmpcopyup,U" if engine.name == "podman" else bare


def _ulimits(engine: ContainerEngine, limits: Limits, folders: int) -> tuple[str, ...]:
    """Return limits of open files and core dumps, and of file size where a host file is mounted.

    The number of a user's processes includes those of the host, so it repeats the caller's limit;
    ``--pids-limit`` limits the container.
    """
    always = (*build_ulimits(), "--ulimit=core=0:0")
    if passes_descriptors(engine):
        return always
    most = cap_limit("fsize", max(limits.storage_mib * _MIB * folders, report_bytes(limits)))
    return (*always, f"--ulimit=fsize={most}:{most}")


def _hidden(image: Image, *, agent: bool) -> tuple[str, ...]:
    """Return how ``/proc`` hides what a process may not look into.

    For tests most programs are of that kind, and they look for processes by their names: root sees
    all of them, others only their own. An image with another user has no others to hide.
    """
    if agent:
        return ("--security-opt=proc-opts=hidepid=2,gid=65533",)
    return ("--security-opt=proc-opts=hidepid=2,gid=0",) if is_root(image.user) else ()


def _of_one_engine(
    engine: ContainerEngine, timeout_s: int, hidden: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flags that only one of the engines supports."""
    if engine.name != "podman":
        return (f"--runtime={engine.runtime}",) if engine.runtime else ()
    return (
        *hidden,
        "--read-only-tmpfs=false",
        "--image-volume=ignore",
        "--http-proxy=false",
        "--no-hosts",
        "--sdnotify=ignore",
        f"--timeout={timeout_s}",
    )
