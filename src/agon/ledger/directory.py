"""Export a ledger as a directory, and import it.

``contest.json`` describes it, ``ledger.ndjson`` has the entries' lines as they are,
``heads.ndjson`` the signed heads, and ``attachments.ndjson`` what entries refer to by hash. An
imported ledger is exported to the same bytes.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from agon.errors import Conflict, Unreadable
from agon.kernel.fingerprints import canonical_json
from agon.ledger.attachments import attachment_lines, read_attachments
from agon.ledger.entry import MAX_LINE_BYTES, Entry, chain, genesis, read_line
from agon.ledger.files import (
    ATTACHMENTS,
    CONTEST,
    HEADS,
    LEDGER,
    create_private,
    make_private_folder,
    open_file,
    read_lines,
)
from agon.ledger.fold import LedgerState
from agon.ledger.heads import SignedHead
from agon.ledger.issues import InvalidEntry
from agon.ledger.verification import FORMAT, verify_directory


@dataclass(frozen=True, kw_only=True)
class LedgerDirectory:
    """A ledger in a directory, verified.

    Attributes:
        state: the state after the entries.
        public_key: the key of the heads' signatures; None for none.
        heads: the signed heads.
    """

    folder: Path
    contest: str
    state: LedgerState
    public_key: bytes | None
    heads: tuple[SignedHead, ...]

    def entries(self) -> Iterator[Entry]:
        """Read the entries again, one by one.

        Raises:
            Unreadable: the file was changed since it was verified; discard what was read.
        """
        head = genesis(self.contest)
        seq = 0
        try:
            with open_file(self.folder, LEDGER) as stream:
                for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES):
                    head, seq = chain(head, line), seq + 1
                    yield Entry(**read_line(line).__dict__, sha256=head)
        except InvalidEntry:
            raise self._changed_error() from None
        if (seq, head) != (self.state.contest.seq, self.state.contest.head):
            raise self._changed_error()

    def attachments(self) -> Iterator[bytes]:
        """Read the contents of the attachments, one by one.

        Raises:
            InvalidEntry: the file was changed since it was verified; discard what was read.
        """
        return read_attachments(self.folder)

    def _changed_error(self) -> Unreadable:
        return Unreadable(f"{self.folder / LEDGER} changed while it was read; import it again")


def export_directory(
    folder: Path,
    *,
    contest: str,
    lines: Iterable[bytes],
    heads: Iterable[SignedHead] = (),
    public_key: bytes | None = None,
    attachments: Iterable[tuple[str, bytes]] = (),
) -> None:
    """Write a ledger as a directory, completely or not at all.

    Args:
        folder: the directory to make.
        contest: the contest's name.
        lines: the entries' lines, all of them, from the first.
        heads: the signed heads, oldest first.
        public_key: the public key (32 bytes) they can be checked with.
        attachments: hash and content of attachments, sorted by hash.

    Raises:
        Conflict: the folder exists.
        Unreadable: it cannot be written.
    """
    if folder.exists() or folder.is_symlink():
        raise Conflict(f"{folder} exists; name a new folder")
    try:
        # In the same folder, so that it can be renamed.
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            ledger = temporary / "ledger"
            make_private_folder(ledger)
            _write(ledger, contest=contest, lines=lines, heads=heads, public_key=public_key)
            _write_attachments(ledger, attachments)
            ledger.rename(folder)
            _sync(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        if folder.exists():
            raise Conflict(f"{folder} exists; name a new folder") from error
        fact = f"{folder} cannot be written: {error.strerror}"
        raise Unreadable(f"{fact}; name a folder that can be created") from error


def import_directory(folder: Path) -> LedgerDirectory:
    """Verify a ledger's directory and return the ledger.

    Raises:
        InvalidEntry: with everything that is wrong with it.
    """
    verified = verify_directory(folder)
    if verified.issues or verified.contest is None:
        raise InvalidEntry(verified.issues)
    return LedgerDirectory(
        folder=folder,
        contest=verified.contest,
        state=verified.state,
        public_key=verified.public_key,
        heads=verified.heads,
    )


def contest_page(contest: str, *, seq: int, head: bytes, public_key: bytes | None = None) -> bytes:
    """Return the content of ``contest.json``: where the chain of a ledger's lines ends.

    Args:
        contest: the contest's name.
        seq: position of the last entry.
        head: the chain's hash there (32 bytes).
        public_key: the key that signed heads can be checked with; None where there are none.
    """
    page = {
        "format": FORMAT,
        "head_sha256": head.hex(),
        "id": contest,
        "public_key": None if public_key is None else public_key.hex(),
        "seq": seq,
    }
    return canonical_json(page) + b"\n"


def _write(
    folder: Path,
    *,
    contest: str,
    lines: Iterable[bytes],
    heads: Iterable[SignedHead],
    public_key: bytes | None,
) -> None:
    head, seq = genesis(contest), 0
    with ExitStack() as files:
        ledger = files.enter_context(create_private(folder / LEDGER))
        for line in lines:
            head, seq = chain(head, line), seq + 1
            ledger.write(line + b"\n")
        signed = files.enter_context(create_private(folder / HEADS))
        signed.writelines(signed_head.line + b"\n" for signed_head in heads)
        about = files.enter_context(create_private(folder / CONTEST))
        about.write(contest_page(contest, seq=seq, head=head, public_key=public_key))
        for file in (ledger, signed, about):
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _write_attachments(folder: Path, attachments: Iterable[tuple[str, bytes]]) -> None:
    """Write the file of attachments if there are any."""
    lines = attachment_lines(attachments)
    first = next(lines, None)
    if first is None:
        return
    with create_private(folder / ATTACHMENTS) as file:
        file.write(first)
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    _sync(folder)


def _sync(folder: Path) -> None:
    """Flush a folder's entries to disk, if its file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
