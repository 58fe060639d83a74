"""Answer plain requests for pages and rows of boards without the long way through the routes.

What is asked most is asked in one of two forms, and for these the framework's work (matching,
forms, dependencies, a thread for each step) is many times the work itself. Only answers with
status 200 or 304 leave here; whatever is unusual or wrong goes the long way, which knows the
reasons, and both say the same byte for byte.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.app.access.authorising import allow, viewed
from agon.app.access.values import Caller
from agon.app.contests import boards as cases
from agon.app.contests.ports import Session, Store
from agon.errors import AgonError
from agon.http.boards import answered
from agon.http.serving import Serving

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
_THREADS: Final = 8
"""More would only wait for each other."""


@dataclass(frozen=True)
class _Asked:
    contest: str
    board: str
    id: str | None
    cursor: str | None
    limit: int


@dataclass(frozen=True)
class _Lent:
    """Stand for a store where everything is to be read in the session that is there already."""

    store: Store
    session: Session

    @contextmanager
    def read(self) -> Iterator[Session]:
        yield self.session

    def write(self) -> AbstractContextManager[Session]:
        return self.store.write()

    def close(self) -> None:
        """Leave closing to who opened it."""


class Direct:
    """Answer the two plain forms; pass everything else on.

    Args:
        app: the application.
        serving: the process's parts.
        waits: whether the database may keep one waiting (PostgreSQL); then threads are asked.
            SQLite is asked at once: its readers wait for nobody, and handing over takes longer.
    """

    def __init__(self, app: ASGIApp, *, serving: Serving, waits: bool) -> None:
        self.app = app
        self.serving = serving
        self._threads = CapacityLimiter(_THREADS) if waits else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        asked = _asked(scope)
        if asked is None:
            await self.app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match")
        caller = scope["agon.caller"]
        if self._threads is None:
            response = self._answer(asked, caller, known)
        else:
            response = await run_sync(self._answer, asked, caller, known, limiter=self._threads)
        if response is None:
            await self.app(scope, receive, send)
            return
        scope["agon.route"] = _ROUTES[asked.id is not None]
        await response(scope, receive, send)

    def _answer(self, asked: _Asked, caller: Caller, known: str | None) -> ASGIApp | None:
        """Find the page; None where there is anything to tell but the page."""
        service = self.serving.service
        try:
            with service.store.read() as session:
                view = viewed(session, asked.contest, caller)
                allow(caller, "contest.read", contest=view.contest)
                lent = replace(service, store=_Lent(service.store, session))
                if asked.id is None:
                    page = cases.page(
                        lent, view, asked.board, cursor=asked.cursor, limit=asked.limit
                    )
                else:
                    page = cases.row(lent, view, asked.board, asked.id)
        except AgonError:
            return None
        return answered(view, page, known=known)


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
        cursor, wanted = names.pop("cursor", None), names.pop("limit", "50")
        twice = len(given) != len(dict(given))
        if names or twice or found["id"] is not None or not _LIMIT.fullmatch(wanted):
            return None
        if cursor is not None and not _CURSOR.fullmatch(cursor):
            return None
        limit = int(wanted)
    return _Asked(found["contest"], found["board"], found["id"], cursor, limit)
