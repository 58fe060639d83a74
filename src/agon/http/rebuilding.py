"""Have a board of the past rebuilt: 202, and the job to wait for."""

from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.authorising import View
from agon.app.contests.stored_rows import NotStored
from agon.app.jobs.queueing import house_job
from agon.http.auth import caller_of
from agon.http.queueing import queued
from agon.http.serving import serving


def rebuild_answer(request: Request, view: View, missing: NotStored) -> Response:
    """Queue the rebuilding (once, however many ask) and answer 202 with the job."""
    service = serving(request).service
    job = house_job(
        "rebuild",
        view.contest,
        id=service.new_id(),
        payload={"board": missing.board, "seq": missing.seq},
        dedupe=f"{missing.board}:{missing.seq}",
        by=caller_of(request).name,
    )
    answer = Response(status_code=202, headers={"retry-after": "2"}, media_type="application/json")
    told = queued(service, answer, job, contest=view.contest.id)
    headers = {"location": answer.headers["location"], "retry-after": "2"}
    return Response(told.model_dump_json(), 202, headers, media_type="application/json")
