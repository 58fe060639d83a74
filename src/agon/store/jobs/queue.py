"""Store jobs and leases: a claim is one UPDATE, and leases are compared in the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Row,
    Update,
    delete,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from agon.entities.jobs import Job, JobKind, JobState, NewJob, WaitEstimate, WorkerInfo
from agon.errors import Conflict, NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.entity_rows import entity_of, entity_of_values
from agon.store.connection.transaction import Transaction, json_text, parse_json
from agon.store.jobs.claims import CLAIM, COLUMNS, LATE, reset_times
from agon.store.jobs.wait_estimate import estimate_wait
from agon.store.paging import newest_first
from agon.store.schema import JOBS, SWITCHES, WORKERS

# Literals, not bound values: the partial indexes are used only then.
_IS_QUEUED: Final[ColumnElement[bool]] = JOBS.c.state == literal_column("'queued'")
_IS_LEASED: Final[ColumnElement[bool]] = JOBS.c.state == literal_column("'leased'")

_IS_DONE: Final[ColumnElement[bool]] = JOBS.c.state == literal_column("'done'")

_ENDED: Final = ("done", "failed", "cancelled")
_EXPIRED_AT_A_TIME: Final = 100
_PRIORITY: Final = COLUMNS.index("negated_priority")


class Queue:
    """Jobs and workers in the database.

    A job is claimed by one worker at a time. When its lease expires it can be claimed again; the
    late worker's lease token is then invalid, so no job is completed twice. A job is completed in
    the session that stores its results: both are stored, or neither.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, job: NewJob, *, now: datetime) -> Job:
        """Add a job; while one with the same ``dedupe`` is queued, return that one instead."""
        values = {
            "id": job.id,
            "kind": job.kind,
            "state": "queued",
            "payload": json_text(job.payload),
            "contest_no": job.contest_no,
            "created_at": to_micros(now),
            "not_before": to_micros(job.not_before or now),
            "timed_at": to_micros(now),
            "negated_priority": -job.priority,
            "attempts": 0,
            "max_attempts": job.max_attempts,
            "by": job.by,
            "dedupe": job.dedupe,
            "causes": "[]",
        }
        adding = self._transaction.insert(JOBS).values(**values)
        if self._transaction.scalar(select(JOBS.c.id).where(JOBS.c.id == job.id)) is not None:
            raise Conflict(f"job {job.id!r} exists; choose another id")
        if job.dedupe is not None:
            adding = adding.on_conflict_do_nothing(
                index_elements=["dedupe"],
                index_where=literal_column("dedupe IS NOT NULL AND state = 'queued'"),
            )
        while True:
            row = self._transaction.first(adding.returning(JOBS))
            if row is not None:
                return _job(row)
            # Locked against workers until this session ends, not against other writers: a worker
            # that claimed it now would not see what this session adds.
            same = select(JOBS).where(JOBS.c.dedupe == job.dedupe, _IS_QUEUED)
            row = self._transaction.first(same.with_for_update(read=True))
            if row is not None:
                return _job(row)

    def claim(
        self,
        kinds: Sequence[JobKind],
        *,
        worker: str,
        lease: str,
        now: datetime,
        span: timedelta,
        contests: Sequence[int] | None = None,
    ) -> Job | None:
        """Claim the next job of these kinds: highest priority, then oldest; None if there is none.

        A job whose lease expired is queued again with the cause, or fails after ``max_attempts``
        attempts. While the queue is paused nothing is claimed. Where the clock went back, times
        that it had set ahead are set back as far.

        Args:
            kinds: the kinds the worker runs.
            worker: the worker's name.
            lease: a new token that cannot be guessed.
            now: the time.
            span: how long the lease lasts without a heartbeat.
            contests: numbers of the contests the worker may work for; None: all.
        """
        due = to_micros(now)
        late = {row[0] for row in self._transaction.query(LATE, [due, due])}
        if "clock" in late:
            reset_times(self._transaction, due)
        if "lease" in late:
            self._expire_leases(due)
        limited = "" if contests is None else f"AND contest_no IN ({_marks(contests)})"
        if not kinds or (contests is not None and not contests):
            return None
        locking = "" if self._transaction.on_sqlite else "FOR UPDATE SKIP LOCKED"
        sql = CLAIM.format(kinds=_marks(kinds), limited=limited, locking=locking)
        values = [worker, lease, to_micros(now + span), due, due, *kinds, due, *(contests or ())]
        rows = self._transaction.query(sql, values)
        if not rows:
            return None
        priority = -rows[0][_PRIORITY]
        return entity_of_values(Job, rows[0], COLUMNS, priority=priority)

    def heartbeat(
        self,
        job_id: str,
        *,
        lease: str,
        now: datetime,
        span: timedelta,
        progress: float | None = None,
    ) -> Job:
        """Extend a lease.

        Raises:
            Conflict: the job is no longer on this lease (it expired and another worker has the job,
                or the job was cancelled): stop working on it.
        """
        values: dict[str, Any] = {"leased_until": to_micros(now + span), "timed_at": to_micros(now)}
        if progress is not None:
            values["progress"] = progress
        return self._of_lease(job_id, lease, values)

    def complete(self, job_id: str, *, lease: str, result: Mapping[str, Any], now: datetime) -> Job:
        """Complete a job.

        Raises:
            Conflict: the job is no longer on this lease; the session must not be committed.
        """
        values = {"state": "done", "result": json_text(result), "ended_at": to_micros(now)}
        return self._of_lease(job_id, lease, values | _NO_LEASE)

    def fail(
        self, job_id: str, *, lease: str, cause: str, now: datetime, retry_at: datetime | None
    ) -> Job:
        """Return a job to the queue with the cause; ``retry_at`` None: it fails.

        After ``max_attempts`` attempts it fails whatever ``retry_at`` is.

        Raises:
            Conflict: the job is no longer on this lease.
        """
        # Locked until the session ends, so that no worker claims it between the two statements.
        row = self._transaction.first(select(JOBS).where(JOBS.c.id == job_id).with_for_update())
        if row is None or row.state != "leased" or row.lease != lease:
            raise self._lost_lease(job_id)
        again = None if row.attempts >= row.max_attempts else retry_at
        return self._fail(row, cause=cause, now=to_micros(now), retry_at=again)

    def cancel(self, job_id: str, *, now: datetime) -> Job:
        """Cancel a queued or leased job.

        Raises:
            Conflict: it has ended already.
        """
        row = self._transaction.first(
            update(JOBS)
            .where(JOBS.c.id == job_id, _IS_QUEUED | _IS_LEASED)
            .values(state="cancelled", ended_at=to_micros(now), **_NO_LEASE)
            .returning(JOBS)
        )
        if row is None:
            state = self.get(job_id).state
            raise Conflict(f"job {job_id} is {state}: it has ended; only others can be cancelled")
        return _job(row)

    def move(self, job_id: str, *, not_before: datetime) -> None:
        """Change the earliest time of a job, if it is queued."""
        moving = update(JOBS).where(JOBS.c.id == job_id, _IS_QUEUED)
        self._transaction.change(moving.values(not_before=to_micros(not_before)))

    def retry(self, job_id: str, *, now: datetime) -> Job:
        """Queue a failed or cancelled job again; its attempts are counted from 0.

        Raises:
            Conflict: it is not failed or cancelled.
        """
        job = self.get(job_id)
        again = update(JOBS).where(JOBS.c.id == job_id, JOBS.c.state.in_(("failed", "cancelled")))
        due = to_micros(now)
        values = {
            "attempts": 0, "not_before": due, "timed_at": due, "ended_at": None, "progress": None,
        }  # fmt: skip
        row = self._queue_again(again.values(**values), dedupe=job.dedupe)
        if row is None:
            raise Conflict(
                f"job {job_id} is {job.state}; only failed and cancelled ones are retried"
            )
        return _job(row)

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFound: there is no such job.
        """
        row = self._transaction.first(select(JOBS).where(JOBS.c.id == job_id))
        if row is None:
            raise NotFound(f"there is no job {job_id!r}; ended jobs are deleted after some time")
        return _job(row)

    def page(
        self,
        *,
        contest_no: int | None = None,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        after: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Return jobs, newest first, those older than a job."""
        listing = select(JOBS)
        if contest_no is not None:
            listing = listing.where(JOBS.c.contest_no == contest_no)
        if states:
            listing = listing.where(JOBS.c.state.in_(states))
        if kinds:
            listing = listing.where(JOBS.c.kind.in_(kinds))
        last = None if after is None else self.get(after)
        listing = newest_first(
            listing,
            (JOBS.c.created_at, JOBS.c.id),
            after=None if last is None else (last.created_at, last.id),
            limit=limit,
        )
        return [_job(row) for row in self._transaction.all(listing)]

    def trials_of(self, contest_no: int, submission: str, *, since: datetime) -> list[Job]:
        """Return the trials of a submission that was received at a time, oldest first."""
        own = select(JOBS).where(
            JOBS.c.contest_no == contest_no,
            JOBS.c.created_at >= to_micros(since),
            JOBS.c.kind == "trial",
            JOBS.c.dedupe.startswith(f"trial:{contest_no}:{submission}:", autoescape=True),
        )
        rows = self._transaction.all(own.order_by(JOBS.c.created_at, JOBS.c.id))
        return [_job(row) for row in rows]

    def last_done(self, kind: JobKind, *, contest_no: int, since: datetime) -> Job | None:
        """Return the last completed job of a kind and contest, if it ended after a time."""
        ended = select(JOBS).where(
            _IS_DONE,
            JOBS.c.kind == kind,
            JOBS.c.ended_at > to_micros(since),
            JOBS.c.contest_no == contest_no,
        )
        row = self._transaction.first(ended.order_by(JOBS.c.ended_at.desc()).limit(1))
        return None if row is None else _job(row)

    def waiting(self, job_id: str, *, now: datetime) -> WaitEstimate | None:
        """Return how long a queued job will wait; None for one that is not queued."""
        return estimate_wait(
            self._transaction, self.get(job_id), workers=self.workers(since=now - _LATELY)
        )

    def counts(self) -> dict[tuple[JobKind, JobState], int]:
        """Return the numbers of jobs by kind and state."""
        counting = select(JOBS.c.kind, JOBS.c.state, func.count().label("jobs"))
        counting = counting.group_by(JOBS.c.kind, JOBS.c.state)
        return {(row.kind, row.state): row.jobs for row in self._transaction.all(counting)}

    def pause(self, *, paused: bool) -> None:
        """Pause or resume the queue: while it is paused nothing is claimed."""
        self._transaction.upsert(SWITCHES, {"name": "paused", "is_on": paused})

    def is_paused(self) -> bool:
        """Return whether the queue is paused."""
        asking = select(SWITCHES.c.is_on).where(SWITCHES.c.name == "paused")
        return bool(self._transaction.scalar(asking))

    def record_worker(self, worker: WorkerInfo) -> None:
        """Record that a worker is active."""
        values = {
            "name": worker.name,
            "kinds": json_text(worker.kinds),
            "seen_at": to_micros(worker.seen_at),
            "version": worker.version,
        }
        self._transaction.upsert(WORKERS, values)

    def workers(self, *, since: datetime) -> list[WorkerInfo]:
        """Return the workers that were active since a time."""
        listing = select(WORKERS).where(WORKERS.c.seen_at >= to_micros(since))
        return [
            WorkerInfo(
                name=row.name,
                kinds=tuple(parse_json(row.kinds)),
                seen_at=from_micros(row.seen_at),
                version=row.version,
            )
            for row in self._transaction.all(listing.order_by(WORKERS.c.name))
        ]

    def delete_ended(self, *, before: datetime, limit: int) -> int:
        """Delete jobs that ended before a time, at most ``limit``; return how many."""
        # A job that ended before was created before, and there is an index of that.
        old = JOBS.c.created_at < to_micros(before)
        ended = old & JOBS.c.state.in_(_ENDED) & (JOBS.c.ended_at < to_micros(before))
        selected = (
            select(JOBS.c.id).where(ended).order_by(JOBS.c.created_at, JOBS.c.id).limit(limit)
        )
        return self._transaction.change(delete(JOBS).where(JOBS.c.id.in_(selected)))

    def _of_lease(self, job_id: str, lease: str, values: Mapping[str, Any]) -> Job:
        """Update a job that is on a lease."""
        row = self._transaction.first(
            update(JOBS)
            .where(JOBS.c.id == job_id, JOBS.c.lease == lease, _IS_LEASED)
            .values(**values)
            .returning(JOBS)
        )
        if row is None:
            raise self._lost_lease(job_id)
        return _job(row)

    def _lost_lease(self, job_id: str) -> Conflict:
        state = self.get(job_id).state
        return Conflict(f"job {job_id} is {state} and no longer on this lease; stop working on it")

    def _expire_leases(self, now: int) -> None:
        """Return jobs to the queue whose leases expired."""
        late = select(JOBS).where(_IS_LEASED, JOBS.c.leased_until <= now)
        late = late.order_by(JOBS.c.leased_until).limit(_EXPIRED_AT_A_TIME)
        for row in self._transaction.all(late.with_for_update(skip_locked=True)):
            cause = f"lease expired (worker {row.worker})"
            retry_at = None if row.attempts >= row.max_attempts else from_micros(now)
            self._fail(row, cause=cause, now=now, retry_at=retry_at)

    def _fail(self, row: Row[Any], *, cause: str, now: int, retry_at: datetime | None) -> Job:
        cause_entry = {"at": from_micros(now).isoformat(), "worker": row.worker, "cause": cause}
        changing = update(JOBS).where(JOBS.c.id == row.id)
        changing = changing.values(causes=json_text([*parse_json(row.causes), cause_entry]))
        if retry_at is None:
            ending = changing.values(state="failed", ended_at=now, **_NO_LEASE)
            changed = self._transaction.first(ending.returning(JOBS))
        else:
            returning = changing.values(not_before=to_micros(retry_at), timed_at=now)
            changed = self._queue_again(returning, dedupe=row.dedupe)
        if changed is None:
            raise self._lost_lease(row.id)
        return _job(changed)

    def _queue_again(self, changing: Update, *, dedupe: str | None) -> Row[Any] | None:
        """Queue a job again; if another one with the same ``dedupe`` is queued, both will run.

        The other was added while this one was running. On PostgreSQL it may be added by a session
        that has not ended yet; only the unique index detects that.
        """
        queueing = changing.values(state="queued", **_NO_LEASE)
        try:
            with self._transaction.savepoint():
                return self._transaction.first(queueing.values(dedupe=dedupe).returning(JOBS))
        except IntegrityError:
            return self._transaction.first(queueing.values(dedupe=None).returning(JOBS))


_LATELY: Final = timedelta(minutes=1)
_NO_LEASE: Final = {"lease": None, "leased_until": None}


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _job(row: Row[Any]) -> Job:
    return entity_of(Job, row, priority=-row.negated_priority)
