"""Answer for ledgers: their lines, their signed heads, whole contests out and in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agon.app.access.permissions import View, view_of
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.service import Service
from agon.entities.access import Caller
from agon.http.archives import packed, streamed, unpack
from agon.http.auth import caller_of, needs, sees
from agon.http.boards import cache_control
from agon.http.bodies import media_type, raise_status, spooled
from agon.http.etags import etag, is_known
from agon.http.models.contests import ContestTold, HeadTold
from agon.http.routes.common import WRITES, Serves, new_router, refusals, text_of
from agon.http.routes.contests import told as contest_told
from agon.kernel.times import written_time

router = new_router("ledger")

_PORTION = 5000
_NDJSON = "application/x-ndjson"
_ZIP = "application/zip"
_BYTES = {"content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}}}
_ARCHIVE: dict[int | str, dict[str, Any]] = {200: _BYTES}


@router.get("/contests/{contest}/ledger", operation_id="getLedger", summary="A ledger's lines",
            response_class=Response,
            responses=text_of(_NDJSON))  # fmt: skip
def get_ledger(
    view: Annotated[View, sees("ledger.read")],
    service: Serves,
    after: Annotated[int, Query(ge=0, lt=1 << 62, description="The last position you have.")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=1_000_000, description="null: all.")] = None,
) -> Response:
    """Return entries as they were written, one a line, from a position on."""
    lines = _lines(service, view.contest.no, after=after, limit=limit, until=view.contest.seq)
    return StreamingResponse(lines, media_type=_NDJSON, headers={"cache-control": "no-store"})


@router.get("/contests/{contest}/ledger/head", operation_id="getLedgerHead",
            summary="A ledger's signed head", response_model=HeadTold)  # fmt: skip
def get_head(
    request: Request, view: Annotated[View, sees("contest.read")], service: Serves
) -> Response:
    """Sign the newest position the caller may see: whoever keeps it can prove what was before."""
    contest = view.contest
    seq = contest.seq if view.until is None else min(contest.seq, view.until)
    with service.store.read() as session:
        [entry] = session.entries.after(contest.no, seq - 1, until=seq)
        at = session.entries.time_of(contest.no, seq)
    said = {
        "contest": contest.id,
        "seq": seq,
        "head_sha256": entry.sha256.hex(),
        "at": written_time(at),
    }
    headers = {"etag": etag(contest.id, seq, said), "cache-control": cache_control(view)}
    if is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    told = HeadTold(
        contest=contest.id,
        seq=seq,
        head_sha256=entry.sha256.hex(),
        at=written_time(at),
        signature=service.signer.sign(said),
        public_key=service.signer.public_key,
    )
    return Response(told.model_dump_json(), headers=headers, media_type="application/json")


@router.get("/contests/{contest}/export", operation_id="exportContest", summary="Export a contest",
            response_class=Response, responses=_ARCHIVE)  # fmt: skip
def export_contest(
    request: Request, view: Annotated[View, sees("export")], service: Serves
) -> Response:
    """Return a contest's whole ledger with signed heads as one ZIP file."""
    name = view.contest.id
    with tempfile.TemporaryDirectory(prefix="agon-export-") as folder:
        done = export(service, name, Path(folder) / name, by=caller_of(request))
        archive = packed(Path(folder) / name, name=name)
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}-{done.seq}.zip"',
    }
    return StreamingResponse(streamed(archive), headers=headers, media_type=_ZIP)


@router.post("/contests/import", operation_id="importContest", summary="Import a contest",
             status_code=201, responses=refusals(*WRITES),
             openapi_extra={"requestBody": {"required": True, **_BYTES}})  # fmt: skip
async def import_archive(
    request: Request,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("import")],
) -> ContestTold:
    """Take in a ZIP file that an export gave: all of it is verified before any of it is stored."""
    if media_type(request.headers) != _ZIP:
        raise_status(415, f"send {_ZIP}, as an export gives it")
    body = await spooled(request)

    def work() -> ContestTold:
        with body, tempfile.TemporaryDirectory(prefix="agon-import-") as folder:
            unpack(body, Path(folder))
            made = import_contest(service, Path(folder), by=caller)
        with service.store.read() as session:
            return contest_told(session, view_of(made, caller))

    done = await run_in_threadpool(work)
    response.headers["location"] = f"/api/v1/contests/{done.id}"
    return done


def _lines(
    service: Service, no: int, *, after: int, limit: int | None, until: int
) -> Iterator[bytes]:
    """Yield lines; each portion is read by itself, so that no transaction waits for a client."""
    left = until - after if limit is None else min(limit, until - after)
    while left > 0:
        with service.store.read() as session:
            found = list(session.entries.after(no, after, until=until, limit=min(_PORTION, left)))
        if not found:
            return
        yield b"".join(one.line + b"\n" for one in found)
        after, left = found[-1].seq, left - len(found)
