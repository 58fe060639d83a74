"""Keep a whole ledger as one directory, which can be written, carried away and read back.

``contest.json`` says what it is, ``ledger.ndjson`` holds the entries' lines as they are,
``heads.ndjson`` the signed heads. Written, read and written again, it is the same byte for byte.
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
from agon.ledger.entry import LONGEST_LINE, Entry, chain, genesis, read_line
from agon.ledger.files import CONTEST, HEADS, LEDGER, lines_in, opened
from agon.ledger.fold import LedgerState
from agon.ledger.heads import SignedHead
from agon.ledger.issues import InvalidEntry
from agon.ledger.verification import FORMAT, verify_directory


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Hold a directory's ledger after its check.

    Attributes:
        state: what the entries say.
        public_key: whose heads they are, None where there is no key.
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
            Unreadable: the file is another than the one that was checked; nothing that was read
                from it may be kept.
        """
        head = genesis(self.contest)
        seq = 0
        try:
            with opened(self.folder, LEDGER) as stream:
                for line, _ in lines_in(stream, longest=LONGEST_LINE):
                    head, seq = chain(head, line), seq + 1
                    yield Entry(**read_line(line).__dict__, sha256=head)
        except InvalidEntry:
            raise self._changed() from None
        if (seq, head) != (self.state.contest.seq, self.state.contest.head):
            raise self._changed()

    def _changed(self) -> Unreadable:
        return Unreadable(f"{self.folder / LEDGER} changed while it was read; import it again")


def export_directory(
    folder: Path,
    *,
    contest: str,
    lines: Iterable[bytes],
    heads: Iterable[SignedHead] = (),
    public_key: bytes | None = None,
) -> None:
    """Write a ledger as a directory; it is there whole or not at all.

    Args:
        folder: the directory to make.
        contest: the contest's name.
        lines: the entries' lines, all of them, from the first.
        heads: the signed heads, oldest first.
        public_key: the public key (32 bytes) they can be checked with.

    Raises:
        Conflict: the folder is there already.
        Unreadable: it cannot be written.
    """
    if folder.exists() or folder.is_symlink():
        raise Conflict(f"{folder} is there already; name a new folder")
    try:
        # Beside its place, so that it comes there by a rename.
        workplace = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            made = workplace / "ledger"
            made.mkdir(mode=0o700)  # what is hidden from the public is in it
            _write(made, contest=contest, lines=lines, heads=heads, public_key=public_key)
            made.rename(folder)
            _sync(folder.parent)
        finally:
            shutil.rmtree(workplace, ignore_errors=True)
    except OSError as error:
        if folder.exists():
            raise Conflict(f"{folder} is there already; name a new folder") from error
        what = f"{folder} cannot be written: {error.strerror}"
        raise Unreadable(f"{what}; name a folder that can be made") from error


def import_directory(folder: Path, *, public: bytes | None = None) -> Imported:
    """Read a ledger's directory after checking all of it.

    Args:
        folder: the directory.
        public: the public key the signatures have to be of; else the one the directory names.

    Raises:
        InvalidEntry: with everything that is wrong with it.
    """
    verified = verify_directory(folder, public=public)
    if verified.issues or verified.contest is None:
        raise InvalidEntry(verified.issues)
    return Imported(
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
        ledger = files.enter_context((folder / LEDGER).open("xb"))
        for line in lines:
            head, seq = chain(head, line), seq + 1
            ledger.write(line + b"\n")
        signed = files.enter_context((folder / HEADS).open("xb"))
        signed.writelines(one.line + b"\n" for one in heads)
        about = files.enter_context((folder / CONTEST).open("xb"))
        about.write(contest_page(contest, seq=seq, head=head, public_key=public_key))
        for file in (ledger, signed, about):
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _sync(folder: Path) -> None:
    """Make a folder's entries last; where a file system cannot, there is nothing more to do."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
