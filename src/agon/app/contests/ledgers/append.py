"""Append entries to a contest's ledger; no other module encodes them or moves the head."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import orjson

from agon.app.queue.jobs import publish_job
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.disciplines import discipline
from agon.entities.contests import Contest, Event, NewEntry
from agon.errors import NotFound, did_you_mean
from agon.ledger.entry import Draft, Entry, encode_entry, write_row
from agon.ledger.keys import id_issues, record_key
from agon.ledger.transitions import ADOPTING, Adoption, adoptions_after, apply, require_allowed
from agon.records import InvalidRecords, Table
from agon.records.rows import row_checker
from agon.store.session import Session

RECORDS: Final = frozenset({"record-added", "record-replaced"})
"""Kinds of entries that hold a record."""

_PUBLIC_EVENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "contest-edited": ("title", "visibility", "starts_at", "ends_at"),
        "contest-opened": (),
        "contest-frozen": (),
        "contest-unfrozen": ("reason",),
        "contest-finalised": (),
        "contest-unfinalised": ("reason",),
        "contest-voided": ("reason",),
        "contest-restored": ("reason",),
        "edition-adopted": ("edition", "overrides", "change", "reason"),
        "problem-published": ("problem",),
        "problem-revealed": ("problem",),
    }
)
"""Kinds with a public event, and the fields of the body it has."""

_WITHOUT_BOARDS: Final = frozenset(
    {
        "contest-created",
        "contest-edited",
        "submission-received",
        "decision-made",
        "draw-committed",
        "draw-made",
        "round-settled",
        "honeypot-answers-changed",
    }
)
"""Kinds that change neither what boards show nor which position they show."""

_STAFF_EVENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "contest-created": ("title",),
        "records-voided": ("subjects", "change", "reason"),
        "adjustment-made": ("board", "id", "points", "change", "reason"),
        "decision-made": ("case", "decision", "subjects", "reason"),
        "draw-made": ("purpose", "method"),
        "submission-received": ("submission", "user", "problem"),
        "change-rolled-back": ("change", "reason"),
    }
)
"""Kinds with an event for organizers and operators only, and its fields."""


def append(
    service: Service, session: Session, contest: Contest, drafts: Iterable[Draft]
) -> Contest:
    """Append drafts to a contest's ledger, all in the session's transaction.

    The contest's state and head are updated, a ``publish`` job is queued (one at a time for
    each contest) and events are announced. Times never decrease: a draft older than the newest
    entry gets that entry's time.

    Args:
        service: provides ids and the time.
        session: a writing session.
        contest: the contest as ``session.contests.lock`` (or ``add``) gave it.
        drafts: what to append, in order.

    Returns:
        The contest after them.

    Raises:
        InvalidEntry: a draft's body is not valid for its kind.
        InvalidRecords: a record's row is not valid for its table.
        NotFound: the discipline has no such table.
        Conflict: a record's key or an external id exists already, or the contest's state does
            not allow an entry of that kind.
    """
    now = None if contest.seq == 0 else session.entries.time_of(contest.no, contest.seq)
    entries: list[Entry] = []
    for draft in drafts:
        require_allowed(contest, draft.kind)
        now = draft.at if now is None else max(now, draft.at)
        if draft.kind in RECORDS:
            _require_valid_row(contest, draft)
        entry = encode_entry(replace(draft, at=now), seq=contest.seq + 1, previous=contest.head)
        entries.append(entry)
        contest = _after(session, contest, entry, entries)
    if entries:
        stored = [stored_entry(contest.discipline, entry) for entry in entries]
        session.entries.append(contest.no, stored)
        session.people.add(contest.no, people_in(contest.discipline, entries))
        store_growth(service, session, contest, publish=any(_matters(entry) for entry in entries))
        for entry in entries:
            _announce_entry(service, session, contest, entry)
    return contest


def edition_at(session: Session, contest: Contest, seq: int) -> tuple[str, Mapping[str, Any]]:
    """Return the edition and the overrides that were in force at a position of a ledger."""
    entries = session.entries.of_kind(contest.no, ADOPTING, until=seq)
    newest = _adoptions(entry.line for entry in entries)[-1]
    return newest.edition, newest.overrides


def not_before(session: Session, contest: Contest, now: datetime) -> datetime:
    """Return the time of the next entry: now, or that of the newest one if the clock went back."""
    if contest.seq == 0:
        return now
    return max(now, session.entries.time_of(contest.no, contest.seq))


def store_growth(
    service: Service, session: Session, contest: Contest, *, publish: bool = True
) -> None:
    """Store a contest whose ledger has grown, and queue the publication of its boards."""
    session.contests.save(contest)
    if publish:
        job = publish_job(contest, id=service.new_id())
        session.queue.add(job, now=service.clock())


def people_in(discipline_name: str, entries: Iterable[Entry]) -> set[str]:
    """Return the ids of people that the records among entries of a discipline name."""
    people: set[str] = set()
    for entry in entries:
        if entry.kind in RECORDS:
            columns = {name: (value,) for name, value in entry.body["row"].items()}
            people |= discipline(discipline_name).people_in(entry.body["table"], columns)
    return people


def stored_entry(discipline_name: str, entry: Entry) -> NewEntry:
    """Return an entry to store, with the key its record is looked up by."""
    table = record = None
    if entry.kind in RECORDS:
        table, row = entry.body["table"], entry.body["row"]
        record = record_key(table_of(discipline_name, table), row)
    elif entry.kind == "submission-received":
        record = received_key(entry.body["submission"])
    return NewEntry(
        seq=entry.seq,
        kind=entry.kind,
        at=entry.at,
        line=entry.line,
        sha256=entry.sha256,
        table=table,
        record=record,
        external_id=entry.external_id,
    )


def received_key(submission: str) -> str:
    """Return the key a submission's entry is looked up by; no table is called ``received``.

    Example:
        >>> received_key("s1")
        'received/s1'
    """
    return f"received/{submission}"


def table_of(discipline_name: str, name: str) -> Table:
    """Return a table of a discipline.

    Raises:
        NotFound: there is none of that name.
    """
    tables = {table.name: table for table in discipline(discipline_name).schema}
    if name not in tables:
        raise NotFound(
            f"{discipline_name} has no table {name[:80]!r}: {did_you_mean(name[:80], tables)}"
        )
    return tables[name]


def _require_valid_row(contest: Contest, draft: Draft) -> None:
    """Raise unless its table and the ledger allow a row; other rows are not considered."""
    table = table_of(contest.discipline, str(draft.body.get("table")))
    row = draft.body.get("row") or {}
    issues = row_checker(table).issues(row) or id_issues(table, row, record_key(table, row))
    if issues:
        raise InvalidRecords(issues)
    write_row(row)


def _matters(entry: Entry) -> bool:
    """Return whether an entry can change what boards show or which position they show."""
    return entry.kind not in _WITHOUT_BOARDS


def _after(session: Session, contest: Contest, entry: Entry, fresh: Iterable[Entry]) -> Contest:
    """Return a contest after one more entry; ``fresh`` are those not stored yet, it included."""

    def adoptions() -> Iterable[Adoption]:
        stored = (
            stored_entry.line for stored_entry in session.entries.of_kind(contest.no, ADOPTING)
        )
        return _adoptions(
            chain(
                stored,
                (stored_entry.line for stored_entry in fresh if stored_entry.kind in ADOPTING),
            )
        )

    return apply(
        contest, entry.kind, entry.body, seq=entry.seq, head=entry.sha256, adoptions=adoptions
    )


def _adoptions(lines: Iterable[bytes]) -> list[Adoption]:
    """Return the adoptions that are in force after the entries that adopt or roll back."""
    adoptions: list[Adoption] = []
    for line in lines:
        entry = orjson.loads(line)
        adoptions = adoptions_after(adoptions, entry["kind"], entry["body"])
    return adoptions


def _announce_entry(service: Service, session: Session, contest: Contest, entry: Entry) -> None:
    """Announce an entry's event, with only those fields of its body its readers may see."""
    staff = entry.kind in _STAFF_EVENTS
    fields = _STAFF_EVENTS.get(entry.kind, _PUBLIC_EVENTS.get(entry.kind))
    if fields is None:
        return
    body = {name: entry.body[name] for name in fields}
    event = Event(
        no=0, contest_no=contest.no, seq=entry.seq, at=entry.at, kind=entry.kind, body=body,
        staff=staff,
    )  # fmt: skip
    announce(service, session, event)
