"""Events as a stream that resumes where it was interrupted."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agon.api.operation import ContestContext
from agon.http.server_context import serving
from agon.http.sse import Listener


async def stream_events(
    request: Request,
    _response: Response,
    ctx: ContestContext,
    *,
    last_event_id: str | None,
    since: str | None,
) -> Response:
    """Stream events as they happen."""
    caller, streams = ctx.caller, serving(request).streams
    resumed = last_event_id if last_event_id is not None else since
    token_id = request.scope.get("agon.who")
    listener = Listener(
        contest=ctx.contest.id,
        caller=caller,
        token=token_id if caller.user is not None else None,
        since=None if resumed is None else streams.ids.number(ctx.contest.id, resumed),
    )
    leave = streams.admit(caller.network)

    async def body() -> AsyncIterator[bytes]:
        try:
            async for event in streams.events(listener):
                yield event
        finally:
            leave()

    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(body(), headers=headers, media_type="text/event-stream")
