"""Open untrusted files: regular files only, no links, lines of limited length."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from agon.kernel.progress import step
from agon.ledger.issues import InvalidEntry, LedgerIssue

CONTEST: Final = "contest.json"
LEDGER: Final = "ledger.ndjson"
HEADS: Final = "heads.ndjson"
FILES: Final = (CONTEST, LEDGER, HEADS)
"""The files that every ledger's directory has."""

ATTACHMENTS: Final = "attachments.ndjson"
"""The file that it has if there are attachments."""

_EXPORT_AGAIN = "export the ledger again, into regular files"


@contextmanager
def open_file(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a regular file directly in a folder; neither may be a link.

    Raises:
        InvalidEntry: it is missing, unreadable, a link, a device or a pipe.
    """
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            # Without O_NONBLOCK, opening a pipe without a writer would block.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=directory)
        finally:
            os.close(directory)
    except FileNotFoundError:
        raise InvalidEntry([LedgerIssue("the file is missing", _EXPORT_AGAIN, name)]) from None
    except OSError as error:
        fact = f"it cannot be opened as a regular file ({error.strerror})"
        raise InvalidEntry([LedgerIssue(fact, _EXPORT_AGAIN, name)]) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidEntry([LedgerIssue("it is not a regular file", _EXPORT_AGAIN, name)])
    with open(handle, "rb") as stream:  # noqa: PTH123 - it is open already
        yield stream


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner may open, with any umask."""
    path.mkdir(mode=0o700)
    path.chmod(0o700)


def create_private(path: Path) -> BinaryIO:
    """Create a file that only its owner may read, with any umask, and open it for writing.

    A ledger has hidden answers and people's data; its owner may give others access.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600)
    os.fchmod(handle, 0o600)
    return open(handle, "wb")  # noqa: PTH123 - it is open already; the caller closes it


def read_lines(stream: BinaryIO, *, max_bytes: int) -> Iterator[tuple[bytes, bool]]:
    r"""Yield each line without its end, and whether it had one.

    Of a longer line the first ``max_bytes + 1`` bytes are returned. Only ``\n`` ends a line.
    """
    with step("reading entries", lambda: share_read(stream)):
        while chunk := stream.readline(max_bytes + 1):
            ended = chunk.endswith(b"\n")
            line = chunk[:-1] if ended else chunk
            while not ended and (rest := stream.readline(1 << 20)):
                ended = rest.endswith(b"\n")
            yield line, ended


def share_read(stream: BinaryIO) -> float:
    """Return the share of a file that has been read; it may be asked from another thread."""
    size = os.fstat(stream.fileno()).st_size
    return os.lseek(stream.fileno(), 0, os.SEEK_CUR) / max(size, 1)


def require_folder(folder: Path) -> None:
    """Raise unless a path names a folder that is no link.

    Raises:
        InvalidEntry: it is missing, a file, or a link.
    """
    if folder.is_symlink() or not folder.is_dir():
        is_missing = not folder.is_symlink() and not folder.exists()
        fact = "there is no such folder" if is_missing else "it is not a folder"
        remedy = "name a folder that agon contest export wrote"
        raise InvalidEntry([LedgerIssue(fact, remedy, str(folder))])


def unknown_files(folder: Path) -> list[LedgerIssue]:
    """Return the files of a folder that do not belong to a ledger's directory, as issues.

    Raises:
        InvalidEntry: it is missing, a file, or a link.
    """
    require_folder(folder)
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        fact = f"it cannot be listed ({error.strerror})"
        raise InvalidEntry([LedgerIssue(fact, "allow agon to read it", str(folder))]) from None
    return [
        LedgerIssue(
            "it does not belong here", "remove it", name.encode("utf-8", "replace").decode()
        )
        for name in names
        if name not in {*FILES, ATTACHMENTS}
    ]
