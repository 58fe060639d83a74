"""Jobs, the workers that do them, and the queue."""

from typing import Annotated

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import ContestId, Page
from agon.api.models.jobs import (
    Assignment,
    ClaimRequest,
    CompleteRequest,
    FailRequest,
    HeartbeatRequest,
    Job,
    Queue,
    QueueCount,
    QueueUpdate,
    Worker,
)
from agon.api.operation import Context, operation
from agon.api.pages import PageRequest
from agon.api.parameters import Id
from agon.api.transport import Noun
from agon.app.access.permissions import NOT_IN, view_of
from agon.app.queue import jobs, leases
from agon.app.queue import source as job_source
from agon.app.queue.source import REMOTE_KINDS
from agon.app.service import Service
from agon.app.worker.handlers import RESULT_HANDLERS
from agon.entities import contests as contest_entities
from agon.entities import jobs as entities
from agon.entities.access import Caller, Everywhere
from agon.entities.jobs import JobKind, JobState, NewJob
from agon.errors import Forbidden, NotFound
from agon.store.session import Session


@operation("GET", "/jobs", id="listJobs", permission="job.read", cost="quick", summary="List jobs",
           command=Command(
               "jobs list", top=100, without=("kind",),
               columns=("id", "kind", "state", "contest", "created_at", "attempts", "position",
                        "worker"),
               options={"contest": Option(help="Only of this contest."),
                        "state": Option(help="Only those in this state.")}))  # fmt: skip
def list_jobs(
    ctx: Context,
    page: PageRequest,
    *,
    contest: ContestId | None = None,
    state: Annotated[JobState | None, Field(description="Only jobs in this state.")] = None,
    kind: Annotated[JobKind | None, Field(description="Only jobs of this kind.")] = None,
) -> Page[Job]:
    """Return jobs, newest first, with their position in the queue and the expected wait.

    A token that is limited to some contests sees their jobs only, and has to name one of them.

    $ agon jobs list
        List jobs, newest first.

        Each with its position in the queue and, if it failed, the last cause.

          agon jobs list --contest spring --state failed
    """
    caller, now = ctx.caller, ctx.service.clock()
    with ctx.service.store.read() as session:
        in_contest = None if contest is None else _permitted_contest(ctx, session, contest)
        if in_contest is None and caller.contests is not Everywhere.ALL:
            raise Forbidden("this token is limited to some contests; name one: ?contest=…")
        stored = session.queue.page(
            contest_no=None if in_contest is None else in_contest.no,
            states=() if state is None else (state,),
            kinds=_visible_kinds(kind, caller),
            after=page.after(str),
            limit=page.sought,
        )
        names: dict[int, str] = {}
        resources = [
            Job.of(
                job,
                contest=_name(session, job.contest_no, names),
                waiting=session.queue.waiting(job.id, now=now) if job.state == "queued" else None,
            )
            for job in stored
        ]
    return page.page(resources, key=lambda job: job.id, item=lambda job: job)


@operation("POST", "/jobs/claim", id="claimJob", permission="job.work",
           cost="quick", records="none", summary="Claim a job",
           also={204: "No job is waiting."})  # fmt: skip
def claim_job(ctx: Context, request: ClaimRequest) -> Assignment | None:
    """Claim the next job for a worker. A worker's token claims programs and tasks only."""
    caller = ctx.caller
    kinds = [kind for kind in request.kinds if caller.role == "operator" or kind in REMOTE_KINDS]
    if not kinds:
        raise Forbidden(
            f"a worker's token claims {', '.join(sorted(REMOTE_KINDS))} only; ask for one of these"
        )
    contests = None
    if not isinstance(caller.contests, Everywhere):
        with ctx.service.store.read() as session:
            contests = [session.contests.get(name).no for name in caller.contests]
    worker = _worker_name(request.worker, caller)
    job = leases.claim(ctx.service, kinds, worker=worker, contests=contests)
    if job is None:
        return None
    lease_seconds = ctx.service.lease_span.total_seconds()
    assignment = job_source.Assignment.of(job, lease_seconds=lease_seconds)
    return Assignment.model_validate(assignment.to_dict())


@operation("GET", "/jobs/{id}", id="getJob", permission="job.read",
           cost="quick", summary="Get a job",
           command=Command("jobs show"))  # fmt: skip
