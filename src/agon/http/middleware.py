"""Wrap every answer: request id, security headers, log, metrics, a time limit, no traceback."""

import asyncio
import re
import time
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.errors import AgonError
from agon.http.problems import answer_to, on_http_error, problem
from agon.http.serving import Serving
from agon.logs import begin_request

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PATIENT: Final = ("/records", "/import", "/export", "/events", "/ledger")
"""Ends of addresses whose answers may take as long as their bodies do."""

SECURITY_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
}
"""What every answer carries."""

_FIXED: Final = tuple(
    (key.encode(), value.encode())
    for key, value in {**SECURITY_HEADERS, "cache-control": "no-store"}.items()
)
"""The same in bytes, and what is said of caches where nothing else is."""


class Observed:
    """Give each request an id, a time limit and a line in the log; let no traceback out."""

    def __init__(self, app: ASGIApp, *, serving: Serving) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("x-request-id", "")
        name = asked if _REQUEST_ID.fullmatch(asked) else self.serving.service.new_id()
        scope["agon.request_id"] = name
        begin_request(name)
        answer = _Answer(self.serving, scope, send, name)
        timer = answer.limited_by(self.serving.settings.request_timeout_seconds)
        try:
            await self.app(scope, answer.watching(receive), answer.send)
        except ClientDisconnect:
            answer.gone = True
        except HTTPException as error:
            await answer.replace(await on_http_error(Request(scope), error))
        except AgonError as error:
            await answer.replace(answer_to(error, Request(scope)))
        except Exception as error:
            self.serving.log.exception("failed", path=scope["path"], kind=type(error).__name__)
            detail = "this is a fault of ours and is in the log; report it with the instance's id"
            await answer.replace(problem(500, detail, request_id=name))
        finally:
            timer.cancel()
            answer.close()


class _Answer:
    """Follow one answer from its start to its end."""

    def __init__(self, serving: Serving, scope: Scope, send: Send, name: str) -> None:
        self.serving = serving
        self.scope = scope
        self.name = name
        self.began = time.perf_counter()
        self.status = 0
        self.muted = False
        self.gone = False
        self._send = send
        self._timer: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Pass a message on, with the headers that every answer has."""
        if self.muted:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            limits = self.scope.get("agon.headers", {}).items()
            own = [*_FIXED, *((key.encode(), value.encode()) for key, value in limits)]
            headers = [one for one in message.get("headers", ()) if one[0] != b"x-request-id"]
            there = {key for key, _ in headers}
            headers.append((b"x-request-id", self.name.encode()))
            headers += [one for one in own if one[0] not in there]
            message["headers"] = headers
        await self._send(message)

    async def replace(self, response: ASGIApp) -> None:
        """Answer otherwise, unless the answer has begun; then the connection is cut."""
        if self.status:
            raise ConnectionAbortedError("the answer was cut: it had begun when it failed")
        await response(self.scope, _nothing, self.send)

    def limited_by(self, seconds: float) -> asyncio.TimerHandle:
        """Start the clock: when it runs out before the answer begins, 503 is the answer."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self._run_out)
        return self._timer

    def watching(self, receive: Receive) -> Receive:
        """Return ``receive``; the clock stands still for addresses that take long bodies."""
        if self._timer is not None and self.scope["path"].endswith(_PATIENT):
            self._timer.cancel()
        return receive

    def close(self) -> None:
        """Write the line in the log and count."""
        seconds = time.perf_counter() - self.began
        route = (
            getattr(self.scope.get("route"), "path", None)
            or self.scope.get("agon.route")
            or "unknown"
        )
        status = 499 if self.gone and not self.status else self.status
        self.serving.metrics.answered(self.scope["method"], route, status, seconds)
        self.serving.log.info(
            "answered",
            method=self.scope["method"],
            path=self.scope["path"],
            status=status,
            ms=round(seconds * 1000, 2),
            by=getattr(self.scope.get("agon.caller"), "name", "anonymous"),
        )

    def _run_out(self) -> None:
        if not self.status:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        """Send 503; what still runs goes on in silence, for it may not be stopped half-way."""
        detail = (
            "this took longer than the server waits; it may still be carried out: "
            "repeat it with the same Idempotency-Key"
        )
        response = problem(
            503, detail, code="timeout", request_id=self.name, headers={"retry-after": "5"}
        )
        began: list[Message] = []

        async def keep(message: Message) -> None:
            began.append(message)

        await response(self.scope, _nothing, keep)
        if self.status:
            return
        for message in began:
            await self.send(message)
        self.muted = True


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
