"""Simulate worlds when a test needs them, each once: what a module does, every worker repeats."""

from functools import cache
from typing import Any

from agon.attacks.catalog import lab_of


@cache
def world_of(discipline: str, *, size: int) -> Any:
    """Return a simulated world of a discipline; tests do not change it."""
    return lab_of(discipline).simulate(size=size, seed=1)
