"""Change sets in the database."""

from sqlalchemy import or_, select

from agon.entities.contests import Change, StepCause
from agon.store.connection.transaction import Transaction
from agon.store.contest_rows import ContestRows
from agon.store.schema import CHANGES


class Changes(ContestRows[Change]):
    """Change sets in the database."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction, CHANGES, Change, noun="change set", time="proposed_at")

    def causes_between(self, contest_no: int, first: int, last: int) -> dict[int, StepCause]:
        """Return the change sets by the positions at which they were applied or rolled back."""
        changes = CHANGES.c
        asking = select(
            changes.id, changes.kind, changes.reason, changes.applied_at, changes.rolled_back_at
        ).where(
            changes.contest_no == contest_no,
            or_(
                changes.applied_at.between(first, last), changes.rolled_back_at.between(first, last)
            ),
        )
        causes: dict[int, StepCause] = {}
        for row in self._transaction.all(asking):
            for seq in (row.applied_at, row.rolled_back_at):
                if seq is not None and first <= seq <= last:
                    causes[seq] = StepCause(
                        change=row.id, kind=row.kind, reason=row.reason,
                        rolled_back=seq == row.rolled_back_at,
                    )  # fmt: skip
        return causes
