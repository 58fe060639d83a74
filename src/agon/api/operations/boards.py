"""Published boards: pages, rows, proofs, explanations, histories."""

from collections.abc import Iterator
from typing import Any

import orjson

from agon.api.models.base import Items, Page
from agon.api.models.boards import (
    BoardPage,
    BoardProof,
    BoardQuery,
    Explanation,
    HistoryStep,
    LineProof,
    RowQuery,
    UnscoredPage,
    UnscoredQuery,
)
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.parameters import AsOf, BoardName, ParticipantId
from agon.api.transport import Noun
from agon.app.access.permissions import View
from agon.app.contests.boards import fields, pages
from agon.app.contests.boards.families import board_titles
from agon.app.contests.boards.history import history
from agon.app.contests.boards.proofs import proof
from agon.app.contests.boards.search import search
from agon.app.contests.boards.sorting import Sort, sorted_page
from agon.app.service import Service
from agon.kernel import explanations

_BOARD = "/contests/{contest}/boards/{board}"
_REBUILDING = {202: "Its rows are being rebuilt; repeat the request when the job is done."}
_DOWNLOADS = ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet")
_CACHED = {**_REBUILDING, 304: "The client's copy is current."}


@operation("GET", "/contests/{contest}/boards", id="listBoards", permission="contest.read",
           cost="quick", summary="List boards")  # fmt: skip
def list_boards(ctx: ContestContext) -> Items[BoardProof]:
    """Return the newest state of every board that the caller may see, the default board first."""
    snapshots = pages.boards(ctx.service, ctx.view)
    titles = board_titles(ctx.service, ctx.view)
    return Items(
        items=tuple(
            BoardProof.model_validate(
                {**fields.proof_fields(each), "title": titles.get(each.board, "")}
            )
            for each in snapshots
        )
    )


@operation("GET", _BOARD, id="getBoard", permission="contest.read",
           cost="quick", summary="Get a board",
           raw=True, also=_CACHED,
           media_types=_DOWNLOADS)  # fmt: skip
def get_board(ctx: ContestContext, board: BoardName, query: BoardQuery) -> BoardPage:
    """Return a page, or (``format``, or ``Accept``) the complete board as CSV, NDJSON or Parquet.

    With ``q`` the page holds only the rows whose names or ids begin with it; with ``sort`` the rows
    are in the order of a column, with ``minimum`` and ``maximum`` those in a range of its values,
    with ``values`` those that have one of them. Ranks stay those of the board.
    """
    query.require_sortable()
    board_page = select_rows(ctx.service, ctx.view, board, query)
    return BoardPage.model_validate(
        {
            **fields.page_fields(ctx.view, board_page, now=ctx.service.clock()),
            "rows": _lines(board_page),
        }
    )


@operation("GET", _BOARD + "/unscored", id="getUnscored", permission="contest.read", cost="quick",
           summary="List the participants without a score", raw=True, also=_CACHED)  # fmt: skip
def get_unscored(ctx: ContestContext, board: BoardName, query: UnscoredQuery) -> UnscoredPage:
    """Return a page of the participants without a score, each with the reason."""
    board_page = pages.page(
        ctx.service, ctx.view, board, as_of=query.as_of, cursor=query.cursor, limit=query.limit,
        unscored=True,
    )  # fmt: skip
    return UnscoredPage.model_validate(
        {
            **fields.page_fields(ctx.view, board_page, now=ctx.service.clock()),
            "unscored": _lines(board_page),
        }
    )


@operation("GET", _BOARD + "/rows/{id}", id="getRow", permission="contest.read", cost="quick",
           summary="Get a row", raw=True, also=_CACHED)  # fmt: skip
def get_row(
    ctx: ContestContext, board: BoardName, participant: ParticipantId, query: RowQuery
) -> BoardPage:
    """Return a participant's row with its neighbors; ``index`` is its index on the board."""
    board_page = pages.row(
        ctx.service, ctx.view, board, participant, neighbors=query.neighbors, as_of=query.as_of
    )
    return BoardPage.model_validate(
        {
            **fields.page_fields(ctx.view, board_page, now=ctx.service.clock()),
            "rows": _lines(board_page),
        }
    )


@operation("GET", _BOARD + "/proofs/{id}", id="getProof", permission="contest.read", cost="boards",
           summary="Get the proof of a line", also=_CACHED)  # fmt: skip
def get_proof(
    ctx: ContestContext, board: BoardName, participant: ParticipantId, *, as_of: AsOf = None
) -> LineProof:
    """Prove, by a Merkle path to a signed root, the line of a participant on a board."""
    line_proof = proof(ctx.service, ctx.view, board, participant, as_of=as_of)
    return LineProof.model_validate(line_proof)


@operation("GET", _BOARD + "/explanations/{id}", id="getExplanation", permission="contest.read",
           cost="reads", summary="Explain a score")  # fmt: skip
