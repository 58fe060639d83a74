"""Detect that something was stored: within milliseconds, at almost no cost while nothing is."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from sqlalchemy.engine import Connection

from agon.errors import AgonError
from agon.store.connection.database_errors import translate_errors
from agon.store.connection.engines import CHANNEL, display_url, open_engine, parse_url

_LOOKED_EVERY_SECONDS: Final = 0.02
_STOPPED_WITHIN_SECONDS: Final = 0.2
_TOLD_EVERY_SECONDS: Final = 0.05
_POLLED_EVERY_SECONDS: Final = 0.1
_LISTENS_AGAIN_SECONDS: Final = 1.0


class Watch:
    """Waits until another session stored something; for use by one thread.

    SQLite returns in a few microseconds whether another connection committed (``PRAGMA
    data_version``), and is polled fifty times a second. PostgreSQL notifies a connection of every
    session that stored something as it commits (``NOTIFY``); many in a row are reported twenty
    times a second. If that connection is lost, a wait lasts a tenth of a second until there is a
    new one.

    Args:
        url: the database.
        pause: sleeps; when it returns True the wait is over (``threading.Event.wait``).
    """

    def __init__(self, url: str, *, pause: Callable[[float], object] = time.sleep) -> None:
        self._pause = pause
        self._sqlite = parse_url(url).get_backend_name() == "sqlite"
        self._counting = _Counting(url)
        self._listening = _Listening(url, pause=pause)

    def wait(self, seconds: float) -> bool:
        """Wait for at most that long; return True as soon as something may have been stored.

        What was stored since the last wait counts, so nothing is missed between two.
        """
        end = time.monotonic() + seconds
        while True:
            remaining = max(0.0, end - time.monotonic())
            if self._sqlite:
                changed, nap = self._counting.has_changed(), min(remaining, _LOOKED_EVERY_SECONDS)
            else:
                changed, nap = self._listening.heard(min(remaining, _STOPPED_WITHIN_SECONDS)), 0.0
            if changed:
                return True
            if time.monotonic() >= end or self._pause(nap):
                return False

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._counting.close()
        self._listening.close()


class _Counting:
    """Compare SQLite's count of commits by other connections with its last value."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: sqlite3.Connection | None = None
        self._seen = -1

    def has_changed(self) -> bool:
        version = self._version()
        before, self._seen = self._seen, version
        return version != before

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _version(self) -> int:
        """Return the count; a database that is busy counts as changed."""
        try:
            if self._connection is None:
                file = parse_url(self._url).database or ""
                self._connection = sqlite3.connect(
                    file, isolation_level=None, check_same_thread=False
                )
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.OperationalError:
            return self._seen + 1


class _Listening:
    """Receive PostgreSQL's notifications of commits on a separate connection.

    Changes stored before it listens are not notified, so a new connection counts as a change.
    """

    def __init__(self, url: str, *, pause: Callable[[float], object]) -> None:
        self._url = url
        self._pause = pause
        self._connection: Connection | None = None
        self._lost_at = -_LISTENS_AGAIN_SECONDS
        self._told_at = 0.0

    def heard(self, seconds: float) -> bool:
        """Wait so long at most; without a connection every wait is short and counts as news."""
        if self._connection is None:
            if time.monotonic() - self._lost_at < _LISTENS_AGAIN_SECONDS or not self._listen():
                self._pause(min(seconds, _POLLED_EVERY_SECONDS))
            return True
        early = self._told_at + _TOLD_EVERY_SECONDS - time.monotonic()
        if early > 0:
            self._pause(early)
        try:
            notified = self._word(seconds)
        except AgonError:
            self._lose()
            return True
        if notified:
            self._told_at = time.monotonic()
        return notified

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(AgonError), translate_errors(display_url(connection.engine.url)):
                connection.close()
            connection.engine.dispose()

    def _word(self, seconds: float) -> bool:
        """Return whether a commit was notified; all pending notifications are consumed."""
        driver: Any = None if self._connection is None else self._driver(self._connection)
        with translate_errors(display_url(parse_url(self._url))):
            first = list(driver.notifies(timeout=seconds, stop_after=1))
            return bool(first and [*first, *driver.notifies(timeout=0)])

    def _listen(self) -> bool:
        """Connect and listen; False where that cannot be done now."""
        engine = open_engine(self._url)
        try:
            with translate_errors(display_url(engine.url)):
                connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        except AgonError:
            engine.dispose()
            self._lost_at = time.monotonic()
            return False
        self._connection = connection
        return True

    def _lose(self) -> None:
        self._lost_at = time.monotonic()
        if self._connection is not None:
            self._connection.invalidate()
        self.close()

    @staticmethod
    def _driver(connection: Connection) -> Any:
        return connection.connection.driver_connection
