"""Name the process to which a container belongs, so that others see when it has ended."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from agon.runners.containers.descendants import start_time

_NAMESPACE: Final = Path("/proc/self/ns/pid")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@lru_cache(maxsize=1)
def _place() -> str:
    """Return what process ids are counted in: this boot of this machine, and the namespace."""
    return f"{_BOOT.read_text().strip()}.{_NAMESPACE.stat().st_ino}"


def process_label() -> str:
    """Return the value of the label that names this process.

    Example:
        >>> has_ended(process_label())
        False
    """
    return f"{os.getpid()}.{start_time(os.getpid())}.{_place()}"


def has_ended(label: str) -> bool:
    """Return whether a label names a process of this place that has ended.

    Processes of other places, such as another container that shares the engine, cannot be seen
    from here.

    Example:
        >>> has_ended("1.0.elsewhere.7"), has_ended("")
        (False, False)
    """
    number, _, rest = label.partition(".")
    started, _, place = rest.partition(".")
    return number.isdigit() and place == _place() and start_time(int(number)) != started