def get_job(ctx: Context, job: Id) -> Job:
    """Return a job, with its position in the queue and the expected wait.

    $ agon jobs show
        Show the job ID: state, position in the queue, and the causes of failed attempts.

        agon jobs retry queues a failed job again.

          agon jobs show 0193…
    """
    stored, contest = _permitted_job(ctx, job)
    _visible_kinds(stored.kind, ctx.caller)
    return waiting(ctx.service, stored, contest=None if contest is None else contest.id)


@operation("POST", "/jobs/{id}/heartbeat", id="heartbeatJob", permission="job.work",
           cost="quick", records="none", summary="Extend a lease")  # fmt: skip
def heartbeat_job(ctx: Context, job: Id, request: HeartbeatRequest) -> Job:
    """Extend a lease; a conflict means that the lease is lost and the worker should stop."""
    _, contest = _permitted_job(ctx, job)
    extended = leases.heartbeat(ctx.service, job, lease=request.lease, progress=request.progress)
    return _resource(extended, contest)


@operation("POST", "/jobs/{id}/complete", id="completeJob", permission="job.work",
           cost="quick", records="protocol", summary="Complete a job")  # fmt: skip
def complete_job(ctx: Context, job: Id, request: CompleteRequest) -> Job:
    """Send the outcome of a job; it is validated, and counts only once."""
    stored, contest = _permitted_job(ctx, job)
    _require_remote_kind(stored, ctx.caller)
    completed = leases.complete(
        ctx.service, job, lease=request.lease, outcome=request.outcome, handlers=RESULT_HANDLERS
    )
    return _resource(completed, contest)


@operation(
    "POST",
    "/jobs/{id}/fail",
    id="failJob",
    permission="job.work",
    cost="quick",
    records="none",
    summary="Fail a job",
)
def fail_job(ctx: Context, job: Id, request: FailRequest) -> Job:
    """Report why a worker could not do a job."""
    stored, contest = _permitted_job(ctx, job)
    _require_remote_kind(stored, ctx.caller)
    failed = leases.fail(
        ctx.service, job, lease=request.lease, cause=request.cause, retry=request.retry
    )
    return _resource(failed, contest)


@operation("POST", "/jobs/{id}/cancel", id="cancelJob", permission="job.manage",
           cost="quick", records="none", summary="Cancel a job",
           command=Command("jobs cancel", says="{job} is {result.state}"))  # fmt: skip
def cancel_job(ctx: Context, job: Id) -> Job:
    """Cancel a job; its worker learns so at the next heartbeat.

    $ agon jobs cancel
        Cancel the job ID; its worker stops.

        No result of it is stored.

          agon jobs cancel 0193…
    """
    _, contest = _permitted_job(ctx, job)
    return _resource(jobs.cancel(ctx.service, job, by=ctx.caller), contest)


@operation("POST", "/jobs/{id}/retry", id="retryJob", permission="job.manage",
           cost="quick", records="none", summary="Queue a job again",
           command=Command("jobs retry", says="{job} is {result.state}"))  # fmt: skip
def retry_job(ctx: Context, job: Id) -> Job:
    """Queue a job again that failed or was cancelled.

    $ agon jobs retry
        Queue the failed or cancelled job ID again.

        A job that is queued or leased is a conflict.

          agon jobs retry 0193…
    """
    _, contest = _permitted_job(ctx, job)
    return _resource(jobs.retry(ctx.service, job, by=ctx.caller), contest)


@operation("GET", "/queue", id="getQueue", permission="queue.read",
           cost="quick", summary="Get the queue",
           command=Command("jobs queue"))  # fmt: skip
def get_queue(ctx: Context) -> Queue:
    """Return the number of jobs by kind and state, and the workers.

    $ agon jobs queue
        Show the queue: number of jobs by kind and state, and the workers.

        Workers are listed if they were active within a minute.

          agon jobs queue
    """
    return _queue(jobs.state(ctx.service))


@operation("POST", "/queue", id="setQueue", permission="queue.manage",
           cost="quick", records="none", summary="Pause or resume the queue",
           command=(Command("jobs pause", fixed={"paused": True}),
                    Command("jobs resume", fixed={"paused": False})))  # fmt: skip
