"""Notice that something was stored, cheaply enough to ask fifty times a second."""

import sqlite3
import time
from collections.abc import Callable
from typing import Final

from agon.store.engines import address

_LOOKED_EVERY_SECONDS: Final = 0.02
_POLLED_EVERY_SECONDS: Final = 0.1


class Watch:
    """Wait until another session stored something; use one from one thread.

    SQLite tells in a few microseconds whether another connection committed (``PRAGMA
    data_version``). PostgreSQL is not asked: there a wait lasts a tenth of a second at most.

    Args:
        url: the database.
        pause: sleeps; when it returns True the wait is over (``threading.Event.wait``).
    """

    def __init__(self, url: str, *, pause: Callable[[float], object] = time.sleep) -> None:
        self._url = url
        self._pause = pause
        self._connection: sqlite3.Connection | None = None
        self._seen = -1
        self._sqlite = address(url).get_backend_name() == "sqlite"

    def wait(self, seconds: float) -> bool:
        """Wait for at most so long; True as soon as something may have been stored.

        What was stored since the last wait counts, so nothing is missed between two.
        """
        if not self._sqlite:
            self._pause(min(seconds, _POLLED_EVERY_SECONDS))
            return True
        end = time.monotonic() + seconds
        while True:
            version = self._version()
            if version != self._seen:
                self._seen = version
                return True
            left = end - time.monotonic()
            if left <= 0 or self._pause(min(left, _LOOKED_EVERY_SECONDS)):
                return False

    def close(self) -> None:
        """Let go of the connection; a second call does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _version(self) -> int:
        """Return SQLite's count of others' commits; a database that is busy counts as changed."""
        try:
            if self._connection is None:
                file = address(self._url).database or ""
                self._connection = sqlite3.connect(
                    file, isolation_level=None, check_same_thread=False
                )
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.OperationalError:
            return self._seen + 1
