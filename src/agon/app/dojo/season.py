"""A season in a folder: the ledger of a dojo contest, and the tables made from it.

``ledger/`` is authoritative and has the entries that a contest of the service has, hidden answers
included, so only its owner may read it. ``problems.ndjson`` and ``submissions.ndjson`` are the
records in force, which scoring reads; they are replaced when judging is done.
"""

import fcntl
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from agon.app.analysis.score import rules_of
from agon.app.dojo import lifecycle
from agon.app.dojo.grading import Row
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.inspection import rules_in_force
from agon.app.dojo.ledger_folder import LedgerFolder, writing
from agon.app.dojo.lifecycle import PublishedProblem, VerdictChange
from agon.app.dojo.problems import Problem, first_index_of
from agon.app.files import json_line
from agon.disciplines import discipline
from agon.disciplines.dojo.rules import DojoRules
from agon.errors import Conflict, NotFound
from agon.ledger.drafts import record_draft, submission_draft
from agon.ledger.entry import Draft, EntryLine
from agon.ledger.files import LEDGER
from agon.records.writing import write_atomically

LEDGER_FOLDER: Final = "ledger"
_LOCK: Final = ".lock"
_TABLES: Final = ("problems", "submissions")
_ORGANIZER: Final = "local"
"""Who the entries of a command name."""
_WORKER: Final = "worker:local"
_CREATED: Final = "contest-created"
_NO_ID: Final = re.compile(r"[^a-z0-9]+")


def _now() -> datetime:
    return datetime.now(UTC)


