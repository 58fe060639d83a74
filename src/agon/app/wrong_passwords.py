"""Limit wrong passwords by user and network, so that guesses from elsewhere lock no user out.

Attempts are counted for three things, each within :data:`WINDOW`:

- *A user from a network*: at most :data:`BY_NETWORK`. Only this limit stops a user, and only from
  there: guesses from another network do not use it up.
- *A network*, for all users: at most :data:`OF_NETWORK`, so that one network does not try a
  password on every user. A user who signed in from there lately is not stopped by it: others in
  the same office cannot lock this person out.
- *A user*, from all networks: nothing is stopped, but with many wrong passwords for one user each
  network has fewer attempts (:data:`UNDER_ATTACK`). Guesses from thousands of networks stay few,
  and the user, who knows the password, needs one attempt. Networks from which the user signed in
  lately keep all of theirs.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, Generic, TypeVar

from agon.errors import TooMany

WINDOW: Final = timedelta(minutes=15)
"""How long a wrong password counts."""

BY_NETWORK: Final = 10
"""Maximum number of wrong passwords for a user by one network."""

OF_NETWORK: Final = 100
"""Maximum number of wrong passwords by one network, for all users."""

UNDER_ATTACK: Final = ((1000, 1), (100, 2))
"""Wrong passwords for a user by all networks, and how many each network may add from then on."""

LATELY: Final = timedelta(days=30)
"""How long a network counts as one from which a user signed in."""

_MAX_COUNTERS: Final = 20_000
"""Maximum number of counters of a kind in memory; beyond it the one used longest ago goes."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class _Counters(Generic[K]):
    """The times of wrong passwords by user, network or both."""

    times: OrderedDict[K, deque[datetime]] = field(default_factory=OrderedDict)

    def recent(self, key: K, now: datetime) -> deque[datetime]:
        """Return the times of a key within the window, oldest first."""
        if key not in self.times:
            return deque()
        self.times.move_to_end(key)
        times = self.times[key]
        while times and times[0] <= now - WINDOW:
            times.popleft()
        return times

    def add(self, key: K, now: datetime) -> None:
        self.times.setdefault(key, deque()).append(now)
        while len(self.times) > _MAX_COUNTERS:
            self.times.popitem(last=False)

    def remove(self, key: K, now: datetime) -> None:
        with suppress(KeyError, ValueError):
            self.times[key].remove(now)


class WrongPasswords:
    """Counts the wrong passwords that this process was sent.

    Names are counted whether or not they are users', so that a limit shows nothing about them.
    """

    def __init__(self) -> None:
        self._pairs: _Counters[tuple[str, str]] = _Counters()
        self._networks: _Counters[str] = _Counters()
        self._users: _Counters[str] = _Counters()
        self._signed_in: OrderedDict[tuple[str, str], datetime] = OrderedDict()
        self._lock = Lock()

    def count(self, user: str, network: str | None, *, now: datetime) -> None:
        """Count an attempt as wrong before it is checked: many may be sent at once.

        Raises:
            TooMany: there were too many wrong passwords; this attempt is not counted.
        """
        name, source = _key(user, network)
        with self._lock:
            is_known = self._is_known((name, source), now)
            of_pair = self._pairs.recent((name, source), now)
            of_user = self._users.recent(name, now)
            of_network = self._networks.recent(source, now)
            most = BY_NETWORK if is_known else _limit_with(len(of_user))
            if len(of_pair) >= most:
                _stop(of_pair, "for this user from your network", now)
            if not is_known and len(of_network) >= OF_NETWORK:
                _stop(of_network, "from your network", now)
            self._pairs.add((name, source), now)
            self._networks.add(source, now)
            self._users.add(name, now)

    def remove(self, user: str, network: str | None, *, now: datetime) -> None:
        """Remove an attempt that was counted at a time: its password was right.

        The network counts as one of the user from then on.
        """
        name, source = _key(user, network)
        with self._lock:
            self._pairs.remove((name, source), now)
            self._networks.remove(source, now)
            self._users.remove(name, now)
            self._signed_in[name, source] = now
            self._signed_in.move_to_end((name, source))
            while len(self._signed_in) > _MAX_COUNTERS:
                self._signed_in.popitem(last=False)

    def _is_known(self, pair: tuple[str, str], now: datetime) -> bool:
        """Return whether the user signed in from the network lately."""
        signed_in = self._signed_in.get(pair)
        return signed_in is not None and signed_in > now - LATELY


def _key(user: str, network: str | None) -> tuple[str, str]:
    return user[:100], network or ""


def _limit_with(wrong: int) -> int:
    """Return how many wrong passwords a network may send for a user who had so many in all.

    Example:
        >>> _limit_with(99), _limit_with(100), _limit_with(1000)
        (10, 2, 1)
    """
    return next((few for many, few in UNDER_ATTACK if wrong >= many), BY_NETWORK)


def _stop(times: deque[datetime], what: str, now: datetime) -> None:
    """Raise the error of too many attempts.

    Raises:
        TooMany: always; it says when the oldest attempt no longer counts.
    """
    wait = (times[0] + WINDOW - now).total_seconds()
    raise TooMany(
        f"there were {len(times)} wrong passwords {what}; try again in "
        f"{max(1, round(wait / 60))} minutes, or sign in with a token",
        retry_after=max(1.0, wait),
    )