def get_explanation(
    ctx: ContestContext, board: BoardName, participant: ParticipantId, *, as_of: AsOf = None
) -> Explanation:
    """Explain a score: every part with its inputs, rules, points and records."""
    from agon.app.contests.boards.explain import explain

    explanation = explain(ctx.service, ctx.view, board, participant, as_of=as_of)
    return Explanation.model_validate(explanation.to_dict())


@operation("GET", _BOARD + "/history/{id}", id="getHistory", permission="contest.read",
           cost="reads", summary="Get the history of a score", page_size=100)  # fmt: skip
def get_history(
    ctx: ContestContext, page: PageRequest, board: BoardName, participant: ParticipantId
) -> Page[HistoryStep]:
    """Return the steps of a participant on a board, oldest first."""
    after = page.after(int) or 0
    steps = history(ctx.service, ctx.view, board, participant, after=after, limit=page.sought)
    return page.page(steps, key=lambda step: step.seq, item=HistoryStep.model_validate)


class Boards(Noun):
    """Published boards. ``board`` None is the default board; ``as_of`` a position or a time."""

    list = list_boards
    get = get_board
    get_unscored = get_unscored
    row = get_row
    get_proof = get_proof
    get_explanation = get_explanation
    get_history = get_history

    def page(
        self,
        contest: str,
        board: str | None = None,
        *,
        as_of: str | None = None,
        cursor: str | None = None,
        around: str | None = None,
        limit: int = 50,
    ) -> BoardPage:
        """Return a page of a board; :meth:`get` returns it in the order of a column.

        Raises:
            NotFound: there is no such board, id or state of it.
            Unreadable: the cursor, the limit (1 to 500) or ``as_of`` is invalid.
        """
        query = BoardQuery(as_of=as_of, cursor=cursor, around=around, limit=limit)
        return self.get(contest, board or self.default(contest), query)

    def search(
        self,
        contest: str,
        prefix: str,
        *,
        board: str | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> BoardPage:
        """Return the rows whose names or ids begin with a prefix, those found by name first.

        Raises:
            NotFound: there is no such board, or no such state of it.
            Unreadable: the prefix, the cursor, the limit (1 to 500) or ``as_of`` is invalid.
        """
        query = BoardQuery(q=prefix, as_of=as_of, cursor=cursor, limit=limit)
        return self.get(contest, board or self.default(contest), query)

    def unscored(
        self,
        contest: str,
        board: str | None = None,
        *,
        as_of: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> UnscoredPage:
        """Return a page of the participants without a score."""
        query = UnscoredQuery(as_of=as_of, cursor=cursor, limit=limit)
        return self.get_unscored(contest, board or self.default(contest), query)

    def proof(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> LineProof:
        """Return the Merkle proof of a participant's line, which can be verified offline."""
        name = board or self.default(contest)
        return self.get_proof(contest, name, participant, as_of=as_of)

    def explain(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> explanations.Explanation:
        """Explain a score."""
        from agon.api.conversions import explanation_of

        name = board or self.default(contest)
        explanation = self.get_explanation(contest, name, participant, as_of=as_of)
        return explanation_of(explanation.model_dump())

    def history(
        self, contest: str, participant: str, *, board: str | None = None
    ) -> Iterator[HistoryStep]:
        """Yield the steps of a participant on a board, oldest first."""
        return self.get_history(contest, board or self.default(contest), participant)

    def default(self, contest: str) -> str:
        """Return the name of a contest's default board."""
        from agon.api.operations.contests import get_contest

        boards: tuple[str, ...] = self.transport.call(get_contest, contest).boards
        return boards[0]


def select_rows(service: Service, view: View, board: str, query: BoardQuery) -> pages.BoardRows:
    """Return the requested page: in the order of the board, of a column, or of a search.

    Raises:
        NotFound, NotStored, Unreadable: as the use cases do.
    """
    if query.sort is not None:
        sort = Sort.read(
            query.sort, minimum=query.minimum, maximum=query.maximum, values=query.values
        )
        return sorted_page(
            service, view, board, sort, as_of=query.as_of, cursor=query.cursor, limit=query.limit
        )
    if query.q is not None:
        return search(
            service, view, board, query.q, as_of=query.as_of, cursor=query.cursor,
            limit=query.limit,
        )  # fmt: skip
    return pages.page(
        service, view, board, as_of=query.as_of, cursor=query.cursor, around=query.around,
        limit=query.limit,
    )  # fmt: skip


def _fields(ctx: ContestContext, page: pages.BoardRows) -> dict[str, Any]:
    return fields.page_fields(ctx.view, page, now=ctx.service.clock())


def _lines(page: pages.BoardRows) -> list[Any]:
    return [orjson.loads(line) for line in page.lines]
