"""Answer plain requests for pages and rows of boards without the long way through the routes.

What is asked most is asked in one of two forms, and for these the framework's work (matching,
forms, dependencies, a session for each step) is many times the work itself. Only answers with
status 200 or 304 leave here; whatever is unusual or wrong goes the long way, which knows the
reasons, and both say the same byte for byte.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import Page
from agon.entities.access import Caller
from agon.errors import AgonError
from agon.http.boards import answered
from agon.http.sights import Looked, Sight, Sights
from agon.store.row_reader import Portions, State

_ADDRESS: Final = re.compile(
    r"/api/v1/contests/(?P<contest>[a-z0-9][a-z0-9-]{1,62})"
    r"/boards/(?P<board>[^/\x00]{1,200})(?P<row>/rows/(?P<id>[^/\x00]{1,200}))?"
)
_ROUTES: Final = (
    "/api/v1/contests/{contest}/boards/{board}",
    "/api/v1/contests/{contest}/boards/{board}/rows/{id}",
)
_CURSOR: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_LIMIT: Final = re.compile(r"[1-9][0-9]?|[1-4][0-9]{2}|500")
_JSON: Final = frozenset({"", "*/*", "application/json"})


@dataclass(frozen=True)
class _Asked:
    contest: str
    board: str
    id: str | None
    cursor: Cursor | None
    limit: int

    def by(self, caller: Caller) -> Looked:
        snapshot = None if self.cursor is None else self.cursor.snapshot
        return Looked(self.contest, self.board, snapshot, replace(caller, network=None))


class Direct:
    """Answer the two plain forms; pass everything else on.

    What a caller sees of a board is kept while nothing is stored (:class:`Sights`), and whether
    anything was is told with the rows themselves, so that nobody gets what is no longer true.

    Args:
        app: the application.
        sights: look up what callers see.
        portions: read rows.
    """

    def __init__(self, app: ASGIApp, *, sights: Sights, portions: Portions) -> None:
        self.app = app
        self._sights = sights
        self._portions = portions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        asked = found = None
        with suppress(AgonError):
            asked = _asked(scope)
            found = None if asked is None else await self._found(asked, scope["agon.caller"])
        if asked is None or found is None:
            await self.app(scope, receive, send)
            return
        sight, page = found
        scope["agon.route"] = _ROUTES[asked.id is not None]
        known = Headers(scope=scope).get("if-none-match")
        await answered(sight.view, page, known=known)(scope, receive, send)

    async def _found(self, asked: _Asked, caller: Caller) -> tuple[Sight, Page] | None:
        """Find the page; None where there is anything to tell but the page."""
        looked = asked.by(caller)
        kept = self._sights.kept(looked)
        if kept is None:
            state = await self._portions.state()
        else:
            certain, sight = kept
            state, page = await _read(self._portions, asked, sight)
            if state == certain:
                return None if page is None else (sight, page)
        fresh = await self._sights.at(looked, state)
        if fresh is None:
            return None
        _, page = await _read(self._portions, asked, fresh)
        return None if page is None else (fresh, page)


async def _read(portions: Portions, asked: _Asked, sight: Sight) -> tuple[State, Page | None]:
    """Read the rows of a page, with the state of the database they are of; None: not all there."""
    board = sight.published
    start, limit, place = 0, asked.limit, None
    if asked.id is not None:
        state, place = await portions.place(board.holder.no, asked.id)
        if place is None:
            return state, None
        start, limit = place, 1
    elif asked.cursor is not None:
        start, limit = asked.cursor.start, asked.cursor.limit(limit)
    count = max(0, min(limit, board.snapshot.rows - start))
    state, lines = await portions.lines(board.holder.no, start=start, count=count)
    if len(lines) < count:
        return state, None
    return state, board.page(lines, start=start, limit=limit, place=place)


def _asked(scope: Scope) -> _Asked | None:
    """Read a plain request for a page or a row; None where it is another one."""
    if scope["type"] != "http" or scope["method"] != "GET" or "agon.caller" not in scope:
        return None
    found = _ADDRESS.fullmatch(scope["path"])
    if found is None or Headers(scope=scope).get("accept", "") not in _JSON:
        return None
    cursor, limit = None, 50
    if scope["query_string"]:
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        names = dict(given)
        place, wanted = names.pop("cursor", None), names.pop("limit", "50")
        twice = len(given) != len(dict(given))
        if names or twice or found["id"] is not None or not _LIMIT.fullmatch(wanted):
            return None
        if place is not None and not _CURSOR.fullmatch(place):
            return None
        cursor, limit = None if place is None else Cursor.read(place), int(wanted)
    return _Asked(found["contest"], found["board"], found["id"], cursor, limit)
