"""Answer for ledgers: their lines, their signed heads, whole contests out and in."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agon.app.access.authorising import View
from agon.app.contests.service import Service
from agon.http.auth import sees
from agon.http.boards import cache_control, iso
from agon.http.etags import etag, is_known
from agon.http.models.contests import HeadTold
from agon.http.routes.common import Serves, new_router, text_of

router = new_router("ledger")

_PORTION = 5000
_NDJSON = "application/x-ndjson"


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
    said = {"contest": contest.id, "seq": seq, "head_sha256": entry.sha256.hex(), "at": iso(at)}
    headers = {"etag": etag(contest.id, seq, said), "cache-control": cache_control(view)}
    if is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    told = HeadTold(
        contest=contest.id,
        seq=seq,
        head_sha256=entry.sha256.hex(),
        at=iso(at),
        signature=service.signer.sign(said),
        public_key=service.signer.public_key,
    )
    return Response(told.model_dump_json(), headers=headers, media_type="application/json")


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
