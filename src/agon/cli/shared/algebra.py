"""Limit the threads of linear algebra in processes that share a machine."""

from collections.abc import MutableMapping
from typing import Final

VARIABLE: Final = "OPENBLAS_NUM_THREADS"


def use_one_thread(environment: MutableMapping[str, str]) -> None:
    """Let a process solve equations in one thread, unless its operator chose a number.

    OpenBLAS starts a thread per processor, and its threads wait in a loop for each other: where
    other processes use the processors, it takes seconds for a system that takes milliseconds. It
    reads the variable when numpy is imported.

    Example:
        >>> environment = {}
        >>> use_one_thread(environment)
        >>> environment
        {'OPENBLAS_NUM_THREADS': '1'}
    """
    environment.setdefault(VARIABLE, "1")
