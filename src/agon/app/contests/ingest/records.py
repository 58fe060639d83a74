"""Add records to a contest's ledger: all of a request, or none."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace as replaced
from typing import Any

from agon.app.contests.ingest.batch_import import ImportSummary, RecordImporter
from agon.app.garbage import gc_paused
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict

__all__ = ["ImportSummary", "record", "require_open"]


class _DryRun(Exception):
    """Ends the session of a dry run, so that nothing is stored."""


def record(
    service: Service,
    contest_id: str,
    rows: Iterable[Sequence[Any]],
    *,
    by: Caller,
    replace: bool = False,
    dry_run: bool = False,
) -> ImportSummary:
    """Add records to a contest's ledger.

    A record whose key or external id exists with the same content is not added again, so a request
    can be sent twice.

    Args:
        service: the service.
        contest_id: the contest.
        rows: ``(table, row, external_id)``, or what :func:`read_ndjson` gives. They are read
            while the contest is locked, so they must not wait for a client.
        by: the caller. Judges add only their own votes.
        replace: whether a record with the key of another supersedes it.
        dry_run: validate only; store nothing.

    Raises:
        NotFound: there is no such contest.
        InvalidRecords: with all issues of all records, each with its line.
        Conflict: keys or external ids exist with other content; or the contest is final.
    """
    summary = ImportSummary()
    with suppress(_DryRun), gc_paused(), service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_open(contest, by)
        summary = RecordImporter(service, session, contest, by, replace=replace).run(rows)
        if contest.frozen_at is not None and by.role == "judge":
            # Positions would show how many records there are, which is hidden during a freeze.
            summary = replaced(summary, first_seq=None, last_seq=None, seqs=())
        if dry_run:
            raise _DryRun
    return summary


def require_open(contest: Contest, by: Caller) -> None:
    """Raise unless the contest takes records from the caller.

    Raises:
        Conflict: it is final, or a draft and ``by`` is not an organizer.
    """
    if contest.state == "final":
        raise Conflict(
            f"{contest.id} is final and takes no records; propose a change set to correct it"
        )
    if contest.state == "draft" and by.role not in {"organiser", "operator"}:
        raise Conflict(f"{contest.id} is not open yet; wait until its organizer opens it")
