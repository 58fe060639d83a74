"""Handle requests for pages and rows of boards: getBoard, getRow and getUnscored.

These are the most frequent requests. FastAPI documents the three operations; the requests are
handled here, because FastAPI's own steps (dependencies, forms, a session for each) cost many times
as much as the page.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar, cast
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.api.models.base import BoardName, ContestId, Query, RecordId
from agon.api.models.boards import BoardQuery, RowQuery, UnscoredQuery, exclude
from agon.api.operations.boards import select_rows
from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.names import ids_of
from agon.app.contests.boards.pages import Page, PageRequest, read_page
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.service import Service
from agon.http.addresses import path_parameters
from agon.http.board_views import ACTION, BoardView, ViewCache, ViewKey
from agon.http.boards import board_headers, page_response
from agon.http.downloads import CSV, NDJSON, PARQUET, csv_chunks, ndjson_chunks, parquet_chunks
from agon.http.etags import etag, is_known
from agon.http.operations import require_known
from agon.http.problems import on_invalid_request
from agon.http.rebuilding import rebuild_response
from agon.http.slots import Slots, StreamInSlots
from agon.store.board_rows import BoardRows, StateToken
from agon.store.names import names_query

BOARD: Final = "/api/v1/contests/{contest}/boards/{board}"
_MAX_CACHED_QUERY: Final = 256
"""Maximum number of bytes of a query string whose parameters are cached."""

_DOWNLOADS: Final = {
    "csv": (CSV, csv_chunks),
    "ndjson": (NDJSON, ndjson_chunks),
    "parquet": (PARQUET, parquet_chunks),
}

_Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
P = TypeVar("P", bound=BaseModel)
Q = TypeVar("Q", bound=Query)


class BoardPath(Query):
    """The parameters of a board's path."""

    contest: ContestId
    board: BoardName


class RowPath(BoardPath):
    """The parameters of the path of a participant's row on a board."""

    id: RecordId


