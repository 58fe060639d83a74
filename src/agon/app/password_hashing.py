"""Hash passwords with Argon2id, and spend the same work on users who have none.

The parameters are the second recommendation of RFC 9106, but with one lane: 64 MiB and three
passes. The memory makes guesses at stolen hashes expensive; less of it would save little, since
requests wait for their turn to hash (``password_hashes``). One lane is as hard to guess as four,
and a sign-in takes one processor instead of all.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from agon.errors import Unavailable

MEMORY_KIB: Final = 64 << 10
"""Memory of a hash in KiB, while it is computed."""

_PASSES: Final = 3
_LANES: Final = 1
_STEP_KIB: Final = 512
_MEASURED: Final = 16
"""Number of newest checks of a password whose processor time is stored."""


class PasswordHashing:
    """Hashes passwords, and checks them in a time that does not show whether there is a hash.

    Where there is none, as for an invented name, a check spends the processor time of a recent real
    one in half a MiB. Processor time, unlike a pause of a measured length, takes longer on a busy
    machine, as a real check does. The first check of a process needs the memory in any case: there
    is nothing measured yet.

    Args:
        cpu_time: returns the processor time of this thread in seconds.
    """

    def __init__(self, *, cpu_time: Callable[[], float] = time.thread_time) -> None:
        self._cpu_time = cpu_time
        self._measured: deque[float] = deque(maxlen=_MEASURED)

    def hash(self, password: str) -> str:
        """Return the hash of a password, with its parameters.

        Raises:
            Unavailable: argon2-cffi is not installed.
        """
        return str(_hasher().hash(password))

    def is_current(self, password_hash: str) -> bool:
        """Return whether a hash has today's parameters; others are computed again at sign-in."""
        return not _hasher().check_needs_rehash(password_hash)

    def matches(self, password_hash: str | None, password: str) -> bool:
        """Return whether a hash is that of a password; None is of no password.

        Raises:
            Unavailable: argon2-cffi is not installed.
        """
        began = self._cpu_time()
        if password_hash is None and self._measured:
            self._spend(began)
            return False
        if password_hash is None:
            self.hash(password)
            matches = False
        else:
            matches = _verify(password_hash, password)
        if password_hash is None or self.is_current(password_hash):
            self._measured.append(self._cpu_time() - began)
        return matches

    def _spend(self, began: float) -> None:
        """Compute small hashes until the time of the check measured longest ago was spent."""
        duration = self._measured[0]
        self._measured.rotate(-1)
        hasher = _hasher(memory_kib=_STEP_KIB, passes=1)
        while self._cpu_time() - began < duration:
            hasher.hash("")


def _verify(password_hash: str, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return bool(_hasher().verify(password_hash, password))
    except (Argon2Error, InvalidHashError):
        return False


def _hasher(*, memory_kib: int | None = None, passes: int = _PASSES) -> Any:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise Unavailable("passwords need argon2-cffi; install agon-engine[serve]") from None
    memory_cost = MEMORY_KIB if memory_kib is None else memory_kib
    return PasswordHasher(time_cost=passes, memory_cost=memory_cost, parallelism=_LANES)
