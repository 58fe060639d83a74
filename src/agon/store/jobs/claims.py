"""Write the statements of a claim: what is late, the claim itself, times of a wrong clock."""

from typing import Final

from sqlalchemy import ColumnElement, literal_column, update

from agon.store.connection.transaction import Transaction
from agon.store.schema import JOBS

COLUMNS: Final = tuple(column.name for column in JOBS.columns)
LATE: Final = """
SELECT 'lease' FROM jobs WHERE state = 'leased' AND leased_until <= ?
UNION SELECT 'clock' FROM jobs WHERE state IN ('queued', 'leased') AND timed_at > ?
"""
"""What has to be done before a claim: leases have expired, times are of a clock that ran ahead."""

CLAIM: Final = f"""
UPDATE jobs SET state = 'leased', worker = ?, lease = ?, leased_until = ?, started_at = ?,
    timed_at = ?, attempts = attempts + 1, progress = NULL
WHERE id = (
    SELECT id FROM jobs
    WHERE state = 'queued' AND kind IN ({{kinds}}) AND not_before <= ? {{limited}}
        AND NOT EXISTS (SELECT 1 FROM switches WHERE name = 'paused' AND is_on)
    ORDER BY negated_priority, created_at, id LIMIT 1 {{locking}}
) RETURNING {", ".join(f'"{name}"' for name in COLUMNS)}
"""
"""A worker's most frequent statement, run without SQLAlchemy."""

# Literals, not bound values: the partial index is used only then.
_IS_TIMED: Final[ColumnElement[bool]] = JOBS.c.state.in_(
    [literal_column("'queued'"), literal_column("'leased'")]
)


def reset_times(transaction: Transaction, now: int) -> None:
    """Let jobs that a clock timed while it ran ahead wait from now on as long as from then.

    Else no board would be published, no failed job would run again and no lease would expire
    before the wrong time comes.
    """
    ahead = JOBS.c.timed_at - now
    transaction.change(
        update(JOBS)
        .where(_IS_TIMED, JOBS.c.timed_at > now)
        .values(
            not_before=JOBS.c.not_before - ahead,
            leased_until=JOBS.c.leased_until - ahead,
            timed_at=now,
        )
    )
