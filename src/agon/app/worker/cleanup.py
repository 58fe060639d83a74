"""Forget what nobody will ask for again, so that a house does not grow by its own bookkeeping."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

ANSWERS_KEPT: Final = timedelta(days=1)
"""So long a request that was answered can be repeated under its Idempotency-Key."""

PORTION: Final = 1_000
"""So much is forgotten in one session; writers wait for no more than that."""


@dataclass(frozen=True)
class Forgotten:
    """Hold how much was forgotten."""

    jobs: int
    answers: int


def tidy(service: "Service") -> Forgotten:
    """Forget jobs that ended longer ago than the house keeps them, and old answers to repeat.

    Jobs that wait or are under way stay, however old; so do ledgers, boards, events and the audit
    log, which are no bookkeeping. Several processes may tidy at once.

    Raises:
        Unavailable: the database cannot be reached; what was forgotten by then stays so.
    """
    now = service.clock()
    answers = _portions(
        service,
        lambda session: session.access.delete_responses(before=now - ANSWERS_KEPT, limit=PORTION),
    )
    kept = service.jobs_kept
    if kept is None:
        return Forgotten(0, answers)
    jobs = _portions(
        service, lambda session: session.queue.delete_ended(before=now - kept, limit=PORTION)
    )
    return Forgotten(jobs, answers)


def _portions(service: "Service", forget: Callable[[Session], int]) -> int:
    """Forget portion by portion until there is no more; return how many in all."""
    total = 0
    while True:
        with service.store.write() as session:
            forgotten = forget(session)
        total += forgotten
        if forgotten < PORTION:
            return total
