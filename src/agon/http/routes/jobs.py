"""Answer for jobs, those who work on them, and the queue."""

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import allow, view_of
from agon.app.queue import jobs, leases
from agon.app.queue.source import REMOTE_KINDS, Assignment
from agon.app.worker.handlers import RESULT_HANDLERS
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.jobs import Job, JobKind
from agon.errors import Forbidden, NotFound
from agon.http.auth import needs
from agon.http.models.jobs import (
    AssignmentTold,
    ClaimAsked,
    CompleteAsked,
    CountTold,
    FailAsked,
    HeartbeatAsked,
    JobPage,
    JobQuery,
    JobTold,
    QueueAsked,
    QueueTold,
    WorkerTold,
)
from agon.http.pages import after, linked, page_of
from agon.http.routes.common import WRITES, Serves, new_router, refusals
from agon.store.session import Session

router = new_router("jobs")

JobId = Annotated[str, Path(alias="id", pattern=r"^[A-Za-z0-9_-]{1,100}$")]
_NOTHING: dict[int | str, dict[str, Any]] = {204: {"description": "There is nothing to do."}}
Works = Annotated[Caller, needs("job.work")]


@router.get("/jobs", operation_id="listJobs", summary="Jobs")
def list_jobs(
    request: Request,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("job.read")],
    wanted: Annotated[JobQuery, Query()],
) -> JobPage:
    """List jobs, newest first, each with its place in the queue and the expected wait.

    A token that is good for some contests sees the jobs of those, and names one of them.
    """
    now = service.clock()
    with service.store.read() as session:
        of = None if wanted.contest is None else _contest(session, wanted.contest, caller)
        if of is None and caller.contests is not None:
            raise Forbidden("this token is good for some contests only; name one: ?contest=…")
        found = session.queue.page(
            contest_no=None if of is None else of.no,
            states=() if wanted.state is None else (wanted.state,),
            kinds=_shown(wanted.kind, caller),
            after=after(wanted.cursor, kind=str),
            limit=wanted.limit + 1,
        )
        names: dict[int, str] = {}
        told = [
            JobTold.of(
                job,
                contest=_name(session, job.contest_no, names),
                waiting=session.queue.waiting(job.id, now=now) if job.state == "queued" else None,
            )
            for job in found
        ]
    page = page_of(told, limit=wanted.limit, key=lambda one: one.id, shown=lambda one: one)
    return JobPage(**linked(request, response, page))


@router.post("/jobs/claim", operation_id="claimJob", summary="Claim a job",
             response_model=AssignmentTold,
             responses=refusals(*WRITES) | _NOTHING)  # fmt: skip
def claim_job(asked: ClaimAsked, service: Serves, caller: Works) -> Response | AssignmentTold:
    """Claim the next job for a worker. Workers outside the house get programs and tasks only."""
    kinds = [kind for kind in asked.kinds if caller.role == "operator" or kind in REMOTE_KINDS]
    if not kinds:
        raise Forbidden(
            f"a worker's token claims {', '.join(sorted(REMOTE_KINDS))} only; ask for one of these"
        )
    contests = None
    if caller.contests is not None:
        with service.store.read() as session:
            contests = [session.contests.get(name).no for name in caller.contests]
    job = leases.claim(service, kinds, worker=_worker(asked.worker, caller), contests=contests)
    if job is None:
        return Response(status_code=204)
    given = Assignment.of(job, lease_seconds=service.lease_span.total_seconds())
    return AssignmentTold(**given.to_dict())


@router.get("/jobs/{id}", operation_id="getJob", summary="A job")
def get_job(name: JobId, service: Serves, caller: Annotated[Caller, needs("job.read")]) -> JobTold:
    """Tell how a job stands, and how long it will wait."""
    job, contest = _found(service, name, caller, "job.read")
    _shown(job.kind, caller)
    with service.store.read() as session:
        waiting = session.queue.waiting(job.id, now=service.clock())
    return JobTold.of(job, contest=None if contest is None else contest.id, waiting=waiting)


@router.post("/jobs/{id}/heartbeat", operation_id="heartbeatJob", summary="Keep a lease alive",
             responses=refusals(*WRITES))  # fmt: skip
def heartbeat_job(name: JobId, asked: HeartbeatAsked, service: Serves, caller: Works) -> JobTold:
    """Extend a lease; a conflict says that it is lost: stop working."""
    _, contest = _found(service, name, caller, "job.work")
    job = leases.heartbeat(service, name, lease=asked.lease, progress=asked.progress)
    return _told(job, contest)


@router.post("/jobs/{id}/complete", operation_id="completeJob", summary="Hand in an outcome",
             responses=refusals(*WRITES))  # fmt: skip
def complete_job(name: JobId, asked: CompleteAsked, service: Serves, caller: Works) -> JobTold:
    """Hand in what came of a job; it is checked before it counts, and it counts once."""
    job, contest = _found(service, name, caller, "job.work")
    _expect_remote(job, caller)
    done = leases.complete(
        service, name, lease=asked.lease, outcome=asked.outcome, handlers=RESULT_HANDLERS
    )
    return _told(done, contest)