class BoardPages:
    """Reads pages of boards and returns them as responses.

    What a caller sees of a board is cached until the database changes; the state of the database is
    read together with the rows, so that no response is older than its request.

    Args:
        service: the service.
        rows: reads rows.
        views: looks up what callers see.
        slots: of searches and downloads.
    """

    def __init__(
        self, service: Service, *, rows: BoardRows, views: ViewCache, slots: Slots
    ) -> None:
        self._service = service
        self._rows = rows
        self._views = views
        self._slots = slots

    def routes(self) -> list[Route]:
        """Return the routes of the three operations."""
        return [
            _route(BOARD, self.get_board),
            _route(f"{BOARD}/rows/{{id}}", self.get_row),
            _route(f"{BOARD}/unscored", self.get_unscored),
        ]

    async def get_board(self, request: Request) -> Response:
        """Return a page, the rows of a search, or a complete board as CSV, NDJSON or Parquet."""
        path, query = _parse(request, BoardPath, BoardQuery)
        form = query.format or _accepted_format(request)
        if len(query.model_fields_set) > 1:
            exclude(cursor=query.cursor, around=query.around)
            exclude(cursor=query.cursor, as_of=query.as_of)
            exclude(q=query.q, around=query.around)
            exclude(q=query.q, format=query.format if form != "json" else None)
        query.require_sortable()
        if query.q is not None or query.sort is not None:
            return await self._selection(request, path, query)
        if form != "json":
            return await self._download(request, path, as_of=query.as_of, form=form)
        return await self._page(
            request, path, as_of=query.as_of, cursor=query.cursor, id=query.around,
            limit=query.limit,
        )  # fmt: skip

    async def get_row(self, request: Request) -> Response:
        """Return a participant's row with its neighbors."""
        path, query = _parse(request, RowPath, RowQuery)
        return await self._page(
            request, path, as_of=query.as_of, id=path.id, neighbors=query.neighbors
        )

    async def get_unscored(self, request: Request) -> Response:
        """Return a page of the participants without a score."""
        path, query = _parse(request, BoardPath, UnscoredQuery)
        exclude(cursor=query.cursor, as_of=query.as_of)
        return await self._page(
            request, path, as_of=query.as_of, cursor=query.cursor, limit=query.limit, unscored=True
        )

    async def _page(
        self, request: Request, path: BoardPath, *, cursor: str | None = None, **parameters: Any
    ) -> Response:
        at = None if cursor is None else Cursor.read(cursor)
        page_request = PageRequest(cursor=at, **parameters)
        try:
            view, head, page = await self._read(request, path, page_request)
        except NotStored as missing:
            return await self._rebuild(request, path, missing)
        client_tags = request.headers.get("if-none-match")
        return page_response(
            view, page, known=client_tags, head=head, unscored=page_request.unscored
        )

    async def _read(
        self, request: Request, path: BoardPath, page_request: PageRequest
    ) -> tuple[View, bytes | None, Page]:
        """Return what the caller sees of the contest, the head of the page if cached, and the page.

        An id that has no row is looked up among the unscored in a session, and so are rows that
        were deleted between the lookup of the board and the read.
        """
        caller = replace(request.scope["agon.caller"], network=None)
        snapshot = None if page_request.cursor is None else page_request.cursor.snapshot
        key = ViewKey(path.contest, path.board, page_request.as_of, snapshot, caller)
        cached = self._views.find(key)
        if cached is None:
            valid, state = None, await self._rows.state()
        else:
            valid, view = cached
            state, page = await self._fetch(view, page_request)
        if cached is None or state != valid:
            view = await self._views.load(key, state)
            _, page = await self._fetch(view, page_request)
        if page is not None:
            return view.contest, view.head, await self._with_names(view, page)
        async with self._slots.slot("reads", request.scope):
            page = await self._views.in_thread(
                lambda: read_page(self._service, view.contest, path.board, page_request)
            )
        return view.contest, None, page

    async def _fetch(
        self, view: BoardView, page_request: PageRequest
    ) -> tuple[StateToken, Page | None]:
        """Return a page and the state of the database it was read in; None: not all rows exist."""
        board, index = view.board, None
        if page_request.id is not None:
            state, index = await self._rows.index(board.rows_snapshot.no, page_request.id)
            if index is None:
                return state, None
        start, limit = page_request.window(index)
        size = board.snapshot.unscored if page_request.unscored else board.snapshot.rows
        count = max(0, min(limit, size - start))
        state, lines = await self._rows.lines(
            board.rows_snapshot.no, start=start, count=count, unscored=page_request.unscored
        )
        return state, None if len(lines) < count else board.page(page_request, lines, index=index)

    async def _with_names(self, view: BoardView, page: Page) -> Page:
        """Return a page with the names of its participants, if the contest shows them."""
        contest = view.contest.contest
        if not contest.shows_names:
            return page
        ids = ids_of(page.lines) if view.has_names else []
        if not ids:
            return replace(page, names={})
        query = names_query(contest.no, ids, at=page.snapshot.seq)
        return replace(page, names=dict(await self._rows.query(*query)))

    async def _selection(self, request: Request, path: BoardPath, query: BoardQuery) -> Response:
        """Return the rows of a search, or rows in the order of a column."""

        def find() -> tuple[View, Page]:
            view = self._views.contest(path.contest, request.scope["agon.caller"])
            return view, select_rows(self._service, view, path.board, query)

        try:
            async with self._slots.slot("reads", request.scope):
                view, page = await self._views.in_thread(find)
        except NotStored as missing:
            return await self._rebuild(request, path, missing)
        return page_response(view, page, known=request.headers.get("if-none-match"))

    async def _download(
        self, request: Request, path: BoardPath, *, as_of: str | None, form: str
    ) -> Response:
        """Stream the complete board of one snapshot."""
        try:
            view, _, first = await self._read(request, path, PageRequest(as_of=as_of, limit=1))
        except NotStored as missing:
            return await self._rebuild(request, path, missing)
        tag = etag(first.snapshot.no, form)
        name = f"{view.contest.id}-{first.snapshot.board}-{first.snapshot.seq}.{form}"
        headers = {
            **board_headers(view, tag),
            "content-disposition": f'attachment; filename="{_file_name(name)}"',
        }
        if is_known(request, tag):
            return Response(status_code=304, headers=headers)
        media_type, write = _DOWNLOADS[form]
        chunks = write(self._service, view, first)
        return StreamInSlots(chunks, slots=self._slots, headers=headers, media_type=media_type)

    async def _rebuild(self, request: Request, path: BoardPath, missing: NotStored) -> Response:
        """Return 202 with the job that rebuilds the rows."""

        def queue() -> Response:
            view = self._views.contest(path.contest, request.scope["agon.caller"])
            return rebuild_response(request, view, missing)

        return await self._views.in_thread(queue)


