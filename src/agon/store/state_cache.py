"""Keep what was read from a database until something is stored in it."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from agon.store.connection.direct import StateToken

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Entry(Generic[T]):
    """A value that is made, or will be by the thread that added the entry."""

    state: StateToken
    made: "Future[T]"


class StateCache(Generic[T]):
    """Values that were read in a state of the database, each under a key; threads share it.

    Args:
        most: maximum number of values; beyond it all are dropped.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._entries: dict[Hashable, _Entry[T]] = {}
        self._changing = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, state: StateToken, make: Callable[[], T]) -> T:
        """Return the value under a key if it is of a state, else what ``make`` returns now.

        Threads that want the same value wait for the one that makes it, and get its error; those
        that want another one do not wait. Errors are not kept.

        Args:
            key: what the value depends on, other than what is stored; for some, the time.
            state: of the database, read by the caller after it was asked: so no value is older.
            make: makes the value, in that state or a later one.
        """
        entry, is_new = self._entry(key, state)
        if is_new:
            try:
                value = make()
            except BaseException as error:
                self._remove(key, entry)
                entry.made.set_exception(error)
                raise
            entry.made.set_result(value)
        return entry.made.result()

    def drop(self, key: Hashable, value: T) -> None:
        """Drop a value, unless there is another one under its key by now."""
        entry = self._entries.get(key)
        if entry is None or not entry.made.done():
            return
        if entry.made.exception() is None and entry.made.result() is value:
            self._remove(key, entry)

    def _entry(self, key: Hashable, state: StateToken) -> tuple[_Entry[T], bool]:
        """Return the valid entry under a key or a new one, and whether it is new."""
        # Without the lock, which most calls need not wait for: one lookup of a dict is atomic.
        entry = self._valid(key, state)
        if entry is not None:
            return entry, False
        with self._changing:
            entry = self._valid(key, state)  # which another thread may have added meanwhile
            if entry is not None:
                return entry, False
            # Most entries are of an earlier state then; to find the others would cost more.
            if len(self._entries) >= self._most:
                self._entries.clear()
            entry = _Entry(state, Future())
            self._entries[key] = entry
            return entry, True

    def _remove(self, key: Hashable, entry: _Entry[T]) -> None:
        with self._changing:
            if self._entries.get(key) is entry:
                del self._entries[key]

    def _valid(self, key: Hashable, state: StateToken) -> _Entry[T] | None:
        entry = self._entries.get(key)
        return entry if entry is not None and entry.state == state else None
