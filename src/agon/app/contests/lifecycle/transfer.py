"""Export a contest's ledger as a directory, and import one.

An imported ledger keeps the signed heads of the server it came from until it grows here. So a
ledger that is exported, imported and exported again is the same byte for byte.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import allow, allow_new
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.private_data import without_addresses
from agon.app.contests.ledgers.append import (
    RECORDS,
    people_in,
    store_growth,
    stored_entry,
    table_of,
)
from agon.app.contests.lifecycle.creation import draft_contest, require_contest_id
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest, Event, NewEntry, StoredEntry
from agon.errors import Conflict, NotFound
from agon.kernel.progress import count_steps
from agon.ledger.directory import LedgerDirectory, export_directory, import_directory
from agon.ledger.entry import Entry, write_row
from agon.ledger.heads import Head, SignedHead, sign_head
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.keys import id_issues, record_key
from agon.records import InvalidRecords, RowIssue
from agon.records.rows import row_checker
from agon.store.session import Session

IMPORTED: Final = "ledger-imported"
"""Kind of the event of an import; its body holds the heads that came with the ledger."""

_SIGNED: Final = (b'"kind":"contest-frozen"', b'"kind":"contest-finalised"')
"""Entries whose heads are signed in an export, besides the newest."""

_PAGE: Final = 500

FurtherCheck: TypeAlias = Callable[[Session, Contest, LedgerDirectory], Iterable[LedgerIssue]]
"""Returns what is wrong with a ledger besides its chain, before it is stored in a contest.

It raises Conflict where the stored contest cannot be continued by an import.
"""


def accept(session: Session, contest: Contest, ledger: LedgerDirectory) -> Iterable[LedgerIssue]:  # noqa: ARG001 - has the signature of FurtherCheck
    """Return no issue."""
    return ()


def export(service: Service, contest_id: str, folder: Path) -> Contest:
    """Write a contest's complete ledger as a new directory, with signed heads.

    It includes hidden answers.

    Raises:
        NotFound: there is no such contest.
        Conflict: the folder exists already.
        Unreadable: it cannot be written.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        imported = _imported_heads(session, contest)
        own: list[tuple[int, bytes, str]] = []
        entries = session.entries.after(contest.no, 0, until=contest.seq)
        export_directory(
            folder,
            contest=contest.id,
            lines=count_steps(
                _lines(entries, contest, own), label="writing entries", total=contest.seq
            ),
            heads=_sign_heads(service, contest, own) if imported is None else imported.heads,
            public_key=_service_key(service) if imported is None else imported.public_key,
            attachments=session.attachments.all(contest.no),
        )
    return contest


def import_contest(
    service: Service,
    folder: Path,
    *,
    by: Caller,
    id: str | None = None,  # noqa: A002 (a contest's id is called id everywhere)
    further: FurtherCheck = accept,
) -> Contest:
    """Import a ledger's directory: check all of it first, then store it in one transaction.

    If the contest exists and the ledger continues it, the new entries are appended.

    Args:
        service: the service.
        folder: the directory.
        by: the caller.
        id: the expected contest; the id is part of the hash chain and cannot be changed.
        further: returns what else is wrong with the ledger; see :data:`FurtherCheck`.

    Raises:
        Forbidden: the ledger's contest is none that ``by`` may import or extend.
        InvalidEntry: with everything that is wrong with the directory.
        InvalidRecords: with every record that its table does not allow.
        Conflict: it is another contest than ``id``, or the stored contest differs.
    """
    ledger = import_directory(folder)
    require_contest_id(ledger.contest)
    if id is not None and ledger.contest != id:
        raise Conflict(
            f"{folder} is the ledger of {ledger.contest}, not of {id}; a ledger keeps its id"
        )
    allow_new(by, "import", ledger.contest)
    with service.store.write() as session:
        contest = _target_contest(session, ledger, by)
        issues = tuple(further(session, contest, ledger))
        if issues:
            raise InvalidEntry(issues)
        last, importer = contest.seq, _EntryImporter(contest)
        session.entries.append(contest.no, importer.entries(ledger))
        importer.errors.raise_any()
        session.people.add(contest.no, importer.people)
        for content in ledger.attachments():
            session.attachments.add(contest.no, content)
        contest = Contest(
            no=contest.no, created_at=contest.created_at, created_by=contest.created_by,
            **vars(ledger.state.contest),
        )  # fmt: skip
        store_growth(service, session, contest)
        announce(service, session, _import_event(service, contest, ledger))
        add_audit_entry(
            service, session, by=by, action="contest.import", target=contest.id,
            detail={"after": last, "seq": contest.seq},
        )  # fmt: skip
        return contest


def _lines(
    entries: Iterable[StoredEntry], contest: Contest, signed: list[tuple[int, bytes, str]]
) -> Iterator[bytes]:
    """Yield the lines; add the positions whose heads are to be signed to ``signed``."""
    for entry in entries:
        if entry.seq == contest.seq or any(kind in entry.line for kind in _SIGNED):
            signed.append((entry.seq, entry.sha256, orjson.loads(entry.line)["at"]))
        yield entry.line


