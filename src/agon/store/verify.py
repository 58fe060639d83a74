"""Check what a database holds: every chain, every position, everything derived from entries."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import func, select
from sqlalchemy.exc import DatabaseError

from agon.entities.contests import ROWS_PER_CHUNK, Contest
from agon.errors import CheckFailed, Unavailable
from agon.kernel.times import moment_at
from agon.ledger.entry import chain, genesis, timestamp
from agon.ledger.fold import LedgerState, beginning, examine
from agon.ledger.issues import SHOWN, LedgerIssue
from agon.store.engines import begin, display_url, open_engine
from agon.store.migrations import require_newest
from agon.store.schema import SNAPSHOT_ROWS, SNAPSHOTS
from agon.store.session import Session
from agon.store.transaction import Transaction

_PORTION: Final = 10_000
_CONTESTS_AT_A_TIME: Final = 100
_RESTORE: Final = "restore the database from a backup"
_ENTRIES: Final = (
    "SELECT seq, line, sha256, kind, at, table_name, external_id FROM entries WHERE contest_no = ?"
)
_DERIVED: Final = (
    "title", "description", "visibility", "series", "season", "state", "edition", "overrides",
    "boards", "frozen_at", "finalized_at",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Hold what a check of a database found.

    Attributes:
        contests, entries: how many were read.
        issues: everything that is wrong; ``file`` names the contest, ``line`` the position.
    """

    contests: int
    entries: int
    issues: tuple[LedgerIssue, ...]

    def raise_faults(self) -> None:
        """Refuse a database with issues.

        Raises:
            CheckFailed: with the first issues there are.
        """
        if self.issues:
            shown = [str(issue) for issue in self.issues[:SHOWN]]
            if len(self.issues) > SHOWN:
                shown.append(f"… and {len(self.issues) - SHOWN:,} more")
            raise CheckFailed("\n".join(shown))


def verify(url: str) -> Verified:
    """Walk every contest's ledger and compare all that was derived from it.

    Checked are positions without gaps, every line, the chain's hash at each, the columns entries
    are looked up by, the contest as its entries leave it, the number of rows of stored boards, and
    on SQLite the file itself. Others may write meanwhile: one state is read.

    Raises:
        Unavailable: the database cannot be reached, or is of another version.
    """
    engine, found = open_engine(url), None
    try:
        with begin(engine, writing=False) as connection:
            named = display_url(engine.url)
            require_newest(connection, named)
            found = examined(Transaction(connection, named))
    except Unavailable:
        if found is None or not found.issues:
            raise  # a damaged SQLite file may refuse to end the transaction, too
    finally:
        engine.dispose()
    return found


def examined(transaction: Transaction) -> Verified:
    """Check as :func:`verify` does, within a transaction."""
    issues = list(_damage(transaction))
    contests = entries = 0
    for contest in _all(Session(transaction)):
        walk = _Walk(transaction, contest)
        issues += walk.issues()
        contests += 1
        entries += walk.entries
    issues += _boards(transaction)
    return Verified(contests=contests, entries=entries, issues=tuple(issues))


