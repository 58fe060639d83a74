"""Show submissions to those who sent them and to the staff; nobody else hears of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import orjson

from agon.app.access.permissions import View, allow, permits
from agon.app.contests.ledgers.append import received_key
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import StoredEntry
from agon.errors import NotFound, Unreadable
from agon.ledger.keys import record_key
from agon.store.session import Session

MOST_SUBMISSIONS = 500
"""So many submissions are told at a time."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """Hold a submission and what became of it, as far as the caller may see.

    Attributes:
        seq: position of its entry; None for who is not of the staff: positions tell how much was
            recorded, and while a contest is frozen that is hidden.
        records: its verdict.
    """

    id: str
    seq: int | None
    at: datetime
    user: str
    problem: str | None
    content: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]


def submission(service: Service, view: View, submission_id: str, *, by: Caller) -> Received:
    """Tell of a submission.

    Raises:
        Forbidden, Unauthenticated: ``by`` sends no submissions.
        NotFound: there is none of that id, or it is somebody else's.
    """
    allow(by, "submission.read-own", contest=view.contest)
    key = received_key(submission_id)
    with service.store.read() as session:
        known = session.entries.existing(view.contest.no, records=[key]).get(key)
        if known is not None:
            for entry in session.entries.after(view.contest.no, known.seq - 1, until=known.seq):
                if (told := _told(session, view, by, entry)) is not None:
                    return told
    raise NotFound(f"{view.contest.id} has no submission {submission_id!r} of yours; see the list")


def submissions(
    service: Service, view: View, *, by: Caller, after: str | None = None, limit: int = 50
) -> list[Received]:
    """List submissions, oldest first: the staff sees all, participants their own.

    Args:
        service: the house.
        view: what the caller may see.
        by: who asks.
        after: the id of the last one known.
        limit: how many at most.

    Raises:
        Forbidden, Unauthenticated: ``by`` sends no submissions.
        Unreadable: the limit is out of its bounds, or there is no submission ``after``.
    """
    allow(by, "submission.read-own", contest=view.contest)
    if not 1 <= limit <= MOST_SUBMISSIONS + 1:
        raise Unreadable(f"limit is {limit}; give 1 to {MOST_SUBMISSIONS}")
    with service.store.read() as session:
        start = 0
        if after is not None:
            known = session.entries.existing(view.contest.no, records=[received_key(after)])
            if not known:
                raise Unreadable("this cursor is of no page here; begin again without it")
            start = known[received_key(after)].seq
        return list(islice(_all(session, view, by, start), limit))


def _all(session: Session, view: View, by: Caller, start: int) -> Iterator[Received]:
    everybody = permits(by, "submission.read", contest=view.contest)
    name = orjson.dumps(by.user)
    for entry in session.entries.of_kind(view.contest.no, ["submission-received"], after=start):
        if everybody or name in entry.line:  # most are others', and are not read for that
            told = _told(session, view, by, entry)
            if told is not None:
                yield told


def _told(session: Session, view: View, by: Caller, entry: StoredEntry) -> Received | None:
    """Tell of a submission with its verdict; None where it is somebody else's."""
    line = orjson.loads(entry.line)
    body = line["body"]
    staff = permits(by, "submission.read", contest=view.contest)
    if not staff and body["user"] != by.user:
        return None
    return Received(
        id=body["submission"],
        seq=entry.seq if staff else None,
        at=datetime.fromisoformat(line["at"]),
        user=body["user"],
        problem=body["problem"],
        content=body["content"],
        records=tuple(_verdicts(session, view, body["submission"])),
    )


def _verdicts(session: Session, view: View, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the record of a submission as the caller may see it, none while it is hidden."""
    tables = {table.name: table for table in discipline(view.contest.discipline).schema}
    key = record_key(tables["submissions"], {"id": name}) if "submissions" in tables else None
    if key is None:
        return
    found = session.entries.existing(view.contest.no, records=[key], until=view.until)
    for known in found.values():
        for entry in session.entries.after(view.contest.no, known.seq - 1, until=known.seq):
            yield orjson.loads(entry.line)["body"]["row"]
