"""Answer for published boards: pages, rows, proofs, explanations, history."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agon.app.access.permissions import View
from agon.app.contests.boards import pages as cases
from agon.app.contests.boards.explanations import explain
from agon.app.contests.boards.history import history
from agon.app.contests.boards.search import search
from agon.app.contests.boards.stored_rows import NotStored
from agon.errors import Unreadable
from agon.http.auth import sees
from agon.http.boards import answered, cache_control, proved
from agon.http.downloads import CSV, NDJSON, csv_chunks, ndjson_chunks
from agon.http.etags import etag, is_known
from agon.http.models.boards import (
    BoardList,
    BoardPage,
    BoardProof,
    BoardQuery,
    ExplanationTold,
    HistoryPage,
    ProofTold,
    StepTold,
    UnscoredPage,
)
from agon.http.models.jobs import JobTold
from agon.http.pages import Limit, linked, page_of
from agon.http.pages import after as begin_after
from agon.http.rebuilding import rebuild_answer
from agon.http.routes.common import Board, Participant, Serves, new_router

router = new_router("boards")

Reads = Annotated[View, sees("contest.read")]
AsOf = Annotated[
    str | None,
    Query(
        max_length=64,
        pattern=r"^[^\x00]+$",
        description="A position of the ledger (digits) or a time (ISO 8601).",
        examples=["1200", "2026-11-21T10:00:00Z"],
    ),
]
PageCursor = Annotated[
    str | None,
    Query(max_length=200, description="A place on one snapshot, as an earlier page said."),
]
Rebuilding: dict[int | str, dict[str, Any]] = {
    202: {
        "model": JobTold,
        "description": "Its rows are being rebuilt; ask again when the job is done.",
    },
    304: {"description": "The client has it already."},
}
_TEXT = {"schema": {"type": "string"}}
_WHOLE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": _TEXT, "application/x-ndjson": _TEXT}}
}
_FORMATS = {"json": "application/json", "csv": CSV, "ndjson": NDJSON}


@router.get("/contests/{contest}/boards", operation_id="listBoards", summary="Boards")
def list_boards(view: Reads, service: Serves) -> BoardList:
    """Tell the newest state of every board that the caller may see."""
    found = cases.boards(service, view)
    return BoardList(items=[BoardProof(**proved(snapshot)) for snapshot in found])


@router.get("/contests/{contest}/boards/{board}", operation_id="getBoard", summary="A board",
            response_model=BoardPage, responses=Rebuilding | _WHOLE)  # fmt: skip
def get_board(
    request: Request,
    view: Reads,
    board: Board,
    service: Serves,
    wanted: Annotated[BoardQuery, Query()],
) -> Response:
    """Return a page, or (``format``, or ``Accept``) the whole board as CSV or NDJSON.

    With ``q`` the page holds those alone whose ids begin so, in id order, wherever they stand.
    """
    as_of, cursor, around = wanted.as_of, wanted.cursor, wanted.around
    form = wanted.format or _accepted(request)
    _expect_one(cursor=cursor, around=around)
    _expect_one(cursor=cursor, as_of=as_of)
    if wanted.q is not None:
        begins = wanted.q
        _expect_one(q=begins, around=around)
        _expect_one(q=begins, format=wanted.format if form != "json" else None)
        return _answer(
            request,
            view,
            lambda: search(
                service, view, board, begins, as_of=as_of, cursor=cursor, limit=wanted.limit
            ),
        )
    if form != "json":
        return _download(request, service, view, board, as_of=as_of, form=form)
    return _answer(
        request,
        view,
        lambda: cases.page(
            service, view, board, as_of=as_of, cursor=cursor, around=around, limit=wanted.limit
        ),
    )


@router.get("/contests/{contest}/boards/{board}/unscored", operation_id="getUnscored",
            summary="Those without a score", response_model=UnscoredPage,
            responses=Rebuilding)  # fmt: skip
def get_unscored(
    request: Request,
    view: Reads,
    board: Board,
    service: Serves,
    as_of: AsOf = None,
    cursor: PageCursor = None,
    limit: Limit = 50,
) -> Response:
    """Return a page of those without a score, each with the reason."""
    _expect_one(cursor=cursor, as_of=as_of)
    return _answer(
        request,
        view,
        lambda: cases.page(
            service, view, board, as_of=as_of, cursor=cursor, limit=limit, unscored=True
        ),
        unscored=True,
    )


@router.get("/contests/{contest}/boards/{board}/rows/{id}", operation_id="getRow",
            summary="One's own row", response_model=BoardPage, responses=Rebuilding)  # fmt: skip
def get_row(
    request: Request,
    view: Reads,
    board: Board,
    participant: Participant,
    service: Serves,
    neighbours: Annotated[int, Query(ge=0, le=250, description="Rows above and below.")] = 0,
    as_of: AsOf = None,
) -> Response:
    """Return somebody's row with its neighbours; ``place`` is theirs."""
    return _answer(
        request,
        view,
        lambda: cases.row(service, view, board, participant, neighbours=neighbours, as_of=as_of),
    )


