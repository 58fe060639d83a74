"""Load the service's keys: random bytes in files that only their owner may read."""

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agon.errors import Conflict, NotFound, Unreadable

KEY_BYTES = 32


def load_key(
    path: Path, *, make: bool = True, random: Callable[[int], bytes] = secrets.token_bytes
) -> bytes:
    """Return the 32 bytes of a key file; a missing file is created atomically with mode 0600.

    Several processes may start at the same time: all return the key that was created first.

    Args:
        path: the file.
        make: whether a missing file is created; False for a process that reads existing data,
            which a new key could not decrypt.
        random: returns that many random bytes.

    Raises:
        NotFound: it is missing and not to be created, or its folder is missing.
        Conflict: other users may read it.
        Unreadable: its length is not 32 bytes.
    """
    if not path.exists():
        if not make:
            raise NotFound(f"{path}: no such key; restore it from the backup")
        _make(path, random(KEY_BYTES))
    mode = path.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Conflict(f"{path} can be read by other users; run chmod 600 {path}")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise Unreadable(
            f"{path} has {len(key)} bytes, a key has {KEY_BYTES}; restore it from the backup, or "
            "remove it so that a new one is created (data protected by the old one is lost)"
        )
    return key


def _make(path: Path, key: bytes) -> None:
    """Write a key to a temporary file, then link it unless another process was faster."""
    if not path.absolute().parent.is_dir():
        raise NotFound(f"{path.parent}: no such folder; create it first")
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
