"""Delete ended jobs, and stored responses and sessions that expired."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

RESPONSES_KEPT: Final = timedelta(days=1)
"""How long a request can be repeated under its Idempotency-Key."""

SESSIONS_KEPT: Final = timedelta(days=7)
"""How long an expired session of the site is stored: operators look for misuse in the tokens."""

BATCH: Final = 1_000
"""Number of rows deleted in one session; other writers wait no longer than that."""


@dataclass(frozen=True)
class RetentionSummary:
    """Numbers of deleted rows."""

    jobs: int
    responses: int
    sessions: int = 0


def clean_up(service: "Service") -> RetentionSummary:
    """Delete jobs that ended long ago, as configured, old stored responses and old sessions.

    Queued and leased jobs are never deleted, nor are ledgers, boards, events and the audit log.
    Several processes may do it at the same time.

    Raises:
        Unavailable: the database cannot be reached; some may have been deleted.
    """
    now = service.clock()
    before = now - RESPONSES_KEPT
    responses = _in_batches(
        service, lambda session: session.access.delete_responses(before=before, limit=BATCH)
    )
    ended = now - SESSIONS_KEPT
    sessions = _in_batches(
        service,
        lambda session: session.access.delete_expired_sessions(before=ended, limit=BATCH),
    )
    retention = service.jobs_kept
    if retention is None:
        return RetentionSummary(0, responses, sessions)
    jobs = _in_batches(
        service, lambda session: session.queue.delete_ended(before=now - retention, limit=BATCH)
    )
    return RetentionSummary(jobs, responses, sessions)


def _in_batches(service: "Service", delete: Callable[[Session], int]) -> int:
    """Delete in batches until there is no more; return the number of rows."""
    total = 0
    while True:
        with service.store.write() as session:
            deleted = delete(session)
        total += deleted
        if deleted < BATCH:
            return total
