"""Read files nobody has vouched for: no links, nothing but plain files, no line without an end."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from agon.ledger.issues import InvalidEntry, LedgerIssue

CONTEST: Final = "contest.json"
LEDGER: Final = "ledger.ndjson"
HEADS: Final = "heads.ndjson"
FILES: Final = (CONTEST, LEDGER, HEADS)
"""What a ledger's directory holds."""

_PLAIN = "export the ledger anew, into plain files"


@contextmanager
def opened(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a plain file directly in a folder; neither may be a link.

    Raises:
        InvalidEntry: there is none, or it cannot be read, or it is a link, a device, a pipe.
    """
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            # A pipe nobody writes to would keep us waiting without O_NONBLOCK.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=place)
        finally:
            os.close(place)
    except FileNotFoundError:
        raise InvalidEntry([LedgerIssue("the file is missing", _PLAIN, name)]) from None
    except OSError as error:
        what = f"it cannot be opened as a plain file ({error.strerror})"
        raise InvalidEntry([LedgerIssue(what, _PLAIN, name)]) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidEntry([LedgerIssue("it is no plain file", _PLAIN, name)])
    with open(handle, "rb") as stream:  # noqa: PTH123 - it is open already
        yield stream


def lines_in(stream: BinaryIO, *, longest: int) -> Iterator[tuple[bytes, bool]]:
    r"""Yield each line without its end, and whether it had one.

    Of a line that is longer, ``longest + 1`` bytes are given, and the rest is passed over. Only
    ``\n`` ends a line.
    """
    while chunk := stream.readline(longest + 1):
        ended = chunk.endswith(b"\n")
        line = chunk[:-1] if ended else chunk
        while not ended and (rest := stream.readline(1 << 20)):
            ended = rest.endswith(b"\n")
        yield line, ended


def strangers(folder: Path) -> list[LedgerIssue]:
    """List what is in a folder and does not belong into a ledger's directory.

    Raises:
        InvalidEntry: the folder is none, or a link.
    """
    if folder.is_symlink() or not folder.is_dir():
        remedy = "name a folder that agon contest export has written"
        raise InvalidEntry([LedgerIssue("it is no folder", remedy, str(folder))])
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        what = f"it cannot be listed ({error.strerror})"
        raise InvalidEntry([LedgerIssue(what, "let agon read it", str(folder))]) from None
    return [
        LedgerIssue(
            "it does not belong here", "take it away", name.encode("utf-8", "replace").decode()
        )
        for name in names
        if name not in FILES
    ]
