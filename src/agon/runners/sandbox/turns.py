"""Let runs share the machine, or have it alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Turns of a pool's runs: any number at a time, or one alone.

    A run that waits to be alone goes before those that come after it, so that it is not put off
    for ever.
    """

    def __init__(self) -> None:
        """Begin with no run."""
        self._changed = threading.Condition()
        self._shared = 0
        self._alone = False
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """Return how many wait to run alone."""
        return self._waiting

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside others, once none runs or waits to run alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._shared += 1
        try:
            yield
        finally:
            with self._changed:
                self._shared -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run when all others have ended, and let none begin until the end."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._alone and not self._shared)
            self._waiting -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
