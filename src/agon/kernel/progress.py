"""Let long computations state how far they are, for an observer to show.

A computation names its step and how to ask for the share that is done; it does not know whether
it is observed, and pays nothing when it is not. The observer asks as often as it draws.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class ProgressStep:
    """A step of a computation.

    Attributes:
        label: what is done (``resampling``).
        share: returns the share that is done, from 0 to 1; None: it is unknown.
    """

    label: str
    share: Callable[[], float | None]


_steps: ContextVar[list[ProgressStep] | None] = ContextVar("steps", default=None)


@contextmanager
def observe() -> Iterator[list[ProgressStep]]:
    """Yield the steps under way, the innermost last, of what runs inside the block.

    Example:
        >>> with observe() as steps:
        ...     for _ in count_steps(range(4), label="resampling", total=4):
        ...         print(steps[-1].label, steps[-1].share())
        resampling 0.0
        resampling 0.25
        resampling 0.5
        resampling 0.75
    """
    steps: list[ProgressStep] = []
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)


def is_observed() -> bool:
    """Return whether shares are asked for."""
    return _steps.get() is not None


@contextmanager
def step(label: str, share: Callable[[], float | None]) -> Iterator[None]:
    """Name the step that the block is.

    Args:
        label: what is done.
        share: returns the share that is done; it may be called from another thread.
    """
    steps = _steps.get()
    if steps is None:
        yield
        return
    current = ProgressStep(label, share)
    steps.append(current)
    try:
        yield
    finally:
        steps.remove(current)


def count_steps(items: Iterable[Item], *, label: str, total: int) -> Iterator[Item]:
    """Yield items, each of which is the same share of a step.

    Args:
        items: the items.
        label: what is done.
        total: how many items there are.
    """
    if not is_observed():
        yield from items
        return
    with stages(label, total=total) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def stages(label: str, *, total: int) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of the stages of a step.

    Args:
        label: what is done.
        total: how many stages there are.

    Example:
        >>> with observe() as steps, stages("drawing", total=2) as advance:
        ...     advance()
        ...     steps[-1].share()
        0.5
    """
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1

    with step(label, lambda: done / max(total, 1)):
        yield advance
