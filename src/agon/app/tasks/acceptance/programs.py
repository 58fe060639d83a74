"""Find the programs that an oracle left and the tests run, and replace them in its outputs."""

import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Final

from agon.app.tasks.acceptance.forgeries import language_of

_HEAD_BYTES: Final = 128
_MAX_PROGRAMS: Final = 256
_MAX_ORIGINAL_BYTES: Final = 1 << 18
_PYTHON: Final = ".py"


@dataclass(frozen=True, kw_only=True)
class LeftFile:
    """A file of an agent's outputs.

    Attributes:
        path: its absolute path.
        language: that of the program it is; empty: it is none.
        content: hash of its mode and content.
    """

    path: str
    language: str
    content: bytes


def files_of(archive: Path) -> dict[str, LeftFile]:
    """Return the files of an archive by their absolute paths; none where there is no archive."""
    if not archive.is_file() or not tarfile.is_tarfile(archive):
        return {}
    return {file.path: file for file in _files(archive)}


def _files(archive: Path) -> Iterator[LeftFile]:
    with tarfile.open(archive, encoding="utf-8", errors="surrogateescape") as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is None:
                continue
            first = content.read(_HEAD_BYTES)
            digest = sha256(f"{entry.mode} ".encode() + first)
            while piece := content.read(1 << 20):
                digest.update(piece)
            path = f"/{entry.name}"
            yield LeftFile(
                path=path,
                language=language_of(path, first, entry.mode),
                content=digest.digest(),
            )


def programs_under_test(
    oracle: Mapping[str, LeftFile], nothing: Mapping[str, LeftFile], texts: Mapping[str, str]
) -> tuple[LeftFile, ...]:
    """Return the programs among an oracle's files that the tests seem to run.

    Those that the tests mention, also if the image has them, since an agent may replace any; where
    they mention none, those that the oracle wrote or changed.

    Args:
        oracle: the files that the oracle left.
        nothing: the files that are left when nothing is done.
        texts: the texts of the tests by file.
    """
    programs = [file for file in oracle.values() if file.language]
    called = [
        file for file in programs if any(mentions(text, file.path) for text in texts.values())
    ]
    written = [file for file in programs if nothing.get(file.path) != file]
    return tuple(called or written)[:_MAX_PROGRAMS]


def mentions(text: str, path: str) -> bool:
    """Return whether a text of the tests mentions a program: its path, its name, or as a module.

    A name without an ending is a word as well, so it counts only behind a slash.

    Example:
        >>> mentions("sh ./solve.sh", "/app/solve.sh"), mentions("run it", "/app/run")
        (True, False)
        >>> mentions("from solution import f", "/app/solution.py")
        True
        >>> mentions("import pkg.core", "/app/pkg/__init__.py")
        True
    """
    file = PurePosixPath(path)
    name = re.escape(file.name)
    before = r"(?<![\w.-])" if file.suffix else r"(?<=/)"
    if file.name != "__init__.py" and re.search(rf"{before}{name}(?![\w-])(?!\.\w)", text):
        return True
    if file.suffix != _PYTHON:
        return False
    module = re.escape(file.parent.name if file.name == "__init__.py" else file.stem)
    return bool(
        re.search(
            rf"^[ \t]*(?:from|import)[ \t]+(?:[\w.]+,[ \t]*)*(?:[\w.]+\.)?{module}\b"
            rf"|^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t].*\b{module}\b"
            rf"|\s-m[ \t]+(?:\w+\.)*{module}\b|import_module\([\"']{module}\b",
            text,
            re.MULTILINE,
        )
    )


def write_replaced(
    source: Path, target: Path, replaced: Mapping[str, Callable[[bytes], bytes]]
) -> int:
    """Copy an archive with other contents of some files, which may be executed; return its size.

    Args:
        source: the archive.
        target: the archive to write.
        replaced: by absolute path, returns the new content for the original (for nothing if large).
    """
    size = 0
    with (
        tarfile.open(source, encoding="utf-8", errors="surrogateescape") as old,
        tarfile.open(
            target, "w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
        ) as new,
    ):
        for entry in old:
            original = old.extractfile(entry) if entry.isfile() else None
            forge = replaced.get(f"/{entry.name}")
            if original is None or forge is None:
                new.addfile(entry, original)
            else:
                small = entry.size <= _MAX_ORIGINAL_BYTES
                content = forge(original.read() if small else b"")
                entry.size, entry.mode = len(content), entry.mode | 0o755
                new.addfile(entry, BytesIO(content))
            size += entry.size if entry.isfile() else 0
    return size


def traces_in(logs: Path | None, prefix: str) -> dict[int, str]:
    """Return the texts of the traces that forged programs left in ``/logs``, by their numbers."""
    if logs is None or not logs.is_file() or not tarfile.is_tarfile(logs):
        return {}
    traces: dict[int, str] = {}
    with tarfile.open(logs, encoding="utf-8", errors="surrogateescape") as opened:
        for entry in opened:
            name = entry.name.rpartition("/")[2]
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is not None and name.startswith(prefix):
                number = name.removeprefix(prefix)
                if number.isdecimal():
                    traces[int(number)] = content.read(1 << 16).decode(errors="replace")
    return traces
