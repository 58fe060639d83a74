"""Write archives of what an agent left in a step: what the next begins with, what tests receive.

What it left may stand where a file of the next step belongs: a folder, a link to elsewhere. The
step's own file takes its place, so no agent decides what the next step begins with.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from agon.app.containers import Outputs, RejectedEntry
from agon.app.containers.collection import is_excluded
from agon.app.containers.home_settings import within_or_at
from agon.runners.containers.archives import (
    END,
    ArchiveEntry,
    content,
    entries,
    header,
    padding,
)
from agon.runners.containers.staging import walk


def write_start(target: Path, state: Path | None, folders: Sequence[tuple[Path, str]]) -> None:
    """Write an archive with the entries of a state and what is in folders.

    Args:
        target: the new archive.
        state: an archive that passed the filter; None: there is none.
        folders: folders of the host, each with the folder inside that its content is copied to.
    """
    laid = {name: path for folder, place in folders for name, path in _laid(folder, place)}
    above = {
        name for _, place in folders for name in _ancestors(os.fsencode(place.strip("/") + "/x"))
    }
    there: set[bytes] = set()
    with target.open("wb") as file:
        if state is not None:
            with state.open("rb") as archive:
                stays = _without(entries(archive), lambda one: _is_replaced(one, laid, above))
                for entry in stays:
                    _write(file, entry, archive)
                    there.add(entry.name)
        for name, path in laid.items():
            if name not in there:
                _add(file, name, path)
        file.write(END)


def write_owners(target: Path, state: Path) -> None:
    """Write which entries of a state belong to a user, by their groups: ``UID NAME``, a line each.

    What is in a folder comes before it. A name that a line cannot hold is left out, and so are
    logs, which each step begins without.

    Args:
        target: the new file.
        state: the archive.
    """
    with state.open("rb") as archive:
        lines = [
            b"%d /%b\n" % (entry.group, name)
            for entry in entries(archive)
            if entry.group
            and (name := entry.name.rstrip(b"/")) == b" ".join(name.split(None))
            and not name.startswith(b"logs/")
        ]
    target.write_bytes(b"".join(reversed(lines)))


def select_outputs(
    outputs: Outputs,
    paths: Sequence[str],
    *,
    excluded: Sequence[tuple[str, tuple[str, ...]]] = (),
    target: Path,
) -> Outputs:
    """Return a part of an agent's outputs, in an archive of its own.

    Args:
        outputs: what the agent left.
        paths: what is taken of it.
        excluded: folders, each with the patterns of what is left out below it.
        target: the new archive.
    """

    def is_left_out(entry: ArchiveEntry) -> bool:
        path = "/" + os.fsdecode(entry.name)
        return not any(within_or_at(path, one) for one in paths) or any(
            path.startswith(f"{folder}/") and is_excluded(path[len(folder) + 1 :], patterns)
            for folder, patterns in excluded
        )

    taken: list[ArchiveEntry] = []
    with target.open("wb") as file, outputs.path.open("rb") as archive:
        for entry in _without(entries(archive), is_left_out):
            _write(file, entry, archive)
            taken.append(entry)
        file.write(END)
    names = ["/" + os.fsdecode(entry.name) for entry in taken]
    missing = [path for path in paths if not any(within_or_at(name, path) for name in names)]
    left_out = (RejectedEntry(name=path, reason="it is not there") for path in missing)
    with target.open("rb") as written:
        sha256 = hashlib.file_digest(written, "sha256").hexdigest()
    return replace(
        outputs, path=target, declared=tuple(paths), files=len(taken), sha256=sha256,
        size=sum(entry.size for entry in taken), left_out=(*left_out, *outputs.left_out),
        left_out_total=len(missing) + outputs.left_out_total,
    )  # fmt: skip


def _laid(folder: Path, place: str) -> Iterator[tuple[bytes, Path]]:
    """Yield what is in a folder by its name inside, a folder before its content."""
    for path in walk(folder):
        yield os.fsencode(f"{place.strip('/')}/{path.relative_to(folder)}"), path


def _without(
    state: Iterable[ArchiveEntry], is_left_out: Callable[[ArchiveEntry], bool]
) -> Iterator[ArchiveEntry]:
    """Yield the entries that stay; further names of a file that is left out keep its content."""
    gone: dict[bytes, ArchiveEntry] = {}
    renamed: dict[bytes, bytes] = {}
    for entry in [replace(one, name=one.name.rstrip(b"/")) for one in state]:
        if is_left_out(entry):
            gone[entry.name] = entry
        elif entry.kind != "same":
            yield entry
        elif (first := gone.pop(entry.target, None)) is not None:
            renamed[entry.target] = entry.name
            yield replace(first, name=entry.name)
        else:
            yield replace(entry, target=renamed.get(entry.target, entry.target))


def _is_replaced(entry: ArchiveEntry, laid: dict[bytes, Path], above: set[bytes]) -> bool:
    """Return whether an entry stands where something else is laid."""
    if entry.kind != "folder" and entry.name in above:
        return True
    own = laid.get(entry.name)
    if own is not None and not (entry.kind == "folder" and _is_folder(own)):
        return True
    return any(name in laid and not _is_folder(laid[name]) for name in _ancestors(entry.name))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _ancestors(name: bytes) -> Iterator[bytes]:
    r"""Yield the folders that a name is in.

    Example:
        >>> list(_ancestors(b"app/data/x"))
        [b'app', b'app/data']
    """
    parts = name.split(b"/")
    for end in range(1, len(parts)):
        yield b"/".join(parts[:end])


def _add(file: BinaryIO, name: bytes, path: Path) -> None:
    """Write a file, a folder or a link of the host."""
    facts = path.lstat()
    entry = ArchiveEntry(name=name, kind="folder", mode=facts.st_mode & 0o777)
    if path.is_symlink():
        entry = replace(entry, kind="link", target=os.fsencode(path.readlink()))
    elif path.is_file():
        entry = replace(entry, kind="file", size=facts.st_size, mtime=int(facts.st_mtime))
    if entry.kind != "file":
        file.write(header(entry))
        return
    with path.open("rb") as source:
        _write(file, entry, source)


def _write(file: BinaryIO, entry: ArchiveEntry, source: BinaryIO) -> None:
    file.write(header(entry))
    file.writelines(content(source, entry))
    file.write(padding(entry.size))
