"""An HTTP client of an application in the same process, which reads whole responses.

Starlette's own client goes to the event loop's thread and back for each part of a response: eight
times for a short one, which takes longer than most requests.
"""

from typing import Any
from urllib.parse import unquote

import anyio
import httpx2
from fastapi.testclient import TestClient

ENDLESS = "/events"
"""The end of the paths whose responses have none: they are read part by part."""


class InProcessClient(TestClient):
    """A test client whose requests go to the event loop once; errors are responses with 500."""

    def __init__(self, app: Any) -> None:
        """Open a client of an application."""
        super().__init__(app, raise_server_exceptions=False)
        self._transport = _WholeResponses(self, self._transport)


class _WholeResponses(httpx2.BaseTransport):
    def __init__(self, client: TestClient, by_parts: httpx2.BaseTransport) -> None:
        self._client = client
        self._by_parts = by_parts

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        portal = self._client.portal
        if portal is None or request.url.path.endswith(ENDLESS):
            return self._by_parts.handle_request(request)
        exchange = _Exchange(request, self._client.app_state)
        portal.call(exchange.run, self._client.app)
        return exchange.response()

    def close(self) -> None:
        self._by_parts.close()


class _Exchange:
    """A request to an application, and its response."""

    def __init__(self, request: httpx2.Request, state: dict[str, Any]) -> None:
        self._request = request
        self._body = request.read()
        self._scope = _scope(request, state)
        self._is_sent = False
        self._complete: anyio.Event | None = None
        self._start: dict[str, Any] | None = None
        self._parts: list[bytes] = []

    async def run(self, app: Any) -> None:
        """Call the application until it returns."""
        self._complete = anyio.Event()
        try:
            await app(self._scope, self._receive, self._send)
        except Exception:  # noqa: BLE001  # what a server does with an error of any kind
            return

    def response(self) -> httpx2.Response:
        """Return the response."""
        if self._start is None:
            return httpx2.Response(500, request=self._request, stream=httpx2.ByteStream(b""))
        headers = [(key.decode(), value.decode()) for key, value in self._start["headers"]]
        body = b"" if self._request.method == "HEAD" else b"".join(self._parts)
        return httpx2.Response(
            self._start["status"],
            headers=headers,
            request=self._request,
            stream=httpx2.ByteStream(body),
        )

    async def _receive(self) -> dict[str, Any]:
        assert self._complete is not None
        if self._is_sent:
            await self._complete.wait()
            return {"type": "http.disconnect"}
        self._is_sent = True
        return {"type": "http.request", "body": self._body}

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._complete is not None
        if message["type"] == "http.response.start":
            assert self._start is None, "a response started twice"
            self._start = message
            return
        assert message["type"] == "http.response.body", message["type"]
        assert self._start is not None, "a body before the start of its response"
        assert not self._complete.is_set(), "a body after the end of its response"
        self._parts.append(bytes(message.get("body", b"")))
        if not message.get("more_body", False):
            self._complete.set()


def _scope(request: httpx2.Request, state: dict[str, Any]) -> dict[str, Any]:
    url = request.url
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(url.path),
        "raw_path": url.raw_path.split(b"?", 1)[0],
        "root_path": "",
        "scheme": url.scheme,
        "query_string": url.query,
        "headers": [
            (key.lower().encode(), value.encode()) for key, value in request.headers.multi_items()
        ],
        "client": ("testclient", 50000),
        "server": [url.host, port],
        "extensions": {},
        "state": state.copy(),
    }
