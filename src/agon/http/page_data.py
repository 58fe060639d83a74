"""Answer a page's address with the data of the API: the same bytes, as the page's visitor."""

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from agon.http.addresses import normalize_path


class PageDataMiddleware:
    """Lets pages pass a request on to the operations of the API.

    ``scope["agon.data"]`` is :meth:`respond`. Such a request is authenticated and counted once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope["agon.data"] = self.respond
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
