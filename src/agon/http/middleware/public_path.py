"""Serve below a path of a host: every address that leaves the service begins with it.

The service itself knows paths from its own root only. Requests lose the path here, unless a proxy
has removed it, and the responses get it: redirects, cookies, and the links of pages.
"""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ATTRIBUTE: Final = re.compile(rb' ((?:href|src|action|formaction|data-stream)=")/(?!/)')
"""An address in an attribute; quotes in texts and values are escaped, so that none is there."""

_COOKIE_PATH: Final = re.compile(r"; Path=/([^;]*)")
_PAGES: Final = ("text/html", "image/svg+xml")


class PublicPathMiddleware:
    """Removes the public path from requests and adds it to redirects and cookies.

    Args:
        app: the application.
        path: the path of the public URL, not empty, without a slash at its end.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self.app = app
        self._path = path
        self._segments = path.split("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_below_path(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": self._headers(message)}
            await send(message)

        await self.app(self._without_path(scope), receive, send_below_path)

    def _without_path(self, scope: Scope) -> Scope:
        """Return the scope of the same request at the service's own root."""
        sent = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").split("/")
        count = len(self._segments)
        if [unquote(segment) for segment in sent[:count]] != self._segments:
            return scope  # a proxy has removed the path, or the request is not from outside
        raw = "/".join(["", *sent[count:]]) if len(sent) > count else "/"
        # Segments of a path have no slash here: the decoded path has as many before the rest.
        path = "/" + "/".join(scope["path"].split("/")[count:])
        return {**scope, "path": path, "raw_path": raw.encode("latin-1")}

    def _headers(self, message: Message) -> list[tuple[bytes, bytes]]:
        headers = MutableHeaders(raw=list(message["headers"]))
        location = headers.get("location", "")
        if location.startswith("/") and not location.startswith("//"):
            headers["location"] = self._path + location
        return [
            (name, self._cookie(value) if name == b"set-cookie" else value)
            for name, value in headers.raw
        ]

    def _cookie(self, value: bytes) -> bytes:
        def path(match: re.Match[str]) -> str:
            return f"; Path={self._path}" + (f"/{match[1]}" if match[1] else "")

        return _COOKIE_PATH.sub(path, value.decode("latin-1")).encode("latin-1")


class PublicLinksMiddleware:
    """Adds the public path to the addresses in the attributes of pages and pictures.

    Args:
        app: the pages.
        path: the path of the public URL, not empty, without a slash at its end.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self.app = app
        self._replacement = rb" \1" + path.encode() + b"/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        await self.app(scope, receive, _Pages(send, self._prefix_links))

    def _prefix_links(self, body: bytes) -> bytes:
        return _ATTRIBUTE.sub(self._replacement, body)


class _Pages:
    """Sends messages on; the start of a page waits for its body, whose length changes."""

    def __init__(self, send: Send, change: Callable[[bytes], bytes]) -> None:
        self._send = send
        self._change = change
        self._start: Message | None = None
        self._body: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        """Send a message, or the changed page in its place."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            if headers.get("content-type", "").startswith(_PAGES):
                self._start = {**message, "headers": headers.raw}
                return
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body.append(message.get("body", b""))
            if not message.get("more_body", False):
                body = self._change(b"".join(self._body))
                headers = MutableHeaders(raw=self._start["headers"])
                headers["content-length"] = str(len(body))
                await self._send({**self._start, "headers": headers.raw})
                await self._send({"type": "http.response.body", "body": body})
            return
        await self._send(message)