class SeasonFolder:
    """A season's folder, locked by this process.

    Attributes:
        folder: where it is.
        problems: the published problems by id.
        rows: the rows in force, by table and id.
        revealed: ids of the problems that are revealed.
        edition: the edition by whose rules its programs are judged, as its ledger states it.
        overrides: the rules it overrides.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], datetime]) -> None:
        self.folder = folder
        self.problems: dict[str, PublishedProblem] = {}
        self.rows: dict[str, dict[str, Row]] = {table: {} for table in _TABLES}
        self.revealed: set[str] = set()
        self.edition = rules_of("dojo", None, None)[0].full_name
        self.overrides: Mapping[str, Any] = {}
        self._clock = clock
        self._positions: dict[str, dict[str, int]] = {table: {} for table in _TABLES}
        self._received: dict[str, Mapping[str, Any]] = {}
        name = _NO_ID.sub("-", folder.absolute().name.lower()).strip("-")[:63]
        self._ledger = LedgerFolder(
            folder / LEDGER_FOLDER, contest=name if len(name) > 1 else "season"
        )

    @classmethod
    @contextmanager
    def open(
        cls, folder: Path, *, new: bool = True, clock: Callable[[], datetime] = _now
    ) -> Iterator[Self]:
        """Open a season, or create its folder; a folder that stays empty is removed again.

        Args:
            folder: the season's folder; its parent must exist.
            new: whether it may be created.
            clock: returns the time, in UTC.

        Raises:
            Conflict: it contains something else, or is open in another process.
            NotFound: it (or, for a new one, its parent) does not exist.
            Unavailable: it cannot be written.
            Unreadable: its ledger is damaged.
        """
        _require_season(folder, new=new)
        with writing(folder):
            folder.mkdir(exist_ok=True)
            handle = _lock(folder)
        try:
            season = cls(folder, clock=clock)
            season._sweep()
            season._read()
            try:
                yield season
            finally:
                season._ledger.close()
        finally:
            _remove_if_empty(folder)
            os.close(handle)

    @property
    def rules(self) -> DojoRules:
        """Return the rules by which its programs are judged."""
        return rules_in_force(self.edition, self.overrides)

    def choose_rules(self, edition: str | None, overrides: Mapping[str, Any] | None) -> None:
        """Set the edition of a new season, with overrides; an existing one keeps its own.

        Raises:
            NotFound: there is no such edition.
            InvalidRule: a rule is unknown or a value out of its bounds.
            Conflict: the season was begun under other rules.
        """
        if edition is None and not overrides:
            return
        released, rules = rules_of("dojo", edition, overrides)
        if not self._ledger.seq:
            self.edition = released.full_name
            stated = rules.model_dump(mode="json")
            self.overrides = {name: stated[name] for name in overrides or {}}
        elif rules != self.rules:
            raise Conflict(
                f"{self.folder} was begun under {self.edition}"
                + (f" with {', '.join(sorted(self.overrides))}" if self.overrides else "")
                + "; leave edition and rules out, or judge into another folder"
            )

    def resolve(self, problem: Problem) -> Problem:
        """Return a problem with the first index it has here, where its package states none."""
        published = self.problems.get(problem.id)
        return problem.as_published(None if published is None else published.package)

    def publish(self, answer: HiddenAnswer) -> PublishedProblem:
        """Publish a problem, or publish it again when its declaration or terms have changed.

        Raises:
            Conflict: submissions to it were judged by another number of terms.
        """
        row = lifecycle.problem_row(answer.problem)
        record, published = self.rows["problems"].get(row["id"]), self.problems.get(row["id"])
        if record is not None and record["n_check"] != row["n_check"]:
            raise Conflict(
                f"{self.folder} holds this problem judged by {record['n_check']} terms, not by "
                f"{row['n_check']}; judge into another folder"
            )
        first_index = answer.problem.first_index
        if published is not None and published.first_index != first_index:
            raise Conflict(
                f"{self.folder} holds this problem with first_index {published.first_index}, not "
                f"{first_index}; judge into another folder"
            )
        if published is None or record != row or not _is_same(published.package, answer.package):
            replaces = self._positions["problems"].get(row["id"])
            self._append(
                *lifecycle.publication(answer, replaces=replaces, at=self._clock(), by=_ORGANIZER)
            )
        return self.problems[row["id"]]

    def receive(self, row: Row) -> None:
        """Enter a submission before it is judged; one entered already is not entered again."""
        content = {name: row[name] for name in _CONTENT}
        if self._received.get(row["id"]) != content:
            draft = submission_draft(
                row["id"], user=row["user_id"], problem=row["problem_id"], content=content,
                at=self._clock(), by=_ORGANIZER,
            )  # fmt: skip
            self._append(draft)

    def record(self, row: Row) -> None:
        """Record a verdict; an earlier ``sandbox_error`` is replaced by it."""
        replaces = self._positions["submissions"].get(row["id"])
        now = self._clock()
        self._append(record_draft("submissions", row, at=now, by=_WORKER, replaces=replaces))

    def apply(self, changes: list[VerdictChange], *, change: str) -> None:
        """Replace verdicts as one change set, all of them or none; the ledger keeps the earlier."""
        now, positions = self._clock(), self._positions["submissions"]
        drafts = [
            record_draft(
                "submissions", item.after, at=now, by=_ORGANIZER,
                replaces=positions[item.after["id"]], change=change,
            )
            for item in changes
        ]  # fmt: skip
        if drafts:
            for entry in self._ledger.append_together(drafts):
                self._apply(entry)
        self.finish()

    def reveal(self, problem_id: str) -> None:
        """Enter that a problem is revealed, once.

        Raises:
            NotFound: it was not published here.
        """
        if problem_id not in self.problems:
            raise NotFound(f"{self.folder} has no problem {problem_id}")
        if problem_id not in self.revealed:
            self._append(lifecycle.revelation(problem_id, at=self._clock(), by=_ORGANIZER))
            self._ledger.finish()

    def finish(self) -> None:
        """Sync the ledger and replace the tables by the records in force."""
        self._ledger.finish()
        for table in _TABLES:
            rows = self.rows[table]
            content = (json_line(_in_order(table, rows[key])) for key in sorted(rows))
            write_atomically(self.folder / f"{table}.ndjson", content)

    def _append(self, *drafts: Draft) -> None:
        if not self._ledger.seq:
            drafts = (*self._opening(), *drafts)
        for entry in self._ledger.append(drafts):
            self._apply(entry)

    def _opening(self) -> tuple[Draft, Draft]:
        """Return the first entries of every contest: created, opened."""
        dojo, now = discipline("dojo"), self._clock()
        body: dict[str, Any] = {
            "contest": self._ledger.contest,
            "discipline": dojo.name,
            "title": self.folder.absolute().name[:200],
            "edition": self.edition,
            "overrides": dict(self.overrides),
            "series": None,
            "season": None,
            "visibility": "private",
            "description": "",
            "boards": list(dojo.boards),
        }
        created = Draft(kind=_CREATED, body=body, at=now, by=_ORGANIZER)
        return created, Draft(kind="contest-opened", body={}, at=now, by=_ORGANIZER)

    def _apply(self, entry: EntryLine) -> None:
        """Update the season's state by an entry that was appended."""
        body = entry.body
        if entry.kind in {"record-added", "record-replaced"}:
            self._set_row(body["table"], entry.seq, body["row"])
        elif entry.kind == lifecycle.PUBLISHED:
            self.problems[body["problem"]] = PublishedProblem.of(entry, freeze=None)
        elif entry.kind == lifecycle.RECEIVED:
            self._received[body["submission"]] = body["content"]
        elif entry.kind == lifecycle.REVEALED:
            self.revealed.add(body["problem"])
        elif entry.kind == _CREATED:
            self.edition, self.overrides = body["edition"], body["overrides"]

    def _set_row(self, table: str, seq: int, row: Row) -> None:
        name = row["id"]
        self.rows[table][name] = row
        if table == "problems" and name in self.problems:
            freeze = lifecycle.freeze_in(row)
            self.problems[name] = replace(self.problems[name], freeze_started_at=freeze)
        self._positions[table][name] = seq

    def _read(self) -> None:
        records, entries = self._ledger.read()
        for entry in entries:
            self._apply(entry)
        for table, rows in records.items():
            for seq, row in rows.items():
                self._set_row(table, seq, row)

    def _sweep(self) -> None:
        """Remove temporary files of a process that was killed while it replaced a file."""
        for folder in (self.folder, self.folder / LEDGER_FOLDER):
            for pattern in (".*.ndjson-*", ".*.json-*"):
                for file in folder.glob(pattern):
                    file.unlink(missing_ok=True)


