"""Verify a database: every chain, every position, all that was derived from entries."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import orjson
from sqlalchemy import func, select
from sqlalchemy.exc import DatabaseError

from agon.disciplines import is_discipline
from agon.entities.contests import ROWS_PER_CHUNK, Contest
from agon.errors import CheckFailed, NotFound, Unavailable
from agon.kernel.progress import count_steps
from agon.kernel.times import from_micros
from agon.ledger.entry import chain, genesis, timestamp
from agon.ledger.fold import LedgerState, check_lines, empty_ledger
from agon.ledger.issues import SHOWN, LedgerIssue
from agon.ledger.rules_comparison import check_rules
from agon.store.attachments import Attachments
from agon.store.connection.engines import begin, display_url, open_engine
from agon.store.connection.transaction import Transaction
from agon.store.migrations import require_newest
from agon.store.schema import SNAPSHOT_ROWS, SNAPSHOTS
from agon.store.session import Session

_BATCH: Final = 10_000

_CONTESTS_PER_PAGE: Final = 100
_RESTORE: Final = "restore the database from a backup"
_ENTRIES: Final = (
    "SELECT seq, line, sha256, kind, at, table_name, external_id FROM entries WHERE contest_no = ?"
)
_DERIVED: Final = (
    "title", "description", "visibility", "series", "season", "state", "edition", "overrides",
    "boards", "frozen_at", "finalized_at", "voided_at", "void_reason", "starts_at", "ends_at",
    "names",
)  # fmt: skip
_RULES: Final = ("edition", "overrides", "rules_sha256")


@dataclass(frozen=True, kw_only=True)
class DatabaseVerification:
    """The result of verifying a database.

    Attributes:
        contests, entries: how many were read.
        issues: everything that is wrong; ``file`` names the contest, ``line`` the position.
    """

    contests: int
    entries: int
    issues: tuple[LedgerIssue, ...]

    def require_no_issues(self) -> None:
        """Reject a database with issues.

        Raises:
            CheckFailed: with the first issues there are.
        """
        if self.issues:
            listed = [str(issue) for issue in self.issues[:SHOWN]]
            if len(self.issues) > SHOWN:
                listed.append(f"… and {len(self.issues) - SHOWN:,} more")
            raise CheckFailed("\n".join(listed))


def verify(url: str) -> DatabaseVerification:
    """Verify every contest's ledger in a database and compare all that was derived from it.

    Checked are positions without gaps, every line, the chain's hash at each, the columns by which
    entries are found, the contest as its entries leave it, the rules that entries and snapshots
    record against those of their editions, the number of rows of stored boards, and on SQLite the
    file itself. Others may write meanwhile: one consistent state is read.

    Raises:
        Unavailable: the database cannot be reached, or has another revision.
    """
    engine, result = open_engine(url), None
    try:
        with begin(engine, writing=False) as connection:
            name = display_url(engine.url)
            require_newest(connection, name)
            result = verify_within(Transaction(connection, name))
    except Unavailable:
        if result is None or not result.issues:
            raise  # ending the transaction may fail for a damaged SQLite file, too
    finally:
        engine.dispose()
    return result


def verify_within(transaction: Transaction) -> DatabaseVerification:
    """Verify as :func:`verify` does, within a transaction."""
    issues = list(_damage(transaction))
    contests = entries = 0
    for contest in _contests(Session(transaction)):
        ledger = _LedgerCheck(transaction, contest)
        issues += ledger.issues()
        issues += _snapshot_rules(transaction, contest)
        issues += _attachments(transaction, contest)
        contests += 1
        entries += ledger.entries
    issues += _boards(transaction)
    return DatabaseVerification(contests=contests, entries=entries, issues=tuple(issues))


class _LedgerCheck:
    """The check of one contest's entries, which are read once."""

    def __init__(self, transaction: Transaction, contest: Contest) -> None:
        self.entries = 0
        self._transaction = transaction
        self._contest = contest
        self._head = genesis(contest.id)
        self._issues: list[LedgerIssue] = []
        self._unreadable: set[int] = set()

    def issues(self) -> Iterator[LedgerIssue]:
        """Yield everything that is wrong with the contest."""
        lines = count_steps(self._lines(), label=self._contest.id, total=self._contest.seq)
        state, issues = check_lines(lines, start=empty_ledger(self._contest.id))
        file = f"contest {self._contest.id}"
        yield from (issue.at(file, issue.line) for issue in (*self._issues, *issues))
        # Without its discipline the first entry has no effect, and no backup would change that.
        if is_discipline(self._contest.discipline):
            yield from (issue.at(file) for issue in self._derived_issues(state))
        else:
            yield from (issue.at(file) for issue in self._position())
        yield from (issue.at(file) for issue in _adopted_rules(state))

    def _lines(self) -> Iterator[bytes]:
        seq = 0
        while rows := self._batch(seq):
            for row in rows:
                self._require_next(seq, row[0])
                seq = row[0]
                self._compare(*row)
                yield row[1]
            self.entries += len(rows)
        if self._unreadable and seq < self._contest.seq:
            self._require_next(seq, self._contest.seq + 1)

    def _require_next(self, seq: int, following: int) -> None:
        """Report the entries that lack between two positions."""
        if following != seq + 1:
            fact = (
                "cannot be read: their page is damaged"
                if seq + 1 in self._unreadable
                else "are missing"
            )
            self._add(seq + 1, f"the entries {seq + 1} to {following - 1} {fact}")

    def _batch(self, seq: int) -> list[tuple[Any, ...]]:
        """Return the next entries after a position; one by one if a page of SQLite is damaged."""
        try:
            return self._transaction.query(
                f"{_ENTRIES} AND seq > ? ORDER BY seq LIMIT ?", [self._contest.no, seq, _BATCH]
            )
        except sqlite3.DatabaseError:
            rows: list[tuple[Any, ...]] = []
            for position in range(seq + 1, self._contest.seq + 1):
                try:
                    rows += self._transaction.query(
                        f"{_ENTRIES} AND seq = ?", [self._contest.no, position]
                    )
                except sqlite3.DatabaseError:
                    self._unreadable.add(position)
                if len(rows) == _BATCH:
                    break
            return rows

    def _compare(self, seq: int, line: bytes, sha256: bytes, *columns: Any) -> None:
        self._head = chain(self._head, line)
        if sha256 != self._head:
            self._add(seq, f"the chain gives {self._head.hex()}, stored is {sha256.hex()}")
            self._head = sha256  # what follows is compared with what it was chained to
        try:
            entry = orjson.loads(line)
            body = entry["body"]
            expected = (
                entry["kind"],
                entry["at"],
                body["table"] if entry["kind"] in {"record-added", "record-replaced"} else None,
                entry["external_id"],
            )
        except (ValueError, KeyError, TypeError):
            return  # what is wrong with the line is reported by examine
        kind, index, table, external_id = columns
        if (kind, timestamp(from_micros(index)), table, external_id) != expected:
            self._add(seq, "the columns of the entry differ from its line")

    def _derived_issues(self, state: LedgerState) -> Iterator[LedgerIssue]:
        yield from self._position()
        expected, contest = state.contest, self._contest
        for name in _DERIVED:
            value, by_entries = getattr(contest, name), getattr(expected, name)
            if value != by_entries and not (self.entries == 0 == contest.seq):
                yield LedgerIssue(f"{name} is {value!r}, its entries give {by_entries!r}", _RESTORE)

    def _position(self) -> Iterator[LedgerIssue]:
        contest = self._contest
        if contest.seq != self.entries or contest.head != self._head:
            fact = f"the contest is at {contest.seq}, its entries end at {self.entries}"
            yield LedgerIssue(
                fact if contest.seq != self.entries else "its head is another", _RESTORE
            )

    def _add(self, seq: int, fact: str) -> None:
        self._issues.append(LedgerIssue(fact, _RESTORE, line=seq))