@router.get("/contests/{contest}/boards/{board}/proofs/{id}", operation_id="getProof",
            summary="A proof of one line", response_model=ProofTold,
            responses=Rebuilding)  # fmt: skip
def get_proof(
    request: Request,
    view: Reads,
    board: Board,
    participant: Participant,
    service: Serves,
    as_of: AsOf = None,
) -> Response | ProofTold:
    """Prove, by a Merkle path to a signed root, what a board says of somebody."""
    try:
        return ProofTold(**cases.proof(service, view, board, participant, as_of=as_of))
    except NotStored as missing:
        return rebuild_answer(request, view, missing)


@router.get("/contests/{contest}/boards/{board}/explanations/{id}", operation_id="getExplanation",
            summary="Why this score")  # fmt: skip
def get_explanation(
    view: Reads, board: Board, participant: Participant, service: Serves, as_of: AsOf = None
) -> ExplanationTold:
    """Explain a score, every part with inputs, rules, points and the records behind it."""
    return ExplanationTold(**explain(service, view, board, participant, as_of=as_of).to_dict())


@router.get("/contests/{contest}/boards/{board}/history/{id}", operation_id="getHistory",
            summary="How a score came about in time")  # fmt: skip
def get_history(
    request: Request,
    response: Response,
    view: Reads,
    board: Board,
    participant: Participant,
    service: Serves,
    limit: Limit = 100,
    cursor: PageCursor = None,
) -> HistoryPage:
    """List somebody's steps on a board, oldest first."""
    steps = history(
        service, view, board, participant, after=begin_after(cursor, kind=int) or 0, limit=limit + 1
    )
    page = page_of(steps, limit=limit, key=lambda one: one.seq, shown=StepTold.model_validate)
    return HistoryPage(**linked(request, response, page))


def _answer(
    request: Request, view: View, find: Callable[[], cases.Page], *, unscored: bool = False
) -> Response:
    """Render a page, or 304, or 202 with a job when its rows have to be rebuilt."""
    try:
        page = find()
    except NotStored as missing:
        return rebuild_answer(request, view, missing)
    known = request.headers.get("if-none-match")
    return answered(view, page, known=known, unscored=unscored)


def _download(
    request: Request, service: Serves, view: View, board: str, *, as_of: str | None, form: str
) -> Response:
    """Stream a whole board of one snapshot."""
    try:
        first = cases.page(service, view, board, as_of=as_of, limit=1)
    except NotStored as missing:
        return rebuild_answer(request, view, missing)
    tag = etag(first.snapshot.no, form)
    name = f"{view.contest.id}-{first.snapshot.board}-{first.snapshot.seq}.{form}"
    headers = {
        "etag": tag,
        "cache-control": cache_control(view),
        "vary": "authorization, accept",
        "content-disposition": f'attachment; filename="{_file_name(name)}"',
    }
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    write = csv_chunks if form == "csv" else ndjson_chunks
    chunks = write(service, view, first)
    return StreamingResponse(chunks, headers=headers, media_type=_FORMATS[form])


def _accepted(request: Request) -> str:
    """Choose a form by the Accept header; JSON for whoever does not say."""
    accept = request.headers.get("accept", "")
    wanted = [one.partition(";")[0].strip().casefold() for one in accept.split(",")]
    for one in wanted:
        if one == "text/csv":
            return "csv"
        if one in {NDJSON, "application/ndjson"}:
            return "ndjson"
        if one in {"application/json", "*/*"}:
            return "json"
    return "json"


def _file_name(text: str) -> str:
    return "".join(
        one if one.isascii() and (one.isalnum() or one in "-._") else "_" for one in text
    )


def _expect_one(**given: str | None) -> None:
    if all(value is not None for value in given.values()):
        both = " and ".join(given)
        why = "a cursor stays with its own snapshot" if "cursor" in given else "give one of them"
        raise Unreadable(f"{both} exclude each other; {why}")
