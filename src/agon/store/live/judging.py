"""Store the use and the measurements of model judges."""

from datetime import datetime

from sqlalchemy import select

from agon.entities.judging import JudgeCount, JudgeFailure, ModelUsage
from agon.kernel.times import to_micros
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import Transaction
from agon.store.schema import MODEL_COUNTS, MODEL_FAILURES, MODEL_USAGE


class Judging:
    """Use and measurements of model judges in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def usage(self, judge: str) -> ModelUsage:
        """Return what a judge has used; nothing if it was never used."""
        row = self._transaction.first(select(MODEL_USAGE).where(MODEL_USAGE.c.judge == judge))
        return ModelUsage(judge=judge) if row is None else entity_of(ModelUsage, row)

    def usages(self) -> list[ModelUsage]:
        """Return what every judge has used, sorted by judge."""
        listing = select(MODEL_USAGE).order_by(MODEL_USAGE.c.judge)
        return [entity_of(ModelUsage, row) for row in self._transaction.all(listing)]

    def lock_usage(self, judge: str) -> ModelUsage:
        """Return what a judge has used; others wait to change it until the session ends."""
        empty = columns_of(ModelUsage(judge=judge))
        adding = self._transaction.insert(MODEL_USAGE).values(**empty)
        self._transaction.change(adding.on_conflict_do_nothing(index_elements=["judge"]))
        locking = select(MODEL_USAGE).where(MODEL_USAGE.c.judge == judge)
        row = self._transaction.lock_row(locking, "model_usage")
        return ModelUsage(judge=judge) if row is None else entity_of(ModelUsage, row)

    def save_usage(self, usage: ModelUsage) -> None:
        """Store what a judge has used; the session holds its lock."""
        self._transaction.upsert(MODEL_USAGE, columns_of(usage))

    def add_count(self, judge: str, measure: str, *, successes: int, trials: int) -> None:
        """Add to the counts of a measure; sessions that add at the same time lose nothing."""
        adding = self._transaction.insert(MODEL_COUNTS).values(
            judge=judge, measure=measure, successes=successes, trials=trials
        )
        sums = {
            name: MODEL_COUNTS.c[name] + adding.excluded[name] for name in ("successes", "trials")
        }
        self._transaction.change(
            adding.on_conflict_do_update(index_elements=["judge", "measure"], set_=sums)
        )

    def add_failure(self, judge: str, code: str, *, detail: str, at: datetime) -> None:
        """Count a call that failed; sessions that add at the same time lose nothing."""
        adding = self._transaction.insert(MODEL_FAILURES).values(
            judge=judge, code=code, calls=1, detail=detail, last_at=to_micros(at)
        )
        changes = {
            "calls": MODEL_FAILURES.c.calls + 1,
            "detail": adding.excluded.detail,
            "last_at": adding.excluded.last_at,
        }
        self._transaction.change(
            adding.on_conflict_do_update(index_elements=["judge", "code"], set_=changes)
        )

    def failures(self) -> list[JudgeFailure]:
        """Return the failed calls of all judges by reason, sorted by judge and reason."""
        listing = select(MODEL_FAILURES).order_by(MODEL_FAILURES.c.judge, MODEL_FAILURES.c.code)
        return [entity_of(JudgeFailure, row) for row in self._transaction.all(listing)]

    def counts(self) -> list[JudgeCount]:
        """Return the counts of all judges, sorted by judge and measure."""
        listing = select(MODEL_COUNTS).order_by(MODEL_COUNTS.c.judge, MODEL_COUNTS.c.measure)
        return [entity_of(JudgeCount, row) for row in self._transaction.all(listing)]
