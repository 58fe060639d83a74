"""Create jobs of each kind, and manage the queue: state, pause, cancel, retry."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import SYSTEM
from agon.entities.access import Caller
from agon.entities.jobs import Job, JobKind, JobState, NewJob, WorkerInfo
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service
    from agon.entities.contests import Contest

PUBLISH_PRIORITY: Final = 10
"""Priority of publishing: many clients wait for a board, and it takes little time."""

REQUESTED_PRIORITY: Final = 5
"""Priority of jobs one user waits for: a verdict, a dry run, an earlier board."""

MAX_ATTEMPTS: Final = 25
"""Maximum number of attempts at running a program: it must not fail because of a lost worker."""

BACKGROUND_PRIORITY: Final = -5
"""Priority of automatic scans and statistics, for which no user waits."""

_ACTIVE_WITHIN: Final = timedelta(minutes=1)


def publish_job(contest: "Contest", *, id: str) -> NewJob:  # noqa: A002 - it becomes NewJob.id
    """Return a job that publishes a contest's boards; while one is queued, no other is added."""
    return NewJob(
        id=id,
        kind="publish",
        payload={"contest": contest.id},
        contest_no=contest.no,
        dedupe=f"publish:{contest.no}",
        priority=PUBLISH_PRIORITY,
        max_attempts=MAX_ATTEMPTS,
    )


@dataclass(frozen=True, kw_only=True)
class JudgingTask:
    """The data that judging a dojo submission needs.

    Attributes:
        submission: the submission's id, under which its verdict is recorded.
        seq: position of its ``submission-received`` entry.
        problem_seq: position of the entry with the terms it is compared with; the terms do not
            leave the server.
        source: canonical source; nothing else of the submission is sent to a worker.
        n_check: number of terms.
        extended_until: the end of the user's extra time for the problem, which the row states;
            None: it came before the freeze.
        exact_integers, allowed_modules, recursion_limit: the contest's rules of these names; None:
            those of the reference edition.
        replace: whether the new verdict replaces one that is recorded already.
    """

    submission: str
    seq: int
    problem_seq: int
    source: str
    n_check: int
    extended_until: str | None = None
    exact_integers: bool | None = None
    allowed_modules: tuple[str, ...] | None = None
    recursion_limit: int | None = None
    replace: bool = False


def judge_job(
    contest: "Contest",
    judging: JudgingTask,
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    by: str,
) -> NewJob:
    """Return a job that judges a dojo submission."""
    return _job(
        "judge", contest, asdict(judging), id=id, key=judging.submission, by=by,
        priority=REQUESTED_PRIORITY, max_attempts=MAX_ATTEMPTS,
    )  # fmt: skip


def gate_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    problem: str,
    package: Mapping[str, Any],
    by: str,
) -> NewJob:
    """Return a job that validates a setter's program; if it passes, the problem is published.

    The entry ``problem-published`` with the terms and the row of the table ``problems`` are stored
    when the job is done.

    Args:
        contest: the contest.
        id: the job's id.
        problem: its ``P_hash``.
        package: ``Problem.declaration()``, and ``source``, the canonical source of the setter.
        by: who sent the problem.
    """
    return _job(
        "gate", contest, {"problem": problem, "package": dict(package)}, id=id, key=problem, by=by,
        priority=REQUESTED_PRIORITY, max_attempts=MAX_ATTEMPTS,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrialTask:
    """The data that running a challenge submission on one task needs.

    Attributes:
        submission: its id in the table ``submissions``.
        task: name of the task's folder among the worker's tasks.
        validator: id of the validator the result counts for.
        agent: ``command`` (what runs in the container) and ``files`` (name to text).
        rules: the contest's rules for those who run tasks: ``agent_timeout``, and
            ``reward_source`` where the contest states one; otherwise each task's own counts.
    """

    submission: str
    task: str
    validator: str
    agent: Mapping[str, Any]
    rules: Mapping[str, str]


def trial_job(
    contest: "Contest",
    trial: TrialTask,
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    by: str,
) -> NewJob:
    """Return a job that runs a challenge submission on one task."""
    payload = {**vars(trial), "agent": dict(trial.agent), "rules": dict(trial.rules)}
    return _job(
        "trial", contest, payload, id=id, key=f"{trial.submission}:{trial.task}", by=by,
        max_attempts=MAX_ATTEMPTS,
    )  # fmt: skip


def service_job(
    kind: JobKind,
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    payload: Mapping[str, Any] = MappingProxyType({}),
    dedupe: str | None = None,
    by: str = "system",
) -> NewJob:
    """Return a job that only the service's own workers run: rebuild, dry-run or find.

    Args:
        kind: the kind.
        contest: the contest.
        id: the job's id.
        payload: what the handler needs besides the contest.
        dedupe: while a job of the kind and contest with this key is queued, no other is added;
            None: always add.
        by: who requested it.
    """
    priority = 0 if kind == "find" else REQUESTED_PRIORITY
    return _job(kind, contest, payload, id=id, key=dedupe, by=by, priority=priority)


def _job(
    kind: JobKind,
    contest: "Contest",
    payload: Mapping[str, Any],
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    key: str | None,
    **options: Any,
) -> NewJob:
    """Return a job of a contest; ``key`` is what ``dedupe`` has besides kind and contest."""
    return NewJob(
        id=id,
        kind=kind,
        payload={**payload, "contest": contest.id},
        contest_no=contest.no,
        dedupe=None if key is None else f"{kind}:{contest.no}:{key}",
        **options,
    )


def round_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    round_id: str | None = None,
    ask: bool = False,
    not_before: datetime | None = None,
    by: str = "system",
) -> NewJob:
    """Return a job for the next step of a round of the arena.

    While one of the same round, purpose and time is queued, no other is added.

    Args:
        contest: the contest.
        id: the job's id.
        round_id: the round; None: a new one begins.
        ask: whether bots, judges and models that do not ask for work themselves are asked.
        not_before: earliest time.
        by: who requested it.
    """
    due = "now" if not_before is None else not_before.isoformat()
    purpose = "timer" if round_id is None and not_before else f"{round_id}:{ask}:{due}"
    automatic = round_id is None and not_before is not None
    return _job(
        "round", contest, {"round": round_id, "ask": ask, "automatic": automatic}, id=id,
        key=purpose, by=by, priority=REQUESTED_PRIORITY, not_before=not_before,
        max_attempts=MAX_ATTEMPTS,
    )  # fmt: skip


