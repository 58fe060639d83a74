"""Change sets in the database."""

from typing import Any

from sqlalchemy import Row, or_, select

from agon.entities.contests import Change, StepCause
from agon.errors import NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import Transaction, json_or_none, json_text, parse_json
from agon.store.paging import oldest_first
from agon.store.schema import CHANGES


class Changes:
    """Change sets in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, change: Change) -> None:
        """Insert or update a change set."""
        values = {
            "contest_no": change.contest_no,
            "id": change.id,
            "kind": change.kind,
            "params": json_text(change.params),
            "reason": change.reason,
            "state": change.state,
            "proposed_by": change.proposed_by,
            "proposed_at": to_micros(change.proposed_at),
            "report": json_or_none(change.report),
            "dry_run_at": change.dry_run_at,
            "applied_at": change.applied_at,
            "rolled_back_at": change.rolled_back_at,
        }
        self._transaction.upsert(CHANGES, values)

    def get(self, contest_no: int, change_id: str) -> Change:
        """Return a change set.

        Raises:
            NotFound: the contest has no such change set.
        """
        asking = select(CHANGES).where(
            CHANGES.c.contest_no == contest_no, CHANGES.c.id == change_id
        )
        row = self._transaction.first(asking)
        if row is None:
            raise NotFound(f"the contest has no change set {change_id!r}; list its change sets")
        return _change(row)

    def page(self, contest_no: int, *, after: str | None = None, limit: int = 100) -> list[Change]:
        """Return change sets in the order they were proposed, those after an id."""
        last = None if after is None else self.get(contest_no, after)
        listing = oldest_first(
            select(CHANGES).where(CHANGES.c.contest_no == contest_no),
            (CHANGES.c.proposed_at, CHANGES.c.id),
            after=None if last is None else (last.proposed_at, last.id),
            limit=limit,
        )
        return [_change(row) for row in self._transaction.all(listing)]

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


def _change(row: Row[Any]) -> Change:
    values = row._asdict()
    values["params"] = parse_json(values["params"])
    values["report"] = parse_json(values["report"])
    values["proposed_at"] = from_micros(values["proposed_at"])
    return Change(**values)
