"""A contest's ledger that grows in a folder: the storage of a season that needs no database.

The folder has the form of an exported ledger (``contest.json``, ``ledger.ndjson``,
``heads.ndjson``), so that ``agon replay`` and ``agon contest import`` read it. Entries are written
immediately: a killed process loses none of them, a power failure those of the last seconds.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agon.app.files import write_secret
from agon.errors import Unavailable, Unreadable
from agon.kernel.times import read_time
from agon.ledger.directory import contest_page
from agon.ledger.entry import Draft, Entry, EntryLine, encode_entry, genesis, read_line
from agon.ledger.files import CONTEST, HEADS, LEDGER
from agon.ledger.fold import empty_ledger, fold
from agon.ledger.issues import InvalidEntry
from agon.records.writing import write_atomically

if TYPE_CHECKING:
    from datetime import datetime

_SYNC_INTERVAL_S: Final = 0.05
"""Seconds between syncs: a power failure loses at most the entries of this time."""

Records = Mapping[str, Mapping[int, Mapping[str, Any]]]
"""Rows by table and by their position."""


class LedgerFolder:
    """A ledger open for appending, by one process at a time, which its caller ensures.

    Times never run backwards: a draft older than the newest entry gets that entry's time.

    Args:
        folder: the folder, created with the first entry.
        contest: the name of the contest, of a ledger that has no entries yet.

    Attributes:
        contest: the contest's name, as the first entry says.
        seq: position of the newest entry; 0 before the first.
    """

    def __init__(self, folder: Path, *, contest: str) -> None:
        self.folder = folder
        self.contest = contest
        self.seq = 0
        self._head = genesis(contest)
        self._newest: datetime | None = None
        self._handle = -1
        self._synced = 0.0

    def read(self) -> tuple[Records, Iterator[EntryLine]]:
        """Read the ledger to its last complete line; what follows it is cut off.

        Returns:
            The records in force by table and position, and the entries that are not records.

        Raises:
            Unreadable: a line cannot follow those before it.
        """
        file = self.folder / LEDGER
        content = file.read_bytes() if file.exists() else b""
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.truncate(file, end)
        lines = content[:end].split(b"\n")[:-1]
        rows: dict[str, dict[int, Mapping[str, Any]]] = {}
        try:
            if lines:
                self.contest = str(read_line(lines[0]).body.get("contest"))
            state = fold(
                lines,
                start=empty_ledger(self.contest),
                on_record=lambda seq, table, row: rows.setdefault(table, {}).update({seq: row}),
            )
        except InvalidEntry as error:
            first = error.issues[0]
            line = 1 if first.line is None else first.line
            raise Unreadable(
                f"{file}: line {line} is not an entry ({first.what}); restore the file from a copy"
            ) from None
        self.seq, self._head = state.contest.seq, state.contest.head
        self._newest = read_time(state.at) if state.at else None
        visible = set(state.spans.records(at=self.seq).tolist())
        records = {
            table: {seq: row for seq, row in table_rows.items() if seq in visible}
            for table, table_rows in rows.items()
        }
        read = {seq for table_rows in rows.values() for seq in table_rows}
        others = (line for seq, line in enumerate(lines, start=1) if seq not in read)
        return records, map(read_line, others)

    def append(self, drafts: Iterable[Draft]) -> list[Entry]:
        """Append entries; a process killed meanwhile leaves the first of them.

        Raises:
            Unavailable: the file cannot be written.
        """
        entries = self._encode(drafts)
        with writing(self.folder / LEDGER):
            if self._handle < 0:
                self._open()
            rest = memoryview(_lines(entries))
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            if time.monotonic() - self._synced > _SYNC_INTERVAL_S:
                self._sync()
        return entries

    def append_together(self, drafts: Iterable[Draft]) -> list[Entry]:
        """Append entries, all of them or none: the file is replaced.

        Raises:
            Unavailable: the file cannot be written.
        """
        self._close()
        file = self.folder / LEDGER
        entries = self._encode(drafts)
        write_secret(file, file.read_bytes() + _lines(entries))
        return entries

    def finish(self) -> None:
        """Sync the entries to disk, and write where the ledger ends."""
        self._close()
        if self.seq:
            page = contest_page(self.contest, seq=self.seq, head=self._head)
            write_atomically(self.folder / CONTEST, page)
            write_atomically(self.folder / HEADS, b"")

    def _encode(self, drafts: Iterable[Draft]) -> list[Entry]:
        entries: list[Entry] = []
        for draft in drafts:
            if self._newest is not None and draft.at < self._newest:
                draft = replace(draft, at=self._newest)  # noqa: PLW2901 - clocks may step back
            entry = encode_entry(draft, seq=self.seq + 1, previous=self._head)
            self.seq, self._head, self._newest = entry.seq, entry.sha256, entry.at
            entries.append(entry)
        return entries

    def _open(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)  # hidden answers are in it
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._handle = os.open(self.folder / LEDGER, flags, 0o600)
        for folder in (self.folder, self.folder.parent):
            _sync_folder(folder)

    def _sync(self) -> None:
        os.fdatasync(self._handle)
        self._synced = time.monotonic()

    def _close(self) -> None:
        if self._handle >= 0:
            with writing(self.folder / LEDGER):
                self._sync()
            os.close(self._handle)
            self._handle = -1

    def close(self) -> None:
        """Sync what was appended; a later append opens the file again."""
        self._close()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise Unavailable with the path where the block cannot write."""
    try:
        yield
    except OSError as error:
        raise Unavailable(f"{path} cannot be written ({error.strerror or error})") from None


def _lines(entries: Sequence[Entry]) -> bytes:
    return b"".join(entry.line + b"\n" for entry in entries)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
