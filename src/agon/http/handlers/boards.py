"""Handle requests for pages and rows of boards: getBoard, getRow and getUnscored."""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar, cast
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from agon.api.authorization import permitted_view
from agon.api.models.base import BoardName, ContestId, Query, RecordId
from agon.api.models.boards import BoardQuery, RowQuery, UnscoredQuery, exclude
from agon.api.operations.boards import select_rows
from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import BoardRows, PageRequest
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.contests.clock import contest_clock
from agon.http.addresses import path_parameters
from agon.http.boards.download import (
    CSV,
    NDJSON,
    PARQUET,
    csv_chunks,
    ndjson_chunks,
    parquet_chunks,
)
from agon.http.boards.read import ACTION, BoardView, ViewKey
from agon.http.boards.render import board_headers, page_response
from agon.http.middleware.auth import caller_of
from agon.http.queries import require_known
from agon.http.rebuilding import rebuild_response
from agon.http.server_context import ServerContext, serving
from agon.http.slots import StreamInSlots
from agon.web.etags import etag, is_known

_MAX_CACHED_QUERY: Final = 256
"""Maximum number of bytes of a query string whose parameters are cached."""

_DOWNLOADS: Final = {
    "csv": (CSV, csv_chunks),
    "ndjson": (NDJSON, ndjson_chunks),
    "parquet": (PARQUET, parquet_chunks),
}

P = TypeVar("P", bound=BaseModel)
Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


class BoardPath(Query):
    """The parameters of a board's path."""

    contest: ContestId
    board: BoardName


class RowPath(BoardPath):
    """The parameters of the path of a participant's row on a board."""

    id: RecordId


async def get_board(request: Request) -> Response:
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
        return await _selection(request, path, query)
    if form != "json":
        return await _download(request, path, as_of=query.as_of, form=form)
    cursor = None if query.cursor is None else Cursor.read(query.cursor)
    page = PageRequest(as_of=query.as_of, cursor=cursor, id=query.around, limit=query.limit)
    return await _page(request, path, page)


async def get_row(request: Request) -> Response:
    """Return a participant's row with its neighbors."""
    path, query = _parse(request, RowPath, RowQuery)
    page = PageRequest(as_of=query.as_of, id=path.id, neighbors=query.neighbors)
    return await _page(request, path, page)


async def get_unscored(request: Request) -> Response:
    """Return a page of the participants without a score."""
    path, query = _parse(request, BoardPath, UnscoredQuery)
    exclude(cursor=query.cursor, as_of=query.as_of)
    cursor = None if query.cursor is None else Cursor.read(query.cursor)
    page = PageRequest(as_of=query.as_of, cursor=cursor, limit=query.limit, unscored=True)
    return await _page(request, path, page)


DIRECT_HANDLERS: Final[Mapping[str, Callable[[Request], Awaitable[Response]]]] = {
    "getBoard": get_board,
    "getRow": get_row,
    "getUnscored": get_unscored,
}
"""Handlers of the most frequent requests by the operation's id.

FastAPI documents and routes them. Its own steps (dependencies, forms, a session for each) would
cost many times as much as a page.
"""


async def _page(request: Request, path: BoardPath, page_request: PageRequest) -> Response:
    try:
        view, page = await _read(request, path, page_request)
    except NotStored as missing:
        return await _rebuild(request, path, missing)
    known = request.headers.get("if-none-match")
    return page_response(
        view.contest,
        page,
        now=serving(request).service.clock(),
        known=known,
        head=view.head,
        unscored=page_request.unscored,
    )


async def _read(
    request: Request, path: BoardPath, page_request: PageRequest
) -> tuple[BoardView, BoardRows]:
    """Return what the caller sees of the board, and the requested page.

    On SQLite it is read on the event loop: readers wait for nothing, and a thread costs more.
    """
    context = serving(request)
    key = ViewKey.of(path.contest, path.board, page_request, caller_of(request))
    if context.settings.database_file is None:
        view, page = await _in_thread(context, lambda: context.boards.read(key, page_request))
    else:
        view, page = context.boards.read(key, page_request)
    if page is None:
        async with context.slots.slot("reads", request.scope):  # it reads all unscored
            name = str(page_request.id)
            raise await _in_thread(context, lambda: context.boards.no_row(view, name))
    return view, page


async def _selection(request: Request, path: BoardPath, query: BoardQuery) -> Response:
    """Return the rows of a search, or rows in the order of a column."""
    context = serving(request)

    def select() -> tuple[View, BoardRows]:
        view = _contest_view(request, path)
        return view, select_rows(context.service, view, path.board, query)

    try:
        async with context.slots.slot("reads", request.scope):
            view, page = await _in_thread(context, select)
    except NotStored as missing:
        return await _rebuild(request, path, missing)
    return page_response(
        view, page, now=context.service.clock(), known=request.headers.get("if-none-match")
    )


async def _download(request: Request, path: BoardPath, *, as_of: str | None, form: str) -> Response:
    """Stream the complete board of one snapshot."""
    context = serving(request)
    try:
        view, first = await _read(request, path, PageRequest(as_of=as_of, limit=1))
    except NotStored as missing:
        return await _rebuild(request, path, missing)
    snapshot, contest = first.snapshot, view.contest
    now = context.service.clock()
    phase = contest_clock(contest.contest, now=now, amendment=first.amendment).phase
    tag = etag(snapshot.no, form)
    name = f"{contest.contest.id}-{snapshot.board}-{snapshot.seq}.{form}"
    headers = {
        **board_headers(contest, tag, phase=phase),
        "content-disposition": f'attachment; filename="{_file_name(name)}"',
    }
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    media_type, write = _DOWNLOADS[form]
    chunks = write(context.service.store, view.board)
    return StreamInSlots(chunks, slots=context.slots, headers=headers, media_type=media_type)


async def _rebuild(request: Request, path: BoardPath, missing: NotStored) -> Response:
    """Return 202 with the job that rebuilds the rows."""
    return await _in_thread(
        serving(request),
        lambda: rebuild_response(request, _contest_view(request, path), missing),
    )


def _contest_view(request: Request, path: BoardPath) -> View:
    """Return what the caller sees of the contest, looked up in a session.

    Raises:
        AgonError: the caller sees no such contest.
    """
    service = serving(request).service
    with service.store.read() as session:
        return permitted_view(
            session, ACTION, caller_of(request), path.contest, now=service.clock()
        )


async def _in_thread(context: ServerContext, call: Callable[[], T]) -> T:
    """Return the result of a call made in one of the threads for boards."""
    return await run_sync(call, limiter=context.boards.threads)


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
