"""What pages need of the server: the data of the API at their own addresses, and the state."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from agon.http.addresses import normalize_path
from agon.store.board_rows import StateToken

_RunQuery: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]


class PageDataMiddleware:
    """Lets pages pass a request on to the operations of the API.

    ``scope["agon.data"]`` is :meth:`respond`; such a request is authenticated and counted once.
    ``scope["agon.state"]`` returns the state of the database, ``scope["agon.query"]`` the rows of a
    query.
    """

    def __init__(
        self, app: ASGIApp, *, state: Callable[[], Awaitable[StateToken]], query: _RunQuery
    ) -> None:
        self.app = app
        self.state = state
        self.query = query

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope["agon.data"] = self.respond
            scope["agon.state"] = self.state
            scope["agon.query"] = self.query
        await self.app(scope, receive, send)

    async def respond(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as if it were for another address, with JSON unless that names a format.

        Args:
            address: path and query in the API.
            scope: of the request for the page.
            receive: of the request.
            send: of the request.
        """
        target = urlsplit(address)
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept"]
        inner = {
            **scope,
            "path": normalize_path(target.path),
            "raw_path": target.path.encode(),
            "query_string": target.query.encode(),
            "headers": [*headers, (b"accept", b"application/json")],
        }
        for name in ("route", "endpoint", "path_params"):
            inner.pop(name, None)
        await self.app(inner, receive, send)
