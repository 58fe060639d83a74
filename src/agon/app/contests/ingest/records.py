"""Enter records into a contest's ledger: all of a request, or nothing."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace as replaced
from typing import Any

from agon.app.access.permissions import allow, viewed
from agon.app.contests.ingest.batch_import import ImportSummary, RecordImporter
from agon.app.garbage import gc_paused
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict

__all__ = ["ImportSummary", "record", "require_open"]


class _Undone(Exception):
    """Leave a session without keeping anything; what a dry run ends with."""


def record(
    service: Service,
    contest_id: str,
    rows: Iterable[Sequence[Any]],
    *,
    by: Caller,
    replace: bool = False,
    dry_run: bool = False,
) -> ImportSummary:
    """Enter records into a contest's ledger.

    A record whose key or external id is there with the same content is a repetition and not
    entered again; so a request can be sent twice.

    Args:
        service: the service.
        contest_id: the contest.
        rows: ``(table, row, external_id)``, or what :func:`read_ndjson` gives. They are read
            while the contest is locked, so they must not wait for a client.
        by: who gives them. Judges may give their own votes alone.
        replace: whether a record with the key of another supersedes it.
        dry_run: look only; enter nothing.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see the contest.
        InvalidRecords: with what is wrong in all of them, each with its line.
        Conflict: keys or external ids are there with other content; or the contest is final.
    """
    recorded = ImportSummary()
    with suppress(_Undone), gc_paused(), service.store.write() as session:
        contest = viewed(session, contest_id, by).contest
        allow(by, "vote.add" if by.role == "judge" else "records.add", contest=contest)
        contest = session.contests.lock(contest_id)
        require_open(contest, by)
        recorded = RecordImporter(service, session, contest, by, replace=replace).take(rows)
        if contest.frozen_at is not None and by.role == "judge":
            # Positions would tell how much is recorded while nobody outside may know.
            recorded = replaced(recorded, first_seq=None, last_seq=None, seqs=())
        if dry_run:
            raise _Undone
    return recorded


def require_open(contest: Contest, by: Caller) -> None:
    """Refuse records for a contest that takes none.

    Raises:
        Conflict: it is final, or a draft and ``by`` is no organiser.
    """
    if contest.state == "final":
        raise Conflict(
            f"{contest.id} is final and takes no records; propose a change set to correct it"
        )
    if contest.state == "draft" and by.role not in {"organiser", "operator"}:
        raise Conflict(f"{contest.id} is not open yet; wait until its organiser opens it")