@router.post("/jobs/{id}/fail", operation_id="failJob", summary="Give a job back",
             responses=refusals(*WRITES))  # fmt: skip
def fail_job(name: JobId, asked: FailAsked, service: Serves, caller: Works) -> JobTold:
    """Give a job back with the cause."""
    job, contest = _found(service, name, caller, "job.work")
    _expect_remote(job, caller)
    done = leases.fail(service, name, lease=asked.lease, cause=asked.cause, retry=asked.retry)
    return _told(done, contest)


@router.post("/jobs/{id}/cancel", operation_id="cancelJob", summary="Cancel a job",
             responses=refusals(*WRITES))  # fmt: skip
def cancel_job(
    name: JobId, service: Serves, caller: Annotated[Caller, needs("job.manage")]
) -> JobTold:
    """Cancel a job; who works on it hears so at the next heartbeat."""
    _, contest = _found(service, name, caller, "job.manage")
    return _told(jobs.cancel(service, name), contest)


@router.post("/jobs/{id}/retry", operation_id="retryJob", summary="Queue a job again",
             responses=refusals(*WRITES))  # fmt: skip
def retry_job(
    name: JobId, service: Serves, caller: Annotated[Caller, needs("job.manage")]
) -> JobTold:
    """Queue a job that failed or was cancelled once more."""
    _, contest = _found(service, name, caller, "job.manage")
    return _told(jobs.retry(service, name), contest)


@router.get("/queue", operation_id="getQueue", summary="The queue")
def get_queue(service: Serves, _: Annotated[Caller, needs("queue.read")]) -> QueueTold:
    """Tell what waits, what is worked on and by whom."""
    return _queue_told(jobs.state(service))


@router.post("/queue", operation_id="setQueue", summary="Pause or resume the queue",
             responses=refusals(*WRITES))  # fmt: skip
def set_queue(
    asked: QueueAsked, service: Serves, _: Annotated[Caller, needs("queue.manage")]
) -> QueueTold:
    """Pause: nothing is claimed, what is worked on is finished; it is drained when none is left."""
    return _queue_told((jobs.pause if asked.paused else jobs.resume)(service))


def _found(service: Serves, name: str, caller: Caller, action: str) -> tuple[Job, Contest | None]:
    """Return a job and its contest, if the caller may do this to it.

    Raises:
        NotFound: there is none, or it is of a contest the caller may not see.
    """
    with service.store.read() as session:
        job = session.queue.get(name)
        contest = None if job.contest_no is None else session.contests.by_no(job.contest_no)
    if contest is None:
        if caller.contests is not None:
            raise NotFound(f"there is no job {name}; see the list of jobs")
        return job, None
    if caller.role != "worker":
        view_of(contest, caller)
    allow(caller, action, contest=contest)
    return job, contest


def _contest(session: Session, name: str, caller: Caller) -> Contest:
    """Return the contest whose jobs are wanted.

    Raises:
        Forbidden: the token is good for other contests; whether there is this one is not told.
        NotFound: there is none of that name.
    """
    allow(caller, "job.read", contest=name)
    return session.contests.get(name)


def _shown(kind: JobKind | None, caller: Caller) -> tuple[JobKind, ...]:
    """Return the kinds of jobs to be shown, of those that are wanted; none: all kinds.

    Workers see programs and tasks alone: why a job of the house failed may tell an answer.

    Raises:
        Forbidden: it is a worker's token, and the kind is one of the house's own.
    """
    if caller.role == "worker":
        if kind is None:
            return tuple(sorted(REMOTE_KINDS))
        if kind not in REMOTE_KINDS:
            raise Forbidden(
                f"a worker's token sees {', '.join(sorted(REMOTE_KINDS))} only; ask for one of them"
            )
    return () if kind is None else (kind,)


def _expect_remote(job: Job, caller: Caller) -> None:
    """Refuse to believe a worker's token about the house's own jobs."""
    if caller.role != "operator" and job.kind not in REMOTE_KINDS:
        raise Forbidden(f"a worker's token cannot end a job of kind {job.kind}; claim another")


def _worker(name: str, caller: Caller) -> str:
    """Name a worker by its token's user as well, so that none can take another's name."""
    return f"{caller.user}/{name}" if caller.user is not None else name


def _name(session: Session, no: int | None, names: dict[int, str]) -> str | None:
    if no is None:
        return None
    if no not in names:
        names[no] = session.contests.by_no(no).id
    return names[no]


def _told(job: Job, contest: Contest | None) -> JobTold:
    return JobTold.of(job, contest=None if contest is None else contest.id)


def _queue_told(state: jobs.QueueState) -> QueueTold:
    return QueueTold(
        paused=state.paused,
        leased=state.leased,
        counts=[
            CountTold(kind=kind, state=of, jobs=many)
            for (kind, of), many in sorted(state.counts.items())
        ],
        workers=[WorkerTold.model_validate(one) for one in state.workers],
    )
