"""Keep the service's own keys: random bytes in files that nobody else may read."""

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
    """Return the 32 bytes of a key file; it is made, complete and with mode 0600, if missing.

    Several processes may start at once: all get the key that was there first.

    Args:
        path: the file.
        make: whether a missing one is made; a process that could not read older data with a new
            key says no.
        random: gives that many random bytes.

    Raises:
        NotFound: it is missing and not to be made, or its folder is missing.
        Conflict: other users may read it.
        Unreadable: it does not hold 32 bytes.
    """
    if not path.exists():
        if not make:
            raise NotFound(f"{path}: no such key; bring it back from the backup")
        _make(path, random(KEY_BYTES))
    mode = path.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Conflict(f"{path} can be read by other users; run chmod 600 {path}")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise Unreadable(
            f"{path} holds {len(key)} bytes where a key has {KEY_BYTES}; bring it back from the "
            "backup, or remove it to have a new one made (what the old one protected is lost)"
        )
    return key


def _make(path: Path, key: bytes) -> None:
    """Write a key beside its place, then link it there unless another process was faster."""
    if not path.absolute().parent.is_dir():
        raise NotFound(f"{path.parent}: no such folder; make it first")
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