_CONTENT: Final = ("source", "source_hash", "l_chars", "method_tag", "notes", "created_at")
"""Recorded keys of a submission; ``created_at`` is the package's, the entry's time is later."""

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "problems": ("id", "setter_user_id", "title", "n_check", "first_index", "freeze_started_at",
                 "p_hash"),
    "submissions": tuple(
        lifecycle.submission_row(
            "", problem="", user="", created_at=datetime.fromtimestamp(0, UTC),
            content=dict.fromkeys(("source", "source_hash", "l_chars")), extended_until="",
        )
    ),
}  # fmt: skip


def _in_order(table: str, row: Row) -> Row:
    """Return a row with its columns in the order of the tables; an entry's are sorted by name."""
    return {name: row[name] for name in _COLUMNS[table] if name in row}


def _is_same(published: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether a published package, which may not state its first index, equals a new one."""
    return {**published, "first_index": first_index_of(published)} == new


def _require_season(folder: Path, *, new: bool) -> None:
    if not folder.exists():
        if not new:
            raise NotFound(f"{folder}: no such season; judge into it first")
        if not folder.absolute().parent.is_dir():
            raise NotFound(f"{folder.parent}: no such folder; create it first")
    elif not folder.is_dir() or (
        not is_season(folder) and any(entry.name != _LOCK for entry in folder.iterdir())
    ):
        raise Conflict(f"{folder} exists and is not a season; name another folder")


def is_season(folder: Path) -> bool:
    """Return whether a folder holds a season's ledger."""
    return (folder / LEDGER_FOLDER / LEDGER).is_file()


def _lock(folder: Path) -> int:
    """Lock the folder for this process; the kernel releases the lock when the process ends."""
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        removed = os.fstat(handle).st_nlink == 0  # by its owner, between open and lock
    except BlockingIOError:
        removed = True
    if removed:
        os.close(handle)
        raise Conflict(f"{folder} is being judged by another process; wait for its end")
    return handle


def _remove_if_empty(folder: Path) -> None:
    """Remove a folder in which nothing was recorded; its lock must be held."""
    if [entry.name for entry in folder.iterdir()] == [_LOCK]:
        (folder / _LOCK).unlink()
        folder.rmdir()
