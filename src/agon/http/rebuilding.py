"""Return 202 with the job that rebuilds the rows of an earlier board."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from agon.api.operations.jobs import queue_job
from agon.app.access.permissions import View, permits
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.queue.jobs import service_job
from agon.app.service import Service
from agon.entities.jobs import NewJob
from agon.http.middleware.auth import caller_of
from agon.http.server_context import serving
from agon.http.slots import Busy

MAX_REBUILDS: Final = 3
"""Maximum number of boards of a contest rebuilt together for callers who may not see its jobs."""

_HIDDEN: Final[dict[str, Any]] = {
    "by": "anonymous", "worker": None, "causes": (), "position": None, "eta_seconds": None,
}  # fmt: skip
"""Fields for staff only: who requested the job first, and the length of the queue."""


def rebuild_response(request: Request, view: View, missing: NotStored) -> Response:
    """Queue the rebuild, unless it is queued already, and return 202 with the job.

    Raises:
        Busy: the caller may not see jobs, and :data:`MAX_REBUILDS` others are being rebuilt.
    """
    service, caller = serving(request).service, caller_of(request)
    job = service_job(
        "rebuild",
        view.contest,
        id=service.new_id(),
        payload={"board": missing.board, "seq": missing.seq},
        dedupe=f"{missing.board}:{missing.seq}",
        by=caller.name,
    )
    sees_jobs = permits(caller, "job.read", contest=view.contest)
    if not sees_jobs:
        _require_capacity(service, job)
    rebuilding = queue_job(service, job, contest=view.contest.id)
    headers = {"location": f"/api/v1/jobs/{rebuilding.id}", "retry-after": "2"}
    if not sees_jobs:
        rebuilding = rebuilding.model_copy(update=_HIDDEN)
    return Response(rebuilding.model_dump_json(), 202, headers, media_type="application/json")


def _require_capacity(service: Service, job: NewJob) -> None:
    """Limit anonymous requests, which could otherwise fill the queue with rebuilds."""
    with service.store.read() as session:
        running = session.queue.page(
            contest_no=job.contest_no,
            states=("queued", "leased"),
            kinds=("rebuild",),
            limit=MAX_REBUILDS,
        )
    if len(running) >= MAX_REBUILDS and all(other.payload != job.payload for other in running):
        raise Busy("other earlier boards are being rebuilt; try again in a few seconds")
