"""Entries of ledgers as streams, signed heads with an ETag, and ZIP files of whole contests."""

import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.contests import Contest
from agon.api.operation import ContestContext, Context
from agon.api.operations.contest_resources import visible_to_creator
from agon.api.operations.ledgers import ZIP
from agon.api.operations.ledgers import get_head as head_operation
from agon.app.arena.imported_rounds import check_rounds
from agon.app.contests.lifecycle import transfer
from agon.app.service import Service
from agon.http.archives import pack, stream, unpack
from agon.http.boards.render import cache_control
from agon.http.bodies import media_type, raise_unsupported, spooled
from agon.http.server_context import serving
from agon.http.slots import StreamInSlots
from agon.web.etags import etag, is_known

_BATCH: Final = 1000
_NDJSON: Final = "application/x-ndjson"


def get_ledger(
    request: Request, _response: Response, ctx: ContestContext, *, after: int, limit: int | None
) -> Response:
    """Stream entries as they were written, one a line."""
    contest = ctx.contest
    lines = _lines(ctx.service, contest.no, after=after, limit=limit, until=contest.seq)
    headers = {"cache-control": "no-store"}
    return StreamInSlots(lines, slots=serving(request).slots, headers=headers, media_type=_NDJSON)


def get_head(request: Request, _response: Response, ctx: ContestContext) -> Response:
    """Return a signed head, or 304 where the client has it."""
    head = head_operation.function(ctx)
    signed = head.model_dump(include={"contest", "seq", "head_sha256", "at"})
    tag = etag(head.contest, head.seq, signed)
    headers = {"etag": tag, "cache-control": cache_control(ctx.view)}
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(head.model_dump_json(), headers=headers, media_type="application/json")


def export_contest(request: Request, _response: Response, ctx: ContestContext) -> Response:
    """Return a contest's complete ledger with signed heads as one ZIP file."""
    name = ctx.contest.id
    with tempfile.TemporaryDirectory(prefix="agon-export-") as folder:
        exported = transfer.export(ctx.service, name, Path(folder) / name)
        archive = pack(Path(folder) / name, name=name)
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}-{exported.seq}.zip"',
    }
    parts, slots = stream(archive), serving(request).slots
    return StreamInSlots(parts, slots=slots, headers=headers, media_type=ZIP)


async def import_contest(request: Request, response: Response, ctx: Context) -> Contest:
    """Import the ZIP file of an export."""
    kind = media_type(request.headers)
    if kind != ZIP:
        raise_unsupported(kind, f"{ZIP}, and the file of an export")
    with await spooled(request) as body:

        def work() -> Contest:
            with tempfile.TemporaryDirectory(prefix="agon-import-") as folder:
                unpack(body, Path(folder))
                imported = transfer.import_contest(
                    ctx.service, Path(folder), by=ctx.caller, further=check_rounds
                )
            return visible_to_creator(ctx, imported)

        async with serving(request).slots.slot("bodies", request.scope):
            imported_contest = await run_in_threadpool(work)
    response.headers["location"] = f"/api/v1/contests/{imported_contest.id}"
    return imported_contest


def _lines(
    service: Service, no: int, *, after: int, limit: int | None, until: int
) -> Generator[bytes, None, None]:
    """Yield lines; each batch is read in a session of its own, so that none waits for a client."""
    remaining = until - after if limit is None else min(limit, until - after)
    while remaining > 0:
        with service.store.read() as session:
            entries = list(
                session.entries.after(no, after, until=until, limit=min(_BATCH, remaining))
            )
        if not entries:
            return
        yield b"".join(entry.line + b"\n" for entry in entries)
        after, remaining = entries[-1].seq, remaining - len(entries)
