"""Store what happened in trials, beside the jobs that ran them; it is deleted with its job."""

from collections.abc import Sequence

from sqlalchemy import select

from agon.store.connection.transaction import Transaction
from agon.store.schema import TRIAL_DETAILS


class TrialDetailsTable:
    """The details of trials as JSON text, by the job."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, job_id: str, text: str) -> None:
        """Store the details of the trial that a job ran; those of an earlier attempt go."""
        self._transaction.upsert(TRIAL_DETAILS, {"job_id": job_id, "text": text})

    def find(self, job_id: str) -> str | None:
        """Return the details of the trial that a job ran; None: there are none."""
        asking = select(TRIAL_DETAILS.c.text).where(TRIAL_DETAILS.c.job_id == job_id)
        text: str | None = self._transaction.scalar(asking)
        return text

    def among(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Return those jobs of a list that have details."""
        listing = select(TRIAL_DETAILS.c.job_id).where(TRIAL_DETAILS.c.job_id.in_(job_ids))
        return frozenset(row.job_id for row in self._transaction.all(listing))
