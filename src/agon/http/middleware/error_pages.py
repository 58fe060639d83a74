"""Answer browsers with a page where others get a problem document."""

from typing import Any, Final

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.http.problems import MEDIA_TYPE
from agon.web.responses import HEADERS, error_page

_HTML: Final = "text/html; charset=utf-8"


class ErrorPagesMiddleware:
    """Replaces problem documents for browsers that load a page of the site."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            send = _Pages(send, Headers(scope=scope))
        await self.app(scope, receive, send)


class _Pages:
    """Sends messages on; the start of a problem document waits for its body."""

    def __init__(self, send: Send, headers: Headers) -> None:
        self._send = send
        self._headers = headers
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """Send a message, or the page in its place."""
        if message["type"] == "http.response.start":
            if Headers(raw=message["headers"]).get("content-type") == MEDIA_TYPE:
                self._start = message
                return
        elif self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_page(self._start, orjson.loads(self._body or b"{}"))
            return
        await self._send(message)

    async def _send_page(self, start: Message, document: dict[str, Any]) -> None:
        body = error_page(document, self._headers).encode()
        headers = MutableHeaders(raw=list(start["headers"]))
        headers.update({**HEADERS, "content-type": _HTML, "content-length": str(len(body))})
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})