def _sign_heads(
    service: Service, contest: Contest, noted: list[tuple[int, bytes, str]]
) -> Iterator[SignedHead]:
    """Yield signed heads dated by their entries, so that equal ledgers give equal bytes."""
    for seq, sha256, signed_at in noted:
        sign = service.signer.sign
        yield sign_head(sign, contest=contest.id, seq=seq, head=sha256, at=signed_at)


@dataclass(frozen=True)
class _ImportedHeads:
    """The heads an imported ledger came with, and the key that signed them."""

    public_key: bytes | None
    heads: list[SignedHead]


def _imported_heads(session: Session, contest: Contest) -> _ImportedHeads | None:
    """Return the heads a ledger was imported with, if it has not grown since."""
    after, newest = 0, None
    while page := session.events.after(after, contest_no=contest.no, limit=_PAGE):
        newest = next((line for line in reversed(page) if line.kind == IMPORTED), newest)
        after = page[-1].no
    if newest is None or newest.seq != contest.seq:
        return None
    key = newest.body["public_key"]
    heads = [SignedHead(Head(**line["head"]), line["signature"]) for line in newest.body["heads"]]
    return _ImportedHeads(None if key is None else bytes.fromhex(key), heads)


def _service_key(service: Service) -> bytes:
    return bytes.fromhex(service.signer.public_key)


def _target_contest(session: Session, ledger: LedgerDirectory, by: Caller) -> Contest:
    """Return the contest to append to: the stored one, locked, or a new one."""
    try:
        session.contests.get(ledger.contest)
    except NotFound:
        discipline_name, first = ledger.state.contest.discipline, next(iter(ledger.entries()))
        return session.contests.add(
            draft_contest(ledger.contest, discipline_name, at=first.at, by=by)
        )
    contest = session.contests.lock(ledger.contest)
    allow(by, "contest.manage", contest=contest)
    if ledger.state.contest.seq <= contest.seq:
        raise Conflict(
            f"{contest.id} is stored already up to entry {contest.seq}; there is nothing new in "
            f"{ledger.folder}"
        )
    return contest


class _EntryImporter:
    """Converts a ledger's entries after those of the stored contest into entries to store."""

    def __init__(self, contest: Contest) -> None:
        self.errors = ErrorCollector()
        self.people: set[str] = set()
        self._contest = contest

    def entries(self, ledger: LedgerDirectory) -> Iterator[NewEntry]:
        """Yield the entries to add.

        Raises:
            Conflict: the ledger does not continue the stored contest.
            InvalidRecords: there are too many issues to go on.
        """
        contest, discipline_name = self._contest, ledger.state.contest.discipline
        for entry in ledger.entries():
            if entry.seq == contest.seq and entry.sha256 != contest.head:
                raise Conflict(
                    f"{contest.id} is stored already with other entries; import into another server"
                )
            if entry.seq > contest.seq:
                self._check(discipline_name, entry)
                self.people |= people_in(discipline_name, [entry])
                yield stored_entry(discipline_name, entry)

    def _check(self, discipline_name: str, entry: Entry) -> None:
        if entry.kind not in RECORDS:
            return
        name, row = entry.body["table"], entry.body["row"]
        try:
            table = table_of(discipline_name, name)
        except NotFound as unknown:
            raise InvalidRecords([_unknown_table(name, entry.seq, str(unknown))]) from None
        issues = row_checker(table).issues(row, entry.seq)
        for issue in issues or id_issues(table, row, record_key(table, row), number=entry.seq):
            self.errors.add(issue)
        try:
            write_row(row)
        except InvalidEntry as error:
            self.errors.add(_beyond_limits(name, entry.seq, error.issues[0]))
        if addresses := discipline(discipline_name).personal.addresses.get(name):
            hashed = without_addresses(
                name, row, addresses, line=entry.seq, key=b"any", errors=self.errors
            )
            if hashed is not row:
                self.errors.add(_address(name, addresses[0], entry.seq))


def _import_event(service: Service, contest: Contest, ledger: LedgerDirectory) -> Event:
    key = ledger.public_key
    heads: list[Mapping[str, Any]] = [
        {"head": head.head.to_dict(), "signature": head.signature} for head in ledger.heads
    ]
    return Event(
        no=0,
        contest_no=contest.no,
        seq=contest.seq,
        at=service.clock(),
        kind=IMPORTED,
        body={"public_key": None if key is None else key.hex(), "heads": heads},
        staff=True,
    )


def _unknown_table(name: str, seq: int, message: str) -> RowIssue:
    reason, _, remedy = message.partition(": ")
    return RowIssue("unknown-table", name, "ledger.ndjson", seq, None, name, reason,
                   remedy or "import it into a server that knows the table", line=seq)  # fmt: skip


def _beyond_limits(table: str, seq: int, issue: LedgerIssue) -> RowIssue:
    return RowIssue("wrong-type", table, "ledger.ndjson", seq, None, None, issue.what, issue.remedy,
                   line=seq)  # fmt: skip


def _address(table: str, column: str, seq: int) -> RowIssue:
    return RowIssue("address", table, "ledger.ndjson", seq, column, None,
                   "holds an IP address", "keep keyed hashes in ledgers", line=seq)  # fmt: skip
