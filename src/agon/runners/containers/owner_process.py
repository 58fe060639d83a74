"""Name the process to which a container belongs, so that others see when it has ended."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from agon.runners.containers.descendants import start_time

_NAMESPACE: Final = Path("/proc/self/ns/pid")
_FIRST_NAMESPACE: Final = 0xEFFFFFFC
"""Inode of the namespace that a kernel starts with (``PROC_PID_INIT_INO``)."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MACHINE: Final = Path("/etc/machine-id")
_PARTS: Final = 5


@dataclass(frozen=True, kw_only=True)
class ProcessPlace:
    """What process ids are counted in.

    Attributes:
        machine: the machine's id; empty in a container, whose id may be that of its image.
        boot: the id of its boot, since which the kernel has given out process ids.
        namespace: the namespace of process ids.
    """

    machine: str
    boot: str
    namespace: str


@lru_cache(maxsize=1)
def this_place() -> ProcessPlace:
    """Return the machine, boot and namespace in which the id of this process is unique."""
    namespace = _NAMESPACE.stat().st_ino
    is_outermost = namespace == _FIRST_NAMESPACE and _MACHINE.is_file()
    return ProcessPlace(
        machine=_MACHINE.read_text().strip() if is_outermost else "",
        boot=_BOOT.read_text().strip(),
        namespace=str(namespace),
    )


def process_label() -> str:
    """Return the value of the label that names this process.

    Example:
        >>> has_ended(process_label())
        False
    """
    place = this_place()
    number = os.getpid()
    return f"{number}.{start_time(number)}.{place.machine}.{place.boot}.{place.namespace}"


def has_ended(label: str) -> bool:
    """Return whether a label names a process of this machine that has ended.

    All processes of an earlier boot have, whoever has their ids today. Processes of other places,
    such as another machine or container that shares the engine, cannot be seen from here.

    Example:
        >>> has_ended("1.0.elsewhere.boot.7"), has_ended("")
        (False, False)
    """
    parts = label.split(".")
    if len(parts) != _PARTS or not parts[0].isdigit():
        return False
    number, started, machine, boot, namespace = parts
    here = this_place()
    if boot != here.boot:
        return machine != "" and machine == here.machine
    return namespace == here.namespace and start_time(int(number)) != started
