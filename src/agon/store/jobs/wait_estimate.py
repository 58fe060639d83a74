"""Estimate how long a queued job will wait."""

from collections.abc import Sequence
from statistics import median
from typing import Final

from sqlalchemy import func, literal_column, select, tuple_

from agon.entities.jobs import Job, WaitEstimate, WorkerInfo
from agon.kernel.times import to_micros
from agon.store.connection.transaction import Transaction
from agon.store.schema import JOBS

_SAMPLE_SIZE: Final = 50


def estimate_wait(
    transaction: Transaction, job: Job, *, workers: Sequence[WorkerInfo]
) -> WaitEstimate | None:
    """Return how many jobs are before a queued one, and the expected seconds until it is claimed.

    Position: queued jobs of its kind with a higher priority, or as high and older. Seconds: median
    duration of the last 50 done of its kind x position / workers that run the kind; None if none
    was done yet or no such worker is active. The first job waits only for a free worker: 0.

    Example:
        Six before it, jobs of that kind took 2 s, three workers: 6 x 2 / 3 = 4 s.
    """
    if job.state != "queued":
        return None
    before = select(func.count()).where(
        JOBS.c.state == literal_column("'queued'"),
        JOBS.c.kind == job.kind,
        tuple_(JOBS.c.negated_priority, JOBS.c.created_at, JOBS.c.id)
        < tuple_(-job.priority, to_micros(job.created_at), job.id),
    )
    position: int = transaction.scalar(before)
    able = sum(job.kind in worker.kinds for worker in workers)
    lasted = (
        select(JOBS.c.ended_at - JOBS.c.started_at)
        .where(JOBS.c.state == literal_column("'done'"), JOBS.c.kind == job.kind)
        .order_by(JOBS.c.ended_at.desc())
        .limit(_SAMPLE_SIZE)
    )
    durations = [row[0] for row in transaction.all(lasted) if row[0] is not None]
    if not durations or not able:
        return WaitEstimate(position, None)
    return WaitEstimate(position, median(durations) / 1e6 * position / able)
