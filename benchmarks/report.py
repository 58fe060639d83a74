"""Print a benchmark so that two runs can be compared: machine, versions, both times, the ratio."""

import gc
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

MARK = "=>"
"""Begins every line that compares; ``run.py`` collects them."""


def header(*packages: str) -> None:
    """Print the machine and the versions of Python, numpy, numba, scipy and further packages."""
    names = ("numpy", "numba", "scipy", *packages)
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"{Path(sys.argv[0]).name}: {processor()}, {os.cpu_count()} cores")
    print(f"Python {platform.python_version()}, {versions}", flush=True)


def compare(
    name: str,
    ours_seconds: float,
    theirs_name: str,
    theirs_seconds: float,
    floor: float,
    aim: float,
) -> None:
    """Print one comparison: the ratio is theirs / ours, so more is better for us.

    "Within 2x" of a peer is a floor of 0.5.
    """
    ratio = theirs_seconds / ours_seconds
    verdict = "aim met" if ratio >= aim else "floor met" if ratio >= floor else "BELOW THE FLOOR"
    print(
        f"{MARK} {name}: agon {_duration(ours_seconds)}, {theirs_name} "
        f"{_duration(theirs_seconds)}, ratio {ratio:.3g}x (floor {floor:.3g}x, aim {aim:.3g}x): "
        f"{verdict}",
        flush=True,
    )


def medians(*functions: Callable[[], Any], repeat: int = 5) -> list[float]:
    """Time functions in turn, so that a slow moment of the machine hits all; median seconds each.

    Each runs once beforehand to load compiled code.
    """
    for function in functions:
        function()
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeat):
        for function, mine in zip(functions, times, strict=True):
            gc.collect()
            begin = time.perf_counter()
            function()
            mine.append(time.perf_counter() - begin)
    return [statistics.median(mine) for mine in times]


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.2f} ms"


def processor() -> str:
    """Name the processor model."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
