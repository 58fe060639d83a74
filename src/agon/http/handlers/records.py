"""Records and votes, as NDJSON or as one JSON object."""

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.records import ImportSummary
from agon.api.operation import ContestContext
from agon.api.operations.records import ignored_names
from agon.api.operations.submissions import ballot_of
from agon.app.contests.ingest import records as ingest
from agon.app.contests.ingest.ndjson import Lines, read_value
from agon.entities import ledgers
from agon.http.bodies import media_type, raise_unsupported, spooled
from agon.http.server_context import serving

NDJSON_TYPES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})


async def add_records(
    request: Request,
    response: Response,
    ctx: ContestContext,
    *,
    table: str | None = None,
    replace: bool = False,
    dry_run: bool = False,
    ignore: str = "",
) -> ImportSummary:
    """Add the records of a body. It is read to its end before the ledger is locked."""
    kind = media_type(request.headers)
    if kind not in NDJSON_TYPES | {"application/json"}:
        raise_unsupported(kind, "application/x-ndjson (an object a line) or application/json")
    with await spooled(request) as body:

        def work() -> ledgers.ImportSummary:
            of_one = kind == "application/json"
            rows = read_value(body.read(), table=table) if of_one else Lines(body, table=table)
            return ingest.record(
                ctx.service,
                ctx.contest.id,
                rows,
                by=ctx.caller,
                replace=replace,
                dry_run=dry_run,
                ignore=ignored_names(ignore),
            )

        async with serving(request).slots.slot("bodies", request.scope):
            done = await run_in_threadpool(work)
    if dry_run or not (done.added or done.replaced):
        response.status_code = 200
    return ImportSummary.model_validate(done)


async def add_votes(request: Request, response: Response, ctx: ContestContext) -> ImportSummary:
    """Add the votes of a body."""
    return await add_records(request, response, ctx, table=ballot_of(ctx).table)
