"""Answer for events: a stream that resumes where it was left."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Header, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agon.app.access.permissions import View
from agon.http.auth import caller_of, sees
from agon.http.event_ids import PATTERN
from agon.http.routes.common import Parts, new_router, text_of
from agon.http.sse import Listener

router = new_router("events")


@router.get("/contests/{contest}/events", operation_id="streamEvents", summary="Events",
            response_class=Response,
            responses=text_of("text/event-stream"))  # fmt: skip
async def stream(
    request: Request,
    view: Annotated[View, sees("contest.read")],
    parts: Parts,
    last: Annotated[str | None, Header(alias="last-event-id", pattern=PATTERN)] = None,
    since: Annotated[
        str | None, Query(pattern=PATTERN, description="As Last-Event-ID; 0: from the beginning.")
    ] = None,
) -> Response:
    """Stream what happens as it happens; ``Last-Event-ID`` resumes without a gap."""
    caller = caller_of(request)
    said = last if last is not None else since
    who = request.scope.get("agon.who")
    listener = Listener(
        contest=view.contest.id,
        caller=caller,
        token=who if caller.user is not None else None,
        since=None if said is None else parts.streams.ids.number(view.contest.id, said),
    )
    leave = parts.streams.admit(caller.network)

    async def body() -> AsyncIterator[bytes]:
        try:
            async for event in parts.streams.events(listener):
                yield event
        finally:
            leave()

    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(body(), headers=headers, media_type="text/event-stream")