class BoardPagesMiddleware:
    """Routes requests for pages and rows of boards; passes all others on.

    It comes before the layers of FastAPI that board pages do not need.

    Args:
        app: the application that gets all other requests.
        pages: handles the requests for boards.
    """

    def __init__(self, app: ASGIApp, *, pages: BoardPages) -> None:
        self.app = app
        self.routes = pages.routes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or pass it on."""
        if (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and "/boards/" in scope["path"]
            and "agon.caller" in scope
        ):
            for route in self.routes:
                match, parameters = route.matches(scope)
                if match is Match.FULL:
                    scope["route"] = route
                    scope.update(parameters)
                    await route.handle(scope, receive, send)
                    return
        await self.app(scope, receive, send)


class _Endpoint:
    """An ASGI application made of a handler; Starlette routes to it without wrapping it."""

    def __init__(self, handler: _Handler) -> None:
        self.handler = handler
        self.action = ACTION

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        request = Request(scope, receive)
        try:
            response = await self.handler(request)
        except RequestValidationError as error:
            response = await on_invalid_request(request, error)
        await response(scope, receive, send)


def _route(path: str, handler: _Handler) -> Route:
    route = Route(path, _Endpoint(handler), methods=["GET"], include_in_schema=False)
    route.methods = {"GET"}  # Starlette adds HEAD, which is GET by now
    return route


def _parse(request: Request, path: type[P], query: type[Q]) -> tuple[P, Q]:
    """Return the parameters of a request.

    Raises:
        RequestValidationError: listing every invalid one.
        Unreadable: a parameter of the query does not exist.
    """
    text = request.scope["query_string"]
    parse_query = _parse_query if len(text) > _MAX_CACHED_QUERY else _parse_query_cached
    parameters, query_errors = parse_query(query, text)
    try:
        names = path.model_validate(path_parameters(request.scope))
    except ValidationError as error:
        query_errors = [*_errors("path", error), *query_errors]
    if query_errors:
        raise RequestValidationError(query_errors)
    return names, cast("Q", parameters)


def _parse_query(query: type[Query], text: bytes) -> tuple[Query | None, list[Any]]:
    """Return the parameters of a query string, or the errors in it.

    Raises:
        Unreadable: a parameter does not exist.
    """
    values = dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True)) if text else {}
    require_known(values, frozenset(query.model_fields))
    try:
        return query.model_validate(values), []
    except ValidationError as error:
        return None, _errors("query", error)


_parse_query_cached: Final = lru_cache(maxsize=1024)(_parse_query)


def _errors(kind: str, error: ValidationError) -> list[Any]:
    return [{**item, "loc": (kind, *item["loc"])} for item in error.errors()]


def _accepted_format(request: Request) -> str:
    """Return the format that the Accept header requests; JSON by default."""
    accept = request.headers.get("accept", "")
    for item in accept.split(",") if accept else ():
        media_type = item.partition(";")[0].strip().casefold()
        if media_type == "text/csv":
            return "csv"
        if media_type == PARQUET:
            return "parquet"
        if media_type in {NDJSON, "application/ndjson"}:
            return "ndjson"
        if media_type in {"application/json", "*/*"}:
            return "json"
    return "json"


def _file_name(text: str) -> str:
    return "".join(
        char if char.isascii() and (char.isalnum() or char in "-._") else "_" for char in text
    )
