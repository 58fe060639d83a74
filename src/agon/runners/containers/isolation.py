"""Write the arguments of the engine that make a container's isolation_flags.

``challenge.md``, Running tasks, names the flags; the further ones close what those leave open:
files on the host's disk, the image's entry point, health checks and volumes, the host's proxies.
"""

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agon.app.containers import Engine, Image, Limits, Trial
from agon.runners.containers.first_process import ACCOUNT, SHELL

OUTER_GRACE_S: Final = 10
"""From the command's limit until the container is removed (``challenge.md``: N + 10 s)."""
HAND_OVER_S: Final = 120
"""What unpacking before and packing after a command may take, each."""
LABEL: Final = "agon"
_OPEN_FILES = 4096
_PROCESSES = 32_768
_MIB = 1 << 20
_HEADERS = 2048
"""Bytes of an archive for each entry besides its content: header, padding, a long name."""


@dataclass(frozen=True)
class BindMount:
    """Show a path of the host's inside, read-only unless said otherwise."""

    source: Path
    target: str
    writable: bool = False


def archive_bytes(limits: Limits, folders: int) -> int:
    """Bound the account and with it the archive: what fits into the folders, and the headers."""
    return limits.storage_mib * _MIB * folders + limits.files * _HEADERS + _MIB


def outermost_s(limits: Limits) -> int:
    """Bound a container's life whatever becomes of us: the engine itself ends it then."""
    return int(limits.timeout_s) + 1 + OUTER_GRACE_S + 2 * HAND_OVER_S


def labels(trial: Trial, *, owner: str, phase: str) -> tuple[str, ...]:
    """Label a container so that :func:`clean` finds it and people know what it is."""
    named = {"run": trial.run, "trial": trial.name, "owner": owner, "phase": phase}
    return tuple(f"--label={LABEL}.{key}={value}" for key, value in named.items())


def isolation_flags(engine: Engine, image: Image, limits: Limits, *, logs: bool) -> tuple[str, ...]:
    """Write the flags that bound a container, the same for every trial of a task.

    Args:
        engine: which engine takes them.
        image: whose writable folders they mount.
        limits: what it may use.
        logs: whether ``/logs`` is there to be written.
    """
    memory = f"{limits.memory_mib}m"
    folders = (*image.writable, "/logs") if logs else image.writable
    size = min(limits.storage_mib, limits.memory_mib)
    return (
        "--network=none",
        f"--memory={memory}",
        f"--memory-swap={memory}",
        f"--pids-limit={limits.processes}",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        *_processors(limits, engine),
        "--read-only",
        *(f"--tmpfs={folder}:{_empty(engine)},size={size}m" for folder in folders),
        *_ulimits(archive_bytes(limits, len(folders))),
        "--log-driver=none",
        "--pull=never",
        "--hostname=task",
        "--no-healthcheck",
        "--workdir=/app",
        f"--entrypoint={SHELL}",
        *_of_one_engine(limits, engine),
    )


def binds(bound: Sequence[BindMount], account: Path) -> tuple[str, ...]:
    """Write the mounts of the host's files: all read-only but the account."""
    return tuple(
        f"--mount=type=bind,source={bind.source},target={bind.target}"
        + ("" if bind.writable else ",readonly")
        for bind in (*bound, BindMount(account, ACCOUNT, writable=True))
    )


def capped(name: str, wanted: int) -> int:
    """Lower a limit to the caller's own hard one: nobody may give more than they have."""
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def build_ulimits() -> tuple[str, ...]:
    """Write the limits of commands that run while an image is built."""
    bounds = {"nofile": _OPEN_FILES, "nproc": _PROCESSES}
    return tuple(
        f"--ulimit={name}={(most := capped(name, wanted))}:{most}"
        for name, wanted in bounds.items()
    )


def _processors(limits: Limits, engine: Engine) -> tuple[str, ...]:
    """Bound the processors, where the engine can, and to those that are there."""
    if limits.cpus is None or not engine.limits_cpus:
        return ()
    return (f"--cpus={min(limits.cpus, os.cpu_count() or 1):g}",)


def _empty(engine: Engine) -> str:
    """Write how a writable folder is mounted: empty, and the image's user's own."""
    bare = "rw,exec,nosuid,nodev,mode=1777"
    return f"{bare},notmpcopyup,U" if engine.name == "podman" else bare


def _ulimits(file_bytes: int) -> tuple[str, ...]:
    """Bound open files, core dumps, and every single file: the account lies on the host's disk.

    The number of a user's processes counts the host's too, so it only repeats what the caller has;
    ``--pids-limit`` binds.
    """
    most = capped("fsize", file_bytes)
    return (*build_ulimits(), "--ulimit=core=0:0", f"--ulimit=fsize={most}:{most}")


def _of_one_engine(limits: Limits, engine: Engine) -> tuple[str, ...]:
    """Write what only one of the engines understands, or understands here."""
    if engine.name != "podman":
        return (f"--runtime={engine.runtime}",) if engine.runtime else ()
    return (
        "--read-only-tmpfs=false",
        "--image-volume=ignore",
        "--http-proxy=false",
        "--no-hosts",
        "--sdnotify=ignore",
        f"--timeout={outermost_s(limits)}",
    )
