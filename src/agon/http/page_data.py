"""What pages need of the server: the data of the API at their own addresses, and the state."""

from functools import partial
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from agon.http.addresses import normalize_path
from agon.http.slots import Slots
from agon.store.board_rows import BoardRows


class PageDataMiddleware:
    """Lets pages pass a request on to the operations of the API.

    ``scope["agon.data"]`` is :meth:`respond`; such a request is authenticated and counted once.
    ``scope["agon.state"]`` returns the state of the database, ``scope["agon.query"]`` the rows of a
    query, ``scope["agon.slot"]`` the context in which work of a kind is done.
    """

    def __init__(self, app: ASGIApp, *, rows: BoardRows, slots: Slots) -> None:
        self.app = app
        self.rows = rows
        self.slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope["agon.data"] = self.respond
            scope["agon.state"] = self.rows.state
            scope["agon.query"] = self.rows.query
            scope["agon.slot"] = partial(self.slots.slot, scope=scope)
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