def scan_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    not_before: datetime | None = None,
) -> NewJob:
    """Return a job for an automatic integrity scan; while one is queued, no other is added.

    A scan that an organizer requests is a job of its own, which does not wait for this one.
    """
    return _job(
        "find", contest, {"unless_known": True}, id=id, key="by-itself",
        priority=BACKGROUND_PRIORITY, not_before=not_before,
    )  # fmt: skip


def robustness_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    not_before: datetime | None = None,
) -> NewJob:
    """Return a job that computes how robust an arena's ranks are; one at a time is queued."""
    return NewJob(
        id=id,
        kind="robustness",
        payload={"contest": contest.id},
        contest_no=contest.no,
        dedupe=f"robustness:{contest.no}",
        priority=BACKGROUND_PRIORITY,
        not_before=not_before,
    )


def deliver_job(
    contest_no: int | None,
    delivery: str,
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    not_before: datetime | None = None,
) -> NewJob:
    """Return a job for one attempt at a webhook's delivery."""
    return NewJob(
        id=id,
        kind="deliver",
        payload={"delivery": delivery},
        contest_no=contest_no,
        dedupe=f"deliver:{delivery}",
        not_before=not_before,
        max_attempts=MAX_ATTEMPTS,
    )


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """The queue: whether it is paused, number of jobs by kind and state, active workers."""

    paused: bool
    counts: Mapping[tuple[JobKind, JobState], int]
    workers: tuple[WorkerInfo, ...]

    @property
    def leased(self) -> int:
        """Number of leased jobs; a paused queue is drained when there are none."""
        return sum(count for (_, state), count in self.counts.items() if state == "leased")


def state(service: "Service") -> QueueState:
    """Return the state of the queue, with the workers that were active within a minute."""
    since = service.clock() - _ACTIVE_WITHIN
    with service.store.read() as session:
        queue = session.queue
        return QueueState(
            paused=queue.is_paused(),
            counts=queue.counts(),
            workers=tuple(queue.workers(since=since)),
        )


def pause(service: "Service", *, by: Caller = SYSTEM) -> QueueState:
    """Pause the queue: no more jobs are claimed; leased jobs go on (none left: *drained*)."""
    return _set_paused(service, paused=True, by=by)


def resume(service: "Service", *, by: Caller = SYSTEM) -> QueueState:
    """Resume the queue: jobs are claimed again."""
    return _set_paused(service, paused=False, by=by)


def cancel(service: "Service", job_id: str, *, by: Caller = SYSTEM) -> Job:
    """Cancel a job; its worker is notified at the next heartbeat.

    Raises:
        NotFound: there is no such job.
        Conflict: it has ended already.
    """
    with service.store.write() as session:
        cancelled = session.queue.cancel(job_id, now=service.clock())
        _add_audit_entry(service, session, cancelled, by=by, action="job.cancel")
    return cancelled


def retry(service: "Service", job_id: str, *, by: Caller = SYSTEM) -> Job:
    """Queue a failed or cancelled job again.

    Raises:
        NotFound: there is no such job.
        Conflict: it is not failed or cancelled.
    """
    with service.store.write() as session:
        queued = session.queue.retry(job_id, now=service.clock())
        _add_audit_entry(service, session, queued, by=by, action="job.retry")
    return queued


def _set_paused(service: "Service", *, paused: bool, by: Caller) -> QueueState:
    with service.store.write() as session:
        session.queue.pause(paused=paused)
        action = "queue.pause" if paused else "queue.resume"
        add_audit_entry(service, session, by=by, action=action, target="queue")
    return state(service)


def _add_audit_entry(
    service: "Service", session: Session, job: Job, *, by: Caller, action: str
) -> None:
    add_audit_entry(service, session, by=by, action=action, target=job.id,
                    detail={"kind": job.kind})  # fmt: skip
