"""Read and hash the files of a task's folder, never through a link."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agon.app.files import FileIssue, InvalidPackage, entries_of, read_bytes

MAX_TEXT = 1 << 20
"""Maximum size in bytes of an instruction or settings file."""
_BLOCK = 1 << 20


def read_text(path: Path, *, where: str) -> str:
    """Return the text of a UTF-8 file without NUL bytes.

    Raises:
        InvalidPackage: it is missing, not a regular file, longer than :data:`MAX_TEXT`, or not
            such text.
    """
    content = read_bytes(path, most=MAX_TEXT, where=where)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        what = f"is not UTF-8 at byte {wrong.start}"
        raise InvalidPackage(FileIssue(where, what, "save it as UTF-8")) from None
    if "\0" in text:
        raise InvalidPackage(FileIssue(where, "contains a NUL byte", "remove it"))
    return text


def files_under(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every entry below a folder with its relative path, sorted, a folder before its content.

    Links are entries as well and are not followed.
    """
    waiting = _entries(folder, "")
    while waiting:
        path, entry = waiting.pop()
        yield path, entry
        if entry.is_dir(follow_symlinks=False):
            waiting += _entries(Path(entry.path), f"{path}/")


def _entries(folder: Path, prefix: str) -> list[tuple[str, os.DirEntry[str]]]:
    """Return a folder's entries, the last one first."""
    return [(f"{prefix}{entry.name}", entry) for entry in reversed(entries_of(folder))]


def sha256_of(folder: Path) -> str:
    """Return the SHA-256 of a folder: path, kind, executable bit and content of each entry.

    Times, owners and the order in the file system do not matter; a link counts by its target.
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
    """Return whether a regular file of a folder contains one of the words (in its first MiB)."""
    for _, entry in files_under(folder):
        if entry.is_file(follow_symlinks=False):
            with Path(entry.path).open("rb") as file:
                content = file.read(MAX_TEXT)
            if any(word in content for word in words):
                return True
    return False
