"""Read the state of processes from outside, through /proc."""

import os
import time
from collections.abc import Callable
from pathlib import Path

already: set[int] = set()
"""Descendants that existed before the test began, such as a server that other tests share."""


def descendants(process: int | None = None) -> set[int]:
    """List the processes that descend from one, from this one by default, without zombies.

    Of this process, only those that the test itself started: without :data:`already`.
    """
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    known: set[int] = set()
    generation = {process or os.getpid()}
    while generation:
        generation = {child for child, parent in parents.items() if parent in generation} - known
        known |= generation
    return known if process else known - already


def open_descriptors(process: int | str = "self") -> int:
    """Count the open descriptors of a process."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def resident_kib(process: int | str = "self") -> int:
    """Measure a process's resident memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def status(process: int) -> dict[str, str]:
    """Read a process's status."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def eventually(holds: Callable[[], bool], *, within_s: float = 60.0) -> bool:
    """Wait until a condition holds; return whether it did within the time."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
