"""Jobs of a contest and of the server, the queue and its workers."""

from typing import Any, Final, get_args

from agon.api.models.jobs import Job, QueueUpdate
from agon.app.access.permissions import acting, allow
from agon.entities.access import Everywhere
from agon.entities.jobs import JobKind, JobState
from agon.errors import NotFound
from agon.web import addresses
from agon.web.desk.layout import act, contest_page, listing, server_page
from agon.web.page import Redirect, SitePage, Visit

_ACTIONS: Final = ("retry", "cancel")
_STATES: Final = get_args(JobState)
_KINDS: Final = get_args(JobKind)


def contest_jobs(visit: Visit) -> SitePage:
    """Return the jobs of a contest."""
    contest = visit.contest()
    values = {
        "jobs": listing(visit, visit.api.jobs.list(contest=contest.id, **_filter(visit))),
        **_choices(visit),
    }
    data = addresses.api("jobs", contest=contest.id)
    return contest_page(visit, contest, "jobs", values, data=data)


def contest_job(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return a job of a contest."""
    contest, shown = visit.contest(), visit.api.jobs.get(visit.path["id"])
    if shown.contest != contest.id:
        raise NotFound(f"{contest.id} has no job {shown.id}; see the list of its jobs")
    data = addresses.api("jobs", shown.id)
    return contest_page(visit, contest, "job", {"job": shown}, tab="Jobs", error=error, data=data)


def act_on_contest_job(visit: Visit) -> SitePage | Redirect:
    """Queue a job of a contest again, or cancel it."""
    contest, job = visit.contest(), visit.path["id"]
    return act(
        lambda: _do(visit),
        following=addresses.desk(contest.id, "jobs", job),
        otherwise=lambda error: contest_job(visit, error=error),
    )


def queue(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return the queue, its workers and all jobs."""
    allow(visit.caller, "contest.manage")
    values = {
        "queue": visit.api.jobs.queue(),
        "jobs": listing(visit, visit.api.jobs.list(**_filter(visit)))
        if acting(visit.caller, "job.read").contests is Everywhere.ALL
        else None,
        **_choices(visit),
    }
    return server_page(visit, "queue", values, error=error, data=addresses.api("queue"))


def set_queue(visit: Visit) -> SitePage | Redirect:
    """Pause or resume the queue."""
    paused = visit.form.get("do") == "pause"
    return act(
        lambda: visit.api.jobs.set_queue(QueueUpdate(paused=paused)),
        following=addresses.desks("queue"),
        otherwise=lambda error: queue(visit, error=error),
    )


def job(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return a job."""
    allow(visit.caller, "contest.manage")
    shown = visit.api.jobs.get(visit.path["id"])
    values = {"job": shown}
    data = addresses.api("jobs", shown.id)
    return server_page(visit, "server_job", values, tab="Queue", error=error, data=data)


def act_on_job(visit: Visit) -> SitePage | Redirect:
    """Queue a job again, or cancel it."""
    return act(
        lambda: _do(visit),
        following=addresses.desks("queue", visit.path["id"]),
        otherwise=lambda error: job(visit, error=error),
    )


def _do(visit: Visit) -> Job:
    action, name = visit.path["action"], visit.path["id"]
    if action not in _ACTIONS:
        raise NotFound(f"a job has no action {action!r}; use {' or '.join(_ACTIONS)}")
    changed: Job = getattr(visit.api.jobs, action)(name)
    return changed


def _filter(visit: Visit) -> dict[str, Any]:
    """Return which jobs are asked for: of a state, of a kind."""
    return {
        name: visit.query[name]
        for name, known in (("state", _STATES), ("kind", _KINDS))
        if visit.query.get(name) in known
    }


def _choices(visit: Visit) -> dict[str, Any]:
    return {"states": _STATES, "kinds": _KINDS, "chosen": _filter(visit)}
