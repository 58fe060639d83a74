"""Have a board of the past rebuilt: 202, and the job to wait for."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from agon.api.operations.jobs import queued
from agon.app.access.permissions import View, permits
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.queue.jobs import service_job
from agon.app.service import Service
from agon.entities.jobs import NewJob
from agon.http.middleware.auth import caller_of
from agon.http.middleware.concurrency import Busy
from agon.http.serving import serving

MOST: Final = 3
"""So many boards of a contest are rebuilt at a time for those who may not see its jobs."""

_UNSEEN: Final[dict[str, Any]] = {
    "by": "somebody", "worker": None, "causes": (), "position": None, "eta_seconds": None,
}  # fmt: skip
"""Who asked first and the length of the queue are for staff only."""


def rebuild_answer(request: Request, view: View, missing: NotStored) -> Response:
    """Queue the rebuilding (once, however many ask) and answer 202 with the job.

    Raises:
        Busy: the caller may not see jobs, and :data:`MOST` others are being rebuilt.
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
        _expect_room(service, job)
    rebuilding = queued(service, job, contest=view.contest.id)
    headers = {"location": f"/api/v1/jobs/{rebuilding.id}", "retry-after": "2"}
    if not sees_jobs:
        rebuilding = rebuilding.model_copy(update=_UNSEEN)
    return Response(rebuilding.model_dump_json(), 202, headers, media_type="application/json")


def _expect_room(service: Service, job: NewJob) -> None:
    """Reject anonymous requests that would rebuild every past board before anything is judged."""
    with service.store.read() as session:
        under_way = session.queue.page(
            contest_no=job.contest_no, states=("queued", "leased"), kinds=("rebuild",), limit=MOST
        )
    if len(under_way) >= MOST and all(one.payload != job.payload for one in under_way):
        raise Busy("other boards of the past are being rebuilt; ask for this one in a moment")
