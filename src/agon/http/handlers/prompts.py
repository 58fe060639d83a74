"""Rows of the private tables of an arena, as NDJSON or as one JSON object."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.bots import PromptSummary
from agon.api.operation import ContestContext
from agon.app.arena.live.private_tables import save_rows
from agon.app.contests.ingest.ndjson import Lines, read_value
from agon.entities.arena import PrivateTable
from agon.http.bodies import media_type, raise_unsupported, spooled
from agon.http.handlers.records import NDJSON_TYPES
from agon.http.server_context import serving


async def add_prompts(request: Request, _: Response, ctx: ContestContext) -> PromptSummary:
    """Add the prompts of a body."""
    return await _save(request, ctx, "prompts")


async def add_human_answers(request: Request, _: Response, ctx: ContestContext) -> PromptSummary:
    """Add the human answers of a body."""
    return await _save(request, ctx, "human_answers")


async def add_honeypot_answers(request: Request, _: Response, ctx: ContestContext) -> PromptSummary:
    """Add the answers for honeypots of a body."""
    return await _save(request, ctx, "honeypot_answers")


async def _save(request: Request, ctx: ContestContext, table: PrivateTable) -> PromptSummary:
    kind = media_type(request.headers)
    if kind not in NDJSON_TYPES | {"application/json"}:
        raise_unsupported(kind, "application/x-ndjson (an object a line) or application/json")

    with await spooled(request) as body:

        def work() -> int:
            of_one = kind == "application/json"
            rows = read_value(body.read(), table=table) if of_one else Lines(body, table=table)
            return save_rows(ctx.service, ctx.contest.id, table, rows, by=ctx.caller.name)

        async with serving(request).slots.slot("bodies", request.scope):
            return PromptSummary(saved=await run_in_threadpool(work))