def _adopted_rules(state: LedgerState) -> Iterator[LedgerIssue]:
    """Compare the rules that entries record with those of their editions."""
    for adoption in state.adoptions:
        if adoption.rules_sha256 is not None:
            yield from _rules_issues({name: getattr(adoption, name) for name in _RULES})


def _snapshot_rules(transaction: Transaction, contest: Contest) -> Iterator[LedgerIssue]:
    """Compare the rules that snapshots record with those of their editions."""
    listing = select(SNAPSHOTS.c.seq, SNAPSHOTS.c.board, SNAPSHOTS.c.manifest)
    try:
        rows = transaction.all(
            listing.where(SNAPSHOTS.c.contest_no == contest.no).order_by(SNAPSHOTS.c.no)
        )
    except DatabaseError:
        return  # reported with the stored boards
    checked: list[Mapping[str, Any]] = []
    for row in rows:
        manifest = orjson.loads(row.manifest)
        rules = {name: manifest[name] for name in _RULES}
        if rules not in checked:
            checked.append(rules)
            file = f"contest {contest.id}, board {row.board}"
            yield from (issue.at(file, row.seq) for issue in _rules_issues(rules))


def _attachments(transaction: Transaction, contest: Contest) -> Iterator[LedgerIssue]:
    """Compare the hash of each attachment with its content."""
    try:
        for digest, content in Attachments(transaction).all(contest.no):
            if sha256(content).hexdigest() != digest:
                fact = f"the attachment {digest} has another hash"
                yield LedgerIssue(fact, _RESTORE).at(f"contest {contest.id}")
    except DatabaseError as error:
        fact = f"the attachments cannot be read: {error.orig}"
        yield LedgerIssue(fact, _RESTORE).at(f"contest {contest.id}")


def _rules_issues(rules: Mapping[str, Any]) -> Iterator[LedgerIssue]:
    """Compare recorded rules with those of their edition here."""
    try:
        issue = check_rules(rules["edition"], rules["overrides"], rules["rules_sha256"])
    except NotFound as error:
        issue = LedgerIssue(str(error), "verify with an agon that has this edition")
    if issue is not None:
        yield issue


def _contests(session: Session) -> Iterator[Contest]:
    last = None
    while page := session.contests.page(after=last, limit=_CONTESTS_PER_PAGE):
        yield from page
        last = page[-1].id


def _boards(transaction: Transaction) -> Iterator[LedgerIssue]:
    """Compare how many chunks of rows stored boards have with how many they need."""
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
            fact = f"snapshot {row.no} has {row.chunks} chunks of rows, it needs {needed}"
            yield LedgerIssue(fact, "rebuild it from the ledger")


def _damage(transaction: Transaction) -> Iterator[LedgerIssue]:
    """Yield what SQLite's own check of the file reports."""
    if transaction.on_sqlite:
        try:
            messages = [message for (message,) in transaction.query("PRAGMA quick_check")]
        except sqlite3.DatabaseError as error:
            messages = [str(error)]
        for message in messages:
            if message != "ok":
                fact = message.replace("*** in database main ***\n", "").replace("\n", "; ")
                yield LedgerIssue(f"{transaction.database} is damaged: {fact}", _RESTORE)
