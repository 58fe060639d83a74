"""Keep what was read from a database until something is stored in it."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import inf
from threading import Lock
from typing import Generic, TypeVar

from agon.store.connection.direct import StateToken

T = TypeVar("T")


@dataclass(frozen=True)
class _Entry(Generic[T]):
    state: StateToken
    until: float
    value: T


class StateCache(Generic[T]):
    """Values that were read in a state of the database, each under a key; threads share it.

    Args:
        most: maximum number of values; beyond it all are dropped.
        lifetime_s: maximum number of seconds a value is kept.
        clock: returns seconds that only grow.
    """

    def __init__(
        self, *, most: int, lifetime_s: float = inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._entries: dict[Hashable, _Entry[T]] = {}
        self._making = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, state: StateToken, make: Callable[[], T]) -> T:
        """Return the value under a key if it is of a state, else what ``make`` returns now.

        Threads that want the same value wait for the one that makes it. Errors are not kept.

        Args:
            key: what the value depends on, other than what is stored.
            state: of the database, read by the caller after it was asked: so no value is older.
            make: makes the value, in that state or a later one.
        """
        entry = self._valid(key, state)
        if entry is None:
            with self._making:
                entry = self._valid(key, state)
                if entry is None:
                    entry = _Entry(state, self._clock() + self._lifetime_s, make())
                    if len(self._entries) >= self._most:
                        self._entries.clear()
                    self._entries[key] = entry
        return entry.value

    def drop(self, key: Hashable, value: T) -> None:
        """Drop a value, unless there is another one under its key by now."""
        entry = self._entries.get(key)
        if entry is not None and entry.value is value:
            self._entries.pop(key, None)

    def _valid(self, key: Hashable, state: StateToken) -> _Entry[T] | None:
        entry = self._entries.get(key)
        is_valid = entry is not None and entry.state == state and entry.until >= self._clock()
        return entry if is_valid else None
