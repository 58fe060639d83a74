"""Make the folders to which DuckDB spills, and remove those whose process was killed.

A process holds a lock on its folder, which the kernel releases however it ends. The server and each
worker remove the folders of killed processes when they start, and :func:`make_spill_folder` does.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PREFIX: Final = "agon-spill-"


@dataclass(frozen=True)
class SpillFolder:
    """A folder of this process.

    Attributes:
        path: its path.
        lock: the descriptor that holds the lock.
    """

    path: str
    lock: int

    def remove(self) -> None:
        """Remove the folder with its content, then release the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def make_spill_folder() -> SpillFolder:
    """Return a new folder that only this user can read; folders of killed processes are removed."""
    remove_abandoned()
    while True:
        path = tempfile.mkdtemp(prefix=_PREFIX)
        with suppress(FileNotFoundError):  # another process took it for abandoned
            lock = _open(path)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, path):
                return SpillFolder(path, lock)
            os.close(lock)


def remove_abandoned() -> None:
    """Remove the folders of this user that no process has locked."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is another user's, no folder, or gone
            lock = _open(str(path))
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path)
            finally:
                os.close(lock)


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _is_at(descriptor: int, path: str) -> bool:
    """Return whether an open folder is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), Path(path).lstat())
    except FileNotFoundError:
        return False
