"""Answer for published boards: pages, rows, proofs, explanations, history."""

from typing import Annotated, Any, NoReturn

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import boards, proof_fields
from agon.app.contests.boards.proofs import proof
from agon.app.contests.boards.stored_rows import NotStored
from agon.http.auth import sees
from agon.http.models.boards import (
    BoardList,
    BoardPage,
    BoardProof,
    BoardQuery,
    ExplanationTold,
    HistoryPage,
    ProofTold,
    RowQuery,
    StepTold,
    UnscoredPage,
    UnscoredQuery,
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
_DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": _TEXT, "application/x-ndjson": _TEXT}}
}


@router.get("/contests/{contest}/boards", operation_id="listBoards", summary="Boards")
def list_boards(view: Reads, service: Serves) -> BoardList:
    """Tell the newest state of every board that the caller may see."""
    found = boards(service, view)
    return BoardList(items=[BoardProof(**proof_fields(snapshot)) for snapshot in found])


@router.get("/contests/{contest}/boards/{board}", operation_id="getBoard", summary="A board",
            response_model=BoardPage, responses=Rebuilding | _DOWNLOAD)  # fmt: skip
def get_board(_view: Reads, board: Board, query: Annotated[BoardQuery, Query()]) -> None:
    """Return a page, or (``format``, or ``Accept``) the whole board as CSV or NDJSON.

    With ``q`` the page holds those rows alone whose ids begin so, in id order.
    """
    _documented_only(board, query)


@router.get("/contests/{contest}/boards/{board}/unscored", operation_id="getUnscored",
            summary="Those without a score", response_model=UnscoredPage,
            responses=Rebuilding)  # fmt: skip
def get_unscored(_view: Reads, board: Board, query: Annotated[UnscoredQuery, Query()]) -> None:
    """Return a page of those without a score, each with the reason."""
    _documented_only(board, query)


@router.get("/contests/{contest}/boards/{board}/rows/{id}", operation_id="getRow",
            summary="Get a row", response_model=BoardPage, responses=Rebuilding)  # fmt: skip
def get_row(
    _view: Reads, board: Board, participant: Participant, query: Annotated[RowQuery, Query()]
) -> None:
    """Return a participant's row with its neighbors; ``place`` is its index on the board."""
    _documented_only(board, participant, query)


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
        return ProofTold(**proof(service, view, board, participant, as_of=as_of))
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


def _documented_only(*parameters: object) -> NoReturn:
    """Raise: a route of :mod:`agon.http.board_pages` comes first and answers."""
    raise AssertionError(parameters)
