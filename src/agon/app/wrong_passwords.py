"""Limit the wrong passwords for a user's name: by one network, and by all of them."""

from collections import OrderedDict, deque
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from agon.errors import TooMany

WINDOW: Final = timedelta(minutes=15)
"""How long a wrong password counts."""

BY_NETWORK: Final = 10
"""Maximum number of wrong passwords for a name by one network."""

IN_ALL: Final = 100
"""Maximum number of wrong passwords for a name by all networks.

It is larger, so that someone who guesses from one network does not keep the user out of theirs.
"""

_NAMES: Final = 20_000
"""Maximum number of counters in memory; beyond it the one changed longest ago is dropped."""


class WrongPasswords:
    """Counts the wrong passwords that this process was sent for each name.

    Names are counted whether or not they are users', so that a limit shows nothing about them.
    """

    def __init__(self) -> None:
        self._times: OrderedDict[tuple[str, str | None], deque[datetime]] = OrderedDict()
        self._lock = Lock()

    def count(self, user: str, network: str | None, *, now: datetime) -> None:
        """Count an attempt as wrong before it is checked: many may be sent at once.

        Raises:
            TooMany: the name has had too many wrong passwords; this attempt is not counted.
        """
        limits = _limits(user, network)
        with self._lock:
            for key, most in limits:
                times = self._times.get(key, deque())
                while times and times[0] <= now - WINDOW:
                    times.popleft()
                if len(times) >= most:
                    wait = (times[0] + WINDOW - now).total_seconds()
                    raise TooMany(
                        f"there were {len(times)} wrong passwords for this user; try again in "
                        f"{max(1, round(wait / 60))} minutes, or sign in with a token",
                        retry_after=max(1.0, wait),
                    )
            for key, _ in limits:
                self._times.setdefault(key, deque()).append(now)
                self._times.move_to_end(key)
            while len(self._times) > _NAMES:
                self._times.popitem(last=False)

    def remove(self, user: str, network: str | None, *, now: datetime) -> None:
        """Remove an attempt that was counted at a time: its password was right."""
        with self._lock:
            for key, _ in _limits(user, network):
                with suppress(KeyError, ValueError):
                    self._times[key].remove(now)


def _limits(user: str, network: str | None) -> tuple[tuple[tuple[str, str | None], int], ...]:
    """Return the counters of an attempt, each with its maximum."""
    name = user[:100]
    return (((name, network or ""), BY_NETWORK), ((name, None), IN_ALL))