def set_queue(ctx: Context, request: QueueUpdate) -> Queue:
    """Pause or resume: a paused queue gives out no jobs, and jobs in work are finished.

    $ agon jobs pause
        Pause the queue: no more jobs are claimed; jobs in progress are finished.

        A paused queue without leased jobs is drained.

          agon jobs pause

    $ agon jobs resume
        Resume the queue: jobs are claimed again.

        Workers notice within a second.

          agon jobs resume
    """
    return _queue((jobs.pause if request.paused else jobs.resume)(ctx.service, by=ctx.caller))


class Jobs(Noun):
    """Jobs and the queue."""

    list = list_jobs
    claim = claim_job
    get = get_job
    heartbeat = heartbeat_job
    complete = complete_job
    fail = fail_job
    cancel = cancel_job
    retry = retry_job
    queue = get_queue
    set_queue = set_queue


def queue_job(service: Service, job: NewJob, *, contest: str) -> Job:
    """Queue a job, or find an equal one that is waiting, and return it."""
    with service.store.write() as session:
        added = session.queue.add(job, now=service.clock())
    return waiting(service, added, contest=contest)


def waiting(service: Service, job: entities.Job, *, contest: str | None) -> Job:
    """Return a job with its position in the queue."""
    with service.store.read() as session:
        position = session.queue.waiting(job.id, now=service.clock())
    return Job.of(job, contest=contest, waiting=position)


def _permitted_job(ctx: Context, name: str) -> tuple[entities.Job, contest_entities.Contest | None]:
    """Return a job and its contest, if the caller has the operation's permission on that contest.

    Raises:
        NotFound: there is no such job, or the caller may not see its contest.
        Forbidden: the caller has not the permission.
    """
    caller = ctx.caller
    with ctx.service.store.read() as session:
        job = session.queue.get(name)
        contest = None if job.contest_no is None else session.contests.by_no(job.contest_no)
    if contest is None:
        if caller.contests is not Everywhere.ALL:
            raise NotFound(f"there is no job {name}; see the list of jobs")
        return job, None
    if caller.role != "worker":
        view_of(contest, caller)
    ctx.require(contest)
    return job, contest


def _permitted_contest(ctx: Context, session: Session, name: str) -> contest_entities.Contest:
    """Return a contest on which the caller has the operation's permission.

    Raises:
        NotFound: there is none, and the caller may see all.
        Forbidden: the caller has not the permission, or there is none; with the same message.
    """
    try:
        contest = session.contests.get(name)
    except NotFound:
        if ctx.caller.contests is Everywhere.ALL:
            raise
        raise Forbidden(NOT_IN.format(name)) from None
    ctx.require(contest)
    return contest


def _visible_kinds(kind: JobKind | None, caller: Caller) -> tuple[JobKind, ...]:
    """Return the kinds of jobs to list; none: all.

    Workers see programs and tasks only, because the cause of another job may hold an answer.

    Raises:
        Forbidden: the caller is a worker and the kind is another.
    """
    if caller.role == "worker":
        if kind is None:
            return tuple(sorted(REMOTE_KINDS))
        if kind not in REMOTE_KINDS:
            raise Forbidden(
                f"a worker's token sees {', '.join(sorted(REMOTE_KINDS))} only; ask for one of them"
            )
    return () if kind is None else (kind,)


def _require_remote_kind(job: entities.Job, caller: Caller) -> None:
    """Reject a worker's outcome for a job that only the service itself does."""
    if caller.role != "operator" and job.kind not in REMOTE_KINDS:
        raise Forbidden(f"a worker's token cannot end a job of kind {job.kind}; claim another")


def _worker_name(name: str, caller: Caller) -> str:
    """Return a worker's name with its token's user, so that no other worker can have it."""
    return f"{caller.user}/{name}" if caller.user is not None else name


def _name(session: Session, no: int | None, names: dict[int, str]) -> str | None:
    if no is None:
        return None
    if no not in names:
        names[no] = session.contests.by_no(no).id
    return names[no]


def _resource(job: entities.Job, contest: contest_entities.Contest | None) -> Job:
    return Job.of(job, contest=None if contest is None else contest.id)


def _queue(state: jobs.QueueState) -> Queue:
    counts = (
        QueueCount(kind=kind, state=outcome, jobs=number)
        for (kind, outcome), number in sorted(state.counts.items())
    )
    return Queue(
        paused=state.paused,
        leased=state.leased,
        counts=tuple(counts),
        workers=tuple(map(Worker.model_validate, state.workers)),
    )
