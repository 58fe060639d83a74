"""Stop a program of the engine with all its descendants, in whatever process group."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_TIMEOUT_S: Final = 5.0


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
    for member in family:
        if _read(member.number)[0] == member.started:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.number, signal.SIGKILL)


def _descendants(number: int) -> Iterator[Process]:
    """Yield all descendants of a process."""
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
    """Return a process's start time and parent; empty values when it has ended."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", -1
    return fields[19], int(fields[1])
