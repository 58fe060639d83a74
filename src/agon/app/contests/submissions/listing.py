"""Return submissions to their senders and to the staff of a contest, and to no other caller."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import orjson

from agon.app.access.permissions import View, permits
from agon.app.contests.ledgers.append import received_key
from agon.app.contests.submissions.feedback import VerdictFeedback
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import StoredEntry
from agon.entities.ledgers import SubmissionView
from agon.errors import NotFound, Unreadable
from agon.kernel.fingerprints import canonical_json
from agon.ledger.keys import record_key
from agon.store.session import Session

MAX_SUBMISSIONS = 500


def submission(service: Service, view: View, submission_id: str, *, by: Caller) -> SubmissionView:
    """Return a submission.

    Raises:
        NotFound: there is none of that id, or it is another user's.
    """
    with service.store.read() as session:
        feedback = VerdictFeedback(session, view, now=service.clock())
        for found in _with_ids(session, view, by, feedback, [submission_id]):
            return found
    raise NotFound(f"{view.contest.id} has no submission {submission_id!r} of yours; list yours")


@dataclass(frozen=True, kw_only=True)
class SubmissionFilter:
    """Which submissions are wanted.

    Attributes:
        ids: only these; none: all.
        user: only those of this user; None: of all.
        problem: only those for this problem; None: for all.
    """

    ids: Sequence[str] = ()
    user: str | None = None
    problem: str | None = None

    def selects(self, view: SubmissionView) -> bool:
        """Return whether a submission is of the user and for the problem."""
        return self.user in {None, view.user} and self.problem in {None, view.problem}


def submissions(
    service: Service,
    view: View,
    filters: SubmissionFilter,
    *,
    by: Caller,
    after: str | None = None,
    limit: int = 50,
) -> list[SubmissionView]:
    """Return submissions, oldest first: all for the staff, their own for participants.

    Args:
        service: the service.
        view: what the caller may see.
        filters: which are wanted.
        by: the caller.
        after: the id of the last known one.
        limit: maximum number of submissions.

    Raises:
        Unreadable: the limit is out of range, or there is no submission ``after``.
    """
    if not 1 <= limit <= MAX_SUBMISSIONS + 1:
        raise Unreadable(f"limit is {limit}; give 1 to {MAX_SUBMISSIONS}")
    with service.store.read() as session:
        start = 0
        if after is not None:
            entries = session.entries.existing(view.contest.no, records=[received_key(after)])
            if not entries:
                raise Unreadable("this cursor is not of this list; begin again without it")
            start = entries[received_key(after)].seq
        feedback = VerdictFeedback(session, view, now=service.clock())
        names = [name for name in (filters.user, filters.problem) if name is not None]
        among = (
            _with_ids(session, view, by, feedback, filters.ids, start)
            if filters.ids
            else _all(session, view, by, feedback, start, names)
        )
        return list(islice(filter(filters.selects, among), limit))


def _with_ids(
    session: Session,
    view: View,
    by: Caller,
    feedback: VerdictFeedback,
    ids: Sequence[str],
    start: int = 0,
) -> Iterator[SubmissionView]:
    """Yield the submissions with these ids that the caller may see, oldest first."""
    sees_all = _sees_all(view, by)
    keys = [received_key(name) for name in dict.fromkeys(ids)]
    received = session.entries.existing(view.contest.no, records=keys)
    for seq in sorted(one.seq for one in received.values() if one.seq > start):
        for entry in session.entries.after(view.contest.no, seq - 1, until=seq):
            visible = _visible(session, view, by, entry, sees_all=sees_all, feedback=feedback)
            if visible is not None:
                yield visible


def _all(
    session: Session,
    view: View,
    by: Caller,
    feedback: VerdictFeedback,
    start: int,
    names: Sequence[str],
) -> Iterator[SubmissionView]:
    """Yield the submissions that the caller may see and whose entries hold some names."""
    sees_all = _sees_all(view, by)
    required = [canonical_json(name) for name in names]
    if not sees_all:
        required.append(canonical_json(by.user))
    for entry in session.entries.of_kind(view.contest.no, ["submission-received"], after=start):
        if all(name in entry.line for name in required):  # skips most others without parsing
            visible = _visible(session, view, by, entry, sees_all=sees_all, feedback=feedback)
            if visible is not None:
                yield visible


def _sees_all(view: View, by: Caller) -> bool:
    return permits(by, "submission.read", contest=view.contest)


def _visible(
    session: Session,
    view: View,
    by: Caller,
    entry: StoredEntry,
    *,
    sees_all: bool,
    feedback: VerdictFeedback,
) -> SubmissionView | None:
    """Return a submission with its verdict; None if the caller may not see it."""
    line = orjson.loads(entry.line)
    body = line["body"]
    if not sees_all and body["user"] != by.user:
        return None
    return SubmissionView(
        id=body["submission"],
        seq=entry.seq if sees_all else None,
        at=datetime.fromisoformat(line["at"]),
        user=body["user"],
        problem=body["problem"],
        content=body["content"],
        records=tuple(map(feedback.visible, _verdicts(session, view, body["submission"]))),
    )


def _verdicts(session: Session, view: View, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the record of a submission as the caller may see it, none while it is hidden."""
    chosen = discipline(view.contest.discipline)
    if chosen.submissions is None:
        return
    key = record_key(chosen.schema.table(chosen.submissions.table), {"id": name})
    if key is None:
        return
    entries = session.entries.existing(view.contest.no, records=[key], until=view.until)
    for existing in entries.values():
        for entry in session.entries.after(view.contest.no, existing.seq - 1, until=existing.seq):
            yield orjson.loads(entry.line)["body"]["row"]
