"""Copy the files that containers see: unchanged during a run, readable for every user."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from agon.errors import NotFound, Unreadable

_RUNNABLE = 0o755
_READABLE = 0o644


class StagingFolder:
    """Copies of folders and files, readable for all users inside.

    In a container without capabilities even root cannot read another user's private files. The
    folder itself is private on the host.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._staged: dict[Path, Path] = {}

    def show(self, source: Path) -> Path:
        """Return the copy of a folder or a file, made at the first call.

        Raises:
            NotFound: it does not exist.
            Unreadable: it contains something other than files, folders and links among them.
        """
        source = source.resolve()
        with self._lock:
            copy = self._staged.get(source)
            if copy is None:
                copy = self._folder / f"{len(self._staged)}"
                _copy(source, copy)
                self._staged[source] = copy
        return copy


def content_hash(folder: Path | None, *further: str) -> str:
    """Return the SHA-256 of a folder: names, kinds, executable bits, contents, targets of links.

    Neither times nor owners count, so a fresh checkout has the same hash.

    Args:
        folder: the folder; or None.
        further: other texts that the result depends on.

    Raises:
        Unreadable: it contains something other than files, folders and links.
    """
    digest = hashlib.sha256()
    for text in further:
        _feed(digest, text.encode())
    if folder is not None:
        for path in walk(folder):
            _feed(digest, os.fsencode(path.relative_to(folder)), *_entry_fields(path))
    return digest.hexdigest()


def _entry_fields(path: Path) -> tuple[bytes, ...]:
    if path.is_symlink():
        return (b"link", os.fsencode(path.readlink()))
    if path.is_dir():
        return (b"folder",)
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").digest()
    return (b"runnable" if _runnable(path) else b"file", content)


def _feed(digest: "hashlib._Hash", *parts: bytes) -> None:
    """Hash parts with their lengths, so that different sequences of parts differ."""
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)


def walk(folder: Path) -> Iterator[Path]:
    """Yield all entries of a folder, sorted by name."""
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        kind = path.lstat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            raise Unreadable(f"{path} is neither file nor folder nor link; remove it")
        yield path
        if stat.S_ISDIR(kind):
            yield from walk(path)


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        _copy_file(source, target)
        return
    if not source.is_dir():
        raise NotFound(f"{source} does not exist; it is needed in a container")
    target.mkdir(mode=_RUNNABLE)
    for path in walk(source):
        copy = target / path.relative_to(source)
        if path.is_symlink():
            if not path.resolve().is_relative_to(source):
                raise Unreadable(f"{path} is a link that leads out of {source}; copy its target")
            copy.symlink_to(path.readlink())
        elif path.is_dir():
            copy.mkdir(mode=_RUNNABLE)
        else:
            _copy_file(path, copy)


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(_RUNNABLE if _runnable(source) else _READABLE)


def _runnable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o111) or path.suffix == ".sh"
