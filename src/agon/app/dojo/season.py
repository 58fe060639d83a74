"""Keep a season's folder: a journal that only grows, and the tables made from it.

``journal.ndjson`` is the truth. It has one line for each problem and each verdict, written when
that is known: a process that is killed loses what was not known yet and nothing else.
``problems.ndjson`` and ``submissions.ndjson`` are what scoring reads; they are replaced whole when
a judge is done.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from agon.app.dojo.grading import Row
from agon.app.dojo.sealed_answers import Sealed, read_sealed
from agon.app.files import json_line, write_secret
from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.records.writing import write_atomically

JOURNAL: Final = "journal.ndjson"
SUPERSEDED: Final = "superseded"
_LOCK: Final = ".lock"
_SEALED: Final = ".sealed"
_FORCED_EVERY_S = 0.05
"""A power cut costs at most the verdicts of this time; a killed process costs none."""


class Season:
    """Hold a season's folder while it is judged; nobody else can meanwhile.

    Attributes:
        folder: where it is.
        problems: the problems' rows by id.
        submissions: the judged submissions' rows by id.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: dict[str, Row] = {}
        self.submissions: dict[str, Row] = {}
        self._journal = -1
        self._forced = 0.0

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, *, new: bool = True) -> Iterator[Self]:
        """Open a season, or make its folder; one that stays empty is removed again.

        Args:
            folder: the season's folder; its parent must be there.
            new: whether it may be made.

        Raises:
            Conflict: it holds something else, or is being judged by another process.
            NotFound: it (or, for a new one, its parent) is not there.
            Unavailable: it cannot be written.
        """
        _expect_season(folder, new=new)
        with _telling(folder):
            folder.mkdir(exist_ok=True)
            handle = _lock(folder)
        try:
            season = cls(folder)
            season._sweep()
            season._read()
            try:
                yield season
            finally:
                season._close()
        finally:
            _leave_nothing(folder)
            os.close(handle)

    def record_problem(self, sealed: Sealed) -> None:
        """Record a problem, and keep its answer sealed for judging it again.

        Raises:
            Conflict: submissions to it were judged by another number of terms.
        """
        row = problem_row(sealed)
        known = self.problems.get(row["id"])
        if known is not None and known["n_check"] != row["n_check"]:
            raise Conflict(
                f"{self.folder} holds this problem judged by {known['n_check']} terms, not by "
                f"{row['n_check']}; judge into another folder"
            )
        if known != row:
            self._append({"problem": row})
            self.problems[row["id"]] = row
        hidden = self.folder / _SEALED
        with _telling(hidden):
            hidden.mkdir(mode=0o700, exist_ok=True)
        write_secret(hidden / f"{row['id']}.json", sealed.to_bytes())

    def record_submission(self, row: Row) -> None:
        """Record a verdict; one that was ours to repeat (``sandbox_error``) gives way to it."""
        self._append({"submission": row})
        self.submissions[row["id"]] = row

    def sealed(self, problem_id: str) -> Sealed:
        """Return a problem's sealed answer.

        Raises:
            NotFound: it is not kept here.
        """
        file = self.folder / _SEALED / f"{problem_id}.json"
        if problem_id not in self.problems or not file.is_file():
            raise NotFound(f"{self.folder} keeps no sealed answer to problem {problem_id}")
        return read_sealed(file)

    def finish(self) -> None:
        """Force the journal to disk and replace the tables by what it says."""
        self._force()
        for table, rows in (("problems", self.problems), ("submissions", self.submissions)):
            content = (json_line(rows[key]) for key in sorted(rows))
            write_atomically(self.folder / f"{table}.ndjson", content)

    def supersede(self, rows: Mapping[str, Row]) -> Path:
        """Replace verdicts as one set; keep the journal that held beside.

        Returns:
            Where the earlier journal is.
        """
        beside = self.folder / SUPERSEDED
        beside.mkdir(exist_ok=True)
        number = 1 + sum(1 for _ in beside.iterdir())
        kept = beside / f"journal-{number:04}.ndjson"
        write_atomically(kept, (self.folder / JOURNAL).read_bytes())
        self.submissions |= rows
        entries = [{"problem": row} for row in self.problems.values()]
        entries += [{"submission": row} for row in self.submissions.values()]
        self._close()
        write_atomically(self.folder / JOURNAL, map(json_line, entries))
        self.finish()
        return kept

    def _sweep(self) -> None:
        """Remove what a process that was killed over a replacement left beside it."""
        for pattern in (".*.ndjson-*", f"{_SEALED}/.*.json-*"):
            for half in self.folder.glob(pattern):
                half.unlink(missing_ok=True)

    def _read(self) -> None:
        """Read the journal; a last line that a process was killed over is no line."""
        journal = self.folder / JOURNAL
        if not journal.exists():
            return
        content = journal.read_bytes()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                ((table, row),) = json.loads(line).items()
                {"problem": self.problems, "submission": self.submissions}[table][row["id"]] = row
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Unreadable(
                    f"{journal}: line {number} is no entry; restore the file from a copy"
                ) from None
        if whole < len(content):
            os.truncate(journal, whole)

    def _append(self, entry: Mapping[str, Row]) -> None:
        with _telling(self.folder / JOURNAL):
            if self._journal < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._journal = os.open(self.folder / JOURNAL, flags, 0o666)
                _force_folder(self.folder)
            rest = memoryview(json_line(entry))
            while rest:
                rest = rest[os.write(self._journal, rest) :]
            if time.monotonic() - self._forced > _FORCED_EVERY_S:
                self._force()

    def _force(self) -> None:
        if self._journal >= 0:
            os.fdatasync(self._journal)
            self._forced = time.monotonic()

    def _close(self) -> None:
        if self._journal >= 0:
            self._force()
            os.close(self._journal)
            self._journal = -1


def problem_row(sealed: Sealed) -> dict[str, Any]:
    """Return a problem's row of the table ``problems``: nothing of its answer but the hash."""
    problem, declared = sealed.problem, sealed.problem.declared()
    return {
        "id": problem.id,
        "setter_user_id": problem.setter_user_id,
        "title": problem.title,
        "n_check": problem.n_check,
        "freeze_started_at": declared["freeze_started_at"],
        "p_hash": problem.id,
    }


def _expect_season(folder: Path, *, new: bool) -> None:
    if not folder.exists():
        if not new:
            raise NotFound(f"{folder}: no such season; judge into it first")
        if not folder.absolute().parent.is_dir():
            raise NotFound(f"{folder.parent}: no such folder; make it first")
    elif not folder.is_dir() or (
        not (folder / JOURNAL).is_file() and any(one.name != _LOCK for one in folder.iterdir())
    ):
        raise Conflict(f"{folder} is there and is no season; name another folder")


def _lock(folder: Path) -> int:
    """Keep others out; the kernel lets go of the lock however the process ends."""
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        removed = os.fstat(handle).st_nlink == 0  # by its owner, while we came
    except BlockingIOError:
        removed = True
    if removed:
        os.close(handle)
        raise Conflict(f"{folder} is being judged by another process; wait for its end")
    return handle


def _leave_nothing(folder: Path) -> None:
    """Remove a folder in which nothing was recorded; its lock must be held."""
    if [entry.name for entry in folder.iterdir()] == [_LOCK]:
        (folder / _LOCK).unlink()
        folder.rmdir()


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"{path} cannot be written ({error.strerror or error})") from None


def _force_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
