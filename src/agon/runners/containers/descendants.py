"""Stop a program of the engine with all its descendants, in whatever process group."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_TIMEOUT_S: Final = 5.0
_ENDED: Final = ("Z", "X")


class Process(NamedTuple):
    """A process, identified by its id and start time, since ids are reused."""

    number: int
    started: str


def end(process: "subprocess.Popen[bytes]") -> None:
    """Terminate a process and its group, then kill it and all its descendants.

    The commands of a build run in containers that outlive a killed builder; they are its
    descendants in other process groups.
    """
    if process.poll() is not None:
        return
    family = list(_descendants(process.pid))
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_TIMEOUT_S)
            break
    _kill(family)


def kill_tree(number: int) -> None:
    """Kill a process and all its descendants."""
    _kill([Process(number, start_time(number)), *_descendants(number)])


def start_time(number: int) -> str:
    """Return when a process started, in clock ticks since the machine did; empty if it has ended.

    A zombie has ended.
    """
    return _read(number)[0]


def _kill(processes: Sequence[Process]) -> None:
    """Kill those that still run."""
    for process in processes:
        if process.started and start_time(process.number) == process.started:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.number, signal.SIGKILL)


def _descendants(number: int) -> Iterator[Process]:
    parents: dict[int, list[Process]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            started, parent = _read(int(entry.name))
            parents.setdefault(parent, []).append(Process(int(entry.name), started))
    coming = [number]
    while coming:
        children = parents.pop(coming.pop(), [])
        yield from children
        coming += [child.number for child in children]


def _read(number: int) -> tuple[str, int]:
    """Return a process's start time, empty when it has ended, and its parent; -1 without one."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", -1
    return ("" if fields[0] in _ENDED else fields[19]), int(fields[1])
