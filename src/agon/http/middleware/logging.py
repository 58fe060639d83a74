"""Wrap every response: request id, security headers, log, metrics, a time limit, no traceback."""

import asyncio
import re
import time
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.errors import AgonError
from agon.http.problems import agon_error_response, on_http_error, problem
from agon.http.server_context import ServerContext
from agon.logs import begin_request

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNLIMITED_PATHS: Final = ("/records", "/import", "/export", "/events", "/ledger")
"""Ends of paths whose responses may take as long as their bodies do."""

SECURITY_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every response."""

_FIXED: Final = tuple(
    (key.encode(), value.encode())
    for key, value in {**SECURITY_HEADERS, "cache-control": "no-store"}.items()
)
"""The same in bytes, and the default for caches."""


class LoggingMiddleware:
    """Gives each request an id, a time limit and a line in the log; no traceback leaves it."""

    def __init__(self, app: ASGIApp, *, serving: ServerContext) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; errors become responses."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client_id = Headers(scope=scope).get("x-request-id", "")
        name = client_id if _REQUEST_ID.fullmatch(client_id) else self.serving.service.new_id()
        scope["agon.request_id"] = name
        begin_request(name)
        response = _Response(self.serving, scope, send, name)
        timer = response.limited_by(self.serving.settings.request_timeout_seconds)
        try:
            await self.app(scope, response.receiver(receive), response.send)
        except ClientDisconnect:
            response.disconnected = True
        except HTTPException as error:
            await response.replace(await on_http_error(Request(scope), error))
        except AgonError as error:
            await response.replace(agon_error_response(error, Request(scope)))
        except Exception as error:
            self.serving.log.exception("failed", path=scope["path"], kind=type(error).__name__)
            detail = "this is an internal error and is in the log; report it with the instance's id"
            await response.replace(problem(500, detail, request_id=name))
        finally:
            timer.cancel()
            response.close()


class _Response:
    """The response to one request, from its start to its end."""

    def __init__(self, serving: ServerContext, scope: Scope, send: Send, name: str) -> None:
        self.serving = serving
        self.scope = scope
        self.name = name
        self.began = time.perf_counter()
        self.status = 0
        self.muted = False
        self.disconnected = False
        self._send = send
        self._timer: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Pass a message on, with the headers of every response."""
        if self.muted:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            limits = self.scope.get("agon.headers", {}).items()
            own = [*_FIXED, *((key.encode(), value.encode()) for key, value in limits)]
            headers = [item for item in message.get("headers", ()) if item[0] != b"x-request-id"]
            present = {key for key, _ in headers}
            headers.append((b"x-request-id", self.name.encode()))
            headers += [item for item in own if item[0] not in present]
            message["headers"] = headers
        await self._send(message)

    async def replace(self, app: ASGIApp) -> None:
        """Send another response, unless the first one began; then the connection is closed."""
        if self.status:
            raise ConnectionAbortedError("the response failed after it had begun")
        await app(self.scope, _disconnected, self.send)

    def limited_by(self, seconds: float) -> asyncio.TimerHandle:
        """Start the time limit; a response that has not begun by then becomes 503."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)
        return self._timer

    def receiver(self, receive: Receive) -> Receive:
        """Return ``receive``; paths that take long bodies have no time limit."""
        if self._timer is not None and self.scope["path"].endswith(_UNLIMITED_PATHS):
            self._timer.cancel()
        return receive

    def close(self) -> None:
        """Write the log line and count the request."""
        seconds = time.perf_counter() - self.began
        route = getattr(self.scope.get("route"), "path", None) or "unknown"
        method = self.scope.get("agon.method", self.scope["method"])
        status = 499 if self.disconnected and not self.status else self.status
        self.serving.metrics.count_response(method, route, status, seconds)
        self.serving.log.info(
            "answered",
            method=method,
            path=self.scope["path"],
            status=status,
            ms=round(seconds * 1000, 2),
            by=getattr(self.scope.get("agon.caller"), "name", "anonymous"),
        )

    def _expire(self) -> None:
        if not self.status:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        """Send 503; the request goes on unseen, as it may not be stopped half-way."""
        detail = (
            "this took longer than the server waits; it may still be carried out: "
            "repeat it with the same Idempotency-Key"
        )
        response = problem(
            503, detail, code="timeout", request_id=self.name, headers={"retry-after": "5"}
        )
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await response(self.scope, _disconnected, collect)
        if self.status:
            return
        for message in messages:
            await self.send(message)
        self.muted = True


async def _disconnected() -> Message:
    return {"type": "http.disconnect"}
