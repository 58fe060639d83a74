"""Ask for work, and look after the queue: what waits, who works, pause and drain."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from agon.entities.jobs import Job, JobKind, JobState, NewJob, WorkerInfo

if TYPE_CHECKING:
    from agon.app.service import Service
    from agon.entities.contests import Contest

PUBLISH_FIRST: Final = 10
"""Priority of publishing: a board is waited for by everybody, and is soon made."""

ANSWERS_FIRST: Final = 5
"""Priority of what one person waits for: a verdict, a dry run, a board of the past."""

MANY_ATTEMPTS: Final = 25
"""So often may a program's run be begun: a lost worker says nothing about the program."""

WHENEVER: Final = -5
"""Priority of what nobody waits for: a look for findings that comes by itself."""

_SEEN_WITHIN: Final = timedelta(minutes=1)


def publish_job(contest: "Contest", *, id: str) -> NewJob:  # noqa: A002 - it becomes NewJob.id
    """Ask for a contest's boards at its newest position; asking twice waits for one job."""
    return NewJob(
        id=id,
        kind="publish",
        payload={"contest": contest.id},
        contest_no=contest.no,
        dedupe=f"publish:{contest.no}",
        priority=PUBLISH_FIRST,
        max_attempts=MANY_ATTEMPTS,
    )


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Hold what a verdict needs.

    Attributes:
        submission: the submission's id, under which its verdict is recorded.
        seq: position of its ``submission-received`` entry.
        problem_seq: position of the entry with the terms it is compared with; they do not leave
            the server.
        source: canonical source; nothing else of the submission goes to a worker.
        n_check: how many terms are wanted.
        replace: whether a verdict that is there already gives way to the new one.
    """

    submission: str
    seq: int
    problem_seq: int
    source: str
    n_check: int
    replace: bool = False


def judge_job(
    contest: "Contest",
    judging: Judging,
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    by: str,
) -> NewJob:
    """Ask for a verdict on a dojo submission."""
    return NewJob(
        id=id,
        kind="judge",
        payload={"contest": contest.id, **asdict(judging)},
        contest_no=contest.no,
        dedupe=f"judge:{contest.no}:{judging.submission}",
        priority=ANSWERS_FIRST,
        max_attempts=MANY_ATTEMPTS,
        by=by,
    )


def gate_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    problem: str,
    package: Mapping[str, Any],
    by: str,
) -> NewJob:
    """Ask for a setter's run through its gate; when it passes, the problem is published.

    The entry ``problem-published`` with the terms and the row of the table ``problems`` are made
    when the job is done, never before.

    Args:
        contest: where it is set.
        id: the job's id.
        problem: its ``P_hash``.
        package: what ``Problem.declared()`` gives, and ``source``, the setter's canonical source.
        by: who published it.
    """
    return NewJob(
        id=id,
        kind="gate",
        payload={"contest": contest.id, "problem": problem, "package": dict(package)},
        contest_no=contest.no,
        dedupe=f"gate:{contest.no}:{problem}",
        priority=ANSWERS_FIRST,
        max_attempts=MANY_ATTEMPTS,
        by=by,
    )


def trial_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    submission: str,
    task: str,
    validator: str,
    agent: Mapping[str, Any],
    by: str,
) -> NewJob:
    """Ask for one trial of a challenge submission on one task.

    Args:
        contest: where it was sent.
        id: the job's id.
        submission: its id in the table ``submissions``.
        task: name of the task's folder among the worker's tasks.
        validator: id of the validator the result counts for.
        agent: ``command`` (what runs in the container) and ``files`` (name to text).
        by: who sent it.
    """
    return NewJob(
        id=id,
        kind="trial",
        payload={
            "contest": contest.id,
            "submission": submission,
            "task": task,
            "validator": validator,
            "agent": dict(agent),
        },
        contest_no=contest.no,
        dedupe=f"trial:{contest.no}:{submission}:{task}",
        max_attempts=MANY_ATTEMPTS,
        by=by,
    )


def house_job(
    kind: JobKind,
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    payload: Mapping[str, Any] = MappingProxyType({}),
    dedupe: str | None = None,
    by: str = "system",
) -> NewJob:
    """Ask for work that stays in the house: gate, rebuild, dry-run, round, deliver or find.

    Args:
        kind: what to do.
        contest: for which contest.
        id: the job's id.
        payload: what the handler needs besides the contest.
        dedupe: told from others of its kind and contest by this; None: never the same as another.
        by: who asks.
    """
    return NewJob(
        id=id,
        kind=kind,
        payload={**payload, "contest": contest.id},
        contest_no=contest.no,
        dedupe=None if dedupe is None else f"{kind}:{contest.no}:{dedupe}",
        priority=0 if kind == "find" else ANSWERS_FIRST,
        by=by,
    )


def look_job(
    contest: "Contest",
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    not_before: datetime | None = None,
) -> NewJob:
    """Ask for a look for findings that nobody waits for; asking twice waits for one job.

    It is another job than the one an organiser asks for, which does not wait.
    """
    return NewJob(
        id=id,
        kind="find",
        payload={"contest": contest.id, "unless_known": True},
        contest_no=contest.no,
        dedupe=f"find:{contest.no}:by-itself",
        priority=WHENEVER,
        not_before=not_before,
    )


def deliver_job(
    contest_no: int | None,
    delivery: str,
    *,
    id: str,  # noqa: A002 - it becomes NewJob.id
    not_before: datetime | None = None,
) -> NewJob:
    """Ask for one attempt at a webhook's delivery."""
    return NewJob(
        id=id,
        kind="deliver",
        payload={"delivery": delivery},
        contest_no=contest_no,
        dedupe=f"deliver:{delivery}",
        not_before=not_before,
        max_attempts=MANY_ATTEMPTS,
    )


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """Hold how the queue is: paused or not, how many jobs of each kind and state, who works."""

    paused: bool
    counts: Mapping[tuple[JobKind, JobState], int]
    workers: tuple[WorkerInfo, ...]

    @property
    def leased(self) -> int:
        """How many jobs are worked on; a paused queue is drained when there are none."""
        return sum(many for (_, state), many in self.counts.items() if state == "leased")


def state(service: "Service") -> QueueState:
    """Say how the queue is; workers are those seen within a minute."""
    since = service.clock() - _SEEN_WITHIN
    with service.store.read() as session:
        queue = session.queue
        return QueueState(
            paused=queue.paused(), counts=queue.counts(), workers=tuple(queue.workers(since=since))
        )


def pause(service: "Service") -> QueueState:
    """Let nothing more be claimed; what is worked on is finished (*drained* when none is left)."""
    with service.store.write() as session:
        session.queue.pause(paused=True)
    return state(service)


def resume(service: "Service") -> QueueState:
    """Let jobs be claimed again."""
    with service.store.write() as session:
        session.queue.pause(paused=False)
    return state(service)


def cancel(service: "Service", job_id: str) -> Job:
    """Cancel a job; who works on it hears so at the next heartbeat.

    Raises:
        NotFound: there is none of that id.
        Conflict: it has ended already.
    """
    with service.store.write() as session:
        return session.queue.cancel(job_id, now=service.clock())


def retry(service: "Service", job_id: str) -> Job:
    """Queue a job that failed or was cancelled once more.

    Raises:
        NotFound: there is none of that id.
        Conflict: it is not failed or cancelled.
    """
    with service.store.write() as session:
        return session.queue.retry(job_id, now=service.clock())