class _Walk:
    """Read a contest's entries once, comparing as they pass."""

    def __init__(self, transaction: Transaction, contest: Contest) -> None:
        self.entries = 0
        self._transaction = transaction
        self._contest = contest
        self._head = genesis(contest.id)
        self._found: list[LedgerIssue] = []
        self._unread: set[int] = set()

    def issues(self) -> Iterator[LedgerIssue]:
        """Yield everything that is wrong with the contest."""
        state, wrong = examine(self._lines(), start=beginning(self._contest.id))
        where = f"contest {self._contest.id}"
        yield from (issue.at(where, issue.line) for issue in (*self._found, *wrong))
        yield from (issue.at(where) for issue in self._derived(state))

    def _lines(self) -> Iterator[bytes]:
        seq = 0
        while rows := self._portion(seq):
            for row in rows:
                self._expect_next(seq, row[0])
                seq = row[0]
                self._compare(*row)
                yield row[1]
            self.entries += len(rows)
        if self._unread and seq < self._contest.seq:
            self._expect_next(seq, self._contest.seq + 1)

    def _expect_next(self, seq: int, found: int) -> None:
        """Note the entries between the last one and the next."""
        if found != seq + 1:
            what = (
                "cannot be read: their page is damaged"
                if seq + 1 in self._unread
                else "are missing"
            )
            self._fault(seq + 1, f"the entries {seq + 1} to {found - 1} {what}")

    def _portion(self, seq: int) -> list[tuple[Any, ...]]:
        """Read the entries after a position; where a page of SQLite's is damaged, one by one."""
        try:
            return self._transaction.query(f"{_ENTRIES} AND seq > ? ORDER BY seq LIMIT ?",
                                [self._contest.no, seq, _PORTION])  # fmt: skip
        except sqlite3.DatabaseError:
            rows: list[tuple[Any, ...]] = []
            for one in range(seq + 1, self._contest.seq + 1):
                try:
                    rows += self._transaction.query(
                        f"{_ENTRIES} AND seq = ?", [self._contest.no, one]
                    )
                except sqlite3.DatabaseError:
                    self._unread.add(one)
                if len(rows) == _PORTION:
                    break
            return rows

    def _compare(self, seq: int, line: bytes, sha256: bytes, *columns: Any) -> None:
        self._head = chain(self._head, line)
        if sha256 != self._head:
            self._fault(seq, f"the chain gives {self._head.hex()}, stored is {sha256.hex()}")
            self._head = sha256  # what follows is compared with what it was chained to
        try:
            said = orjson.loads(line)
            body = said["body"]
            written = (
                said["kind"],
                said["at"],
                body["table"] if said["kind"] in {"record-added", "record-replaced"} else None,
                said["external_id"],
            )
        except (ValueError, KeyError, TypeError):
            return  # the fold says what is wrong with the line
        kind, at, table, external_id = columns
        if (kind, timestamp(moment_at(at)), table, external_id) != written:
            self._fault(seq, "the columns beside the line say something else than it")

    def _derived(self, state: LedgerState) -> Iterator[LedgerIssue]:
        standing, contest = state.contest, self._contest
        if contest.seq != self.entries or contest.head != self._head:
            what = f"the contest stands at {contest.seq}, its entries end at {self.entries}"
            yield LedgerIssue(
                what if contest.seq != self.entries else "its head is another", _RESTORE
            )
        for name in _DERIVED:
            there, wanted = getattr(contest, name), getattr(standing, name)
            if there != wanted and not (self.entries == 0 == contest.seq):
                yield LedgerIssue(f"{name} is {there!r}, its entries say {wanted!r}", _RESTORE)

    def _fault(self, seq: int, what: str) -> None:
        self._found.append(LedgerIssue(what, _RESTORE, line=seq))


def _all(session: Session) -> Iterator[Contest]:
    last = None
    while page := session.contests.page(after=last, limit=_CONTESTS_AT_A_TIME):
        yield from page
        last = page[-1].id


def _boards(transaction: Transaction) -> Iterator[LedgerIssue]:
    """Compare how many portions of rows stored boards have with how many they need."""
    chunks = (
        select(func.count())
        .where(SNAPSHOT_ROWS.c.snapshot_no == SNAPSHOTS.c.no)
        .correlate(SNAPSHOTS)
        .scalar_subquery()
    )
    listing = select(SNAPSHOTS.c.no, SNAPSHOTS.c.rows, SNAPSHOTS.c.unscored, chunks.label("chunks"))
    try:
        rows = transaction.all(listing.where(SNAPSHOTS.c.stored).order_by(SNAPSHOTS.c.no))
    except DatabaseError as error:
        yield LedgerIssue(f"stored boards cannot be read: {error.orig}", _RESTORE)
        return
    for row in rows:
        needed = -(-row.rows // ROWS_PER_CHUNK) - (-row.unscored // ROWS_PER_CHUNK)
        if row.chunks != needed:
            what = f"snapshot {row.no} has {row.chunks} portions of rows, it needs {needed}"
            yield LedgerIssue(what, "rebuild it from the ledger")


def _damage(transaction: Transaction) -> Iterator[LedgerIssue]:
    if transaction.on_sqlite:
        try:
            found = [said for (said,) in transaction.query("PRAGMA quick_check")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
        for said in found:
            if said != "ok":
                told = said.replace("*** in database main ***\n", "").replace("\n", "; ")
                yield LedgerIssue(f"{transaction.database} is damaged: {told}", _RESTORE)
