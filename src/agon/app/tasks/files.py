"""Look into a task's folder: read its texts, hash all of it, never through a link."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agon.app.files import Fault, Unfit, read_bytes

MAX_TEXT = 1 << 20
"""Bytes of the longest instruction or settings file that is read."""
_BLOCK = 1 << 20


def read_text(path: Path, *, where: str) -> str:
    """Read a file of UTF-8 text without NUL bytes.

    Raises:
        Unfit: it is missing, no regular file, longer than :data:`MAX_TEXT`, or no such text.
    """
    content = read_bytes(path, most=MAX_TEXT, where=where)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        what = f"is not UTF-8 at byte {wrong.start}"
        raise Unfit(Fault(where, what, "save it as UTF-8")) from None
    if "\0" in text:
        raise Unfit(Fault(where, "holds a NUL byte", "remove it"))
    return text


def files_under(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Give every entry below a folder with its relative path, in order of names, a folder first.

    Links are entries, too, and not followed.
    """
    waiting = _entries(folder, "")
    while waiting:
        path, entry = waiting.pop()
        yield path, entry
        if entry.is_dir(follow_symlinks=False):
            waiting += _entries(Path(entry.path), f"{path}/")


def _entries(folder: Path, prefix: str) -> list[tuple[str, os.DirEntry[str]]]:
    """List a folder's entries, the last one first."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name, reverse=True)
    return [(f"{prefix}{entry.name}", entry) for entry in found]


def sha256_of(folder: Path) -> str:
    """Hash a folder: the path, kind, executable bit and content of everything in it.

    Times, owners and the order of the file system do not matter; a link counts by where it points.
    """
    lines = []
    for path, entry in files_under(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            kind, content = "link", os.fsencode(Path(entry.path).readlink())
        elif stat.S_ISREG(mode):
            kind, content = ("script" if mode & 0o111 else "file"), _digest(entry.path)
        else:
            kind, content = ("folder" if stat.S_ISDIR(mode) else "special"), b""
        lines.append(b"\0".join([os.fsencode(path), kind.encode(), content]))
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()


def _digest(path: str) -> bytes:
    hashed = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.digest()


def mentions(folder: Path, words: tuple[bytes, ...]) -> bool:
    """Say whether any regular file of a folder holds one of the words (in its first MiB)."""
    for _, entry in files_under(folder):
        if entry.is_file(follow_symlinks=False):
            with Path(entry.path).open("rb") as file:
                content = file.read(MAX_TEXT)
            if any(word in content for word in words):
                return True
    return False
