"""Replay the response of a request that is repeated with the same Idempotency-Key."""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import IO, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.entities.access import StoredResponse
from agon.errors import Conflict, Unavailable, Unreadable
from agon.http.bodies import spooled
from agon.http.problems import problem
from agon.http.server_context import ServerContext

METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_STORED_HEADERS: Final = ("content-type", "location", "etag")
_MAX_BODY: Final = 1 << 20
_CHUNK: Final = 1 << 18
_LOST_AFTER: Final = timedelta(seconds=15)
"""A request without a heartbeat for so long was lost with its process."""

_HEARTBEAT_S: Final = 4.0
"""Seconds between two heartbeats of a running request."""

_NOT_STORED: Final = frozenset({401, 403, 408, 413, 429})
"""Statuses that a repetition may not get again; they are not stored."""

SECRETS: Final = "agon.secrets"
"""Key of the scope under which an operation whose response shows a secret enters its id."""


class IdempotencyKeyReused(Conflict):
    """An Idempotency-Key was used for another request."""


class UnderWay(Conflict):
    """The first request under an Idempotency-Key has no response yet."""

    retry_after = 1.0


class IdempotencyMiddleware:
    """Stores responses under an Idempotency-Key and replays them; each token has its own keys.

    A request that changes something and carries the header is carried out once. Its repetition
    gets the same response with ``Idempotency-Replayed: true``; another request under the same key,
    or the same one while the first is running, is a conflict. Responses are stored in the database,
    so that any process can replay them. When the process of the first request was killed, a
    repetition takes its place: a running request writes heartbeats to the database, as a worker
    does for its job.
    """

    def __init__(self, app: ASGIApp, *, serving: ServerContext) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or replay its response."""
        # Anonymous requests are rejected, except those that show a secret, which is not stored.
        key = None
        if (
            scope["type"] == "http"
            and scope["method"] in METHODS
            and scope.get("agon.who", "anonymous") != "anonymous"
        ):
            key = Headers(scope=scope).get("idempotency-key")
        if key is None:
            await self.app(scope, receive, send)
            return
        if _KEY.fullmatch(key) is None:
            raise Unreadable("an Idempotency-Key has 1 to 200 visible ASCII characters; shorten it")
        body = await spooled(Request(scope, receive))
        with body:
            first = StoredResponse(
                caller=scope["agon.who"],
                key=key,
                request_sha256=await run_in_threadpool(
                    _fingerprint, scope, body, key=self.serving.service.network_key
                ),
                status=0,
                headers={},
                body=b"",
                at=self.serving.service.clock(),
            )
            stored = await run_in_threadpool(self._begin, first)
            if stored is not None:
                await _replay(stored)(scope, receive, send)
                return
            await self._answer(scope, body, send, first)

    async def _answer(
        self, scope: Scope, body: IO[bytes], send: Send, first: StoredResponse
    ) -> None:
        """Pass the request on and store its response."""
        recorder = _Recorder(send)
        # A list, because inner layers may pass on a copy of the scope.
        secrets: list[str] = scope.setdefault(SECRETS, [])
        heartbeat = asyncio.create_task(self._heartbeat(first))
        try:
            await self.app(scope, _again(body), recorder.send)
        finally:
            heartbeat.cancel()
            await run_in_threadpool(self._try_end, first, recorder, secret=bool(secrets))

    async def _heartbeat(self, first: StoredResponse) -> None:
        """Write heartbeats until canceled; the next one makes up for one that fails."""
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            with suppress(Unavailable):
                await run_in_threadpool(self._sign, first)

    def _sign(self, first: StoredResponse) -> None:
        service = self.serving.service
        with service.store.write() as session:
            session.access.touch_response(first.caller, first.key, at=service.clock())

    def _begin(self, first: StoredResponse) -> StoredResponse | None:
        """Reserve the key; return the response stored under it, if there is one.

        Raises:
            IdempotencyKeyReused: the key belongs to another request.
            UnderWay: the first request is still running.
        """
        with self.serving.service.store.write() as session:
            access = session.access
            if access.add_response(first):
                return None
            stored = access.response(first.caller, first.key)
            if stored is not None and stored.request_sha256 != first.request_sha256:
                raise IdempotencyKeyReused(
                    "this Idempotency-Key was used for another request; take a new key for each"
                )
            if stored is not None and stored.status:
                return stored
            if access.take_over_response(
                first, lost_before=first.at - _LOST_AFTER
            ) or access.add_response(first):
                return None
            raise UnderWay("the first request under this Idempotency-Key is still running; wait")

    def _try_end(self, first: StoredResponse, recorder: "_Recorder", *, secret: bool) -> None:
        """Store the response if that is possible; it has been sent in any case."""
        try:
            self._end(first, recorder, secret=secret)
        except Unavailable as error:
            self.serving.log.warning("answer-not-kept", status=recorder.status, why=str(error))

    def _end(self, first: StoredResponse, recorder: "_Recorder", *, secret: bool) -> None:
        with self.serving.service.store.write() as session:
            if not recorder.complete or recorder.status in _NOT_STORED or recorder.status >= 500:  # noqa: PLR2004 (HTTP)
                session.access.delete_pending_response(first.caller, first.key)
                return
            answer = recorder.answer(first)
            session.access.save_response(_without_secret(answer) if secret else answer)


@dataclass
class _Recorder:
    """Copies a response while it is sent."""

    send_on: Send
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    complete: bool = False

    async def send(self, message: Message) -> None:
        """Pass a message on and copy it; of a response that is too large nothing is stored."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = Headers(raw=message.get("headers", []))
            self.headers = {name: headers[name] for name in _STORED_HEADERS if name in headers}
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False) and len(self.body) <= _MAX_BODY
            del self.body[_MAX_BODY + 1 :]
        await self.send_on(message)

    def answer(self, first: StoredResponse) -> StoredResponse:
        return replace(first, status=self.status, headers=self.headers, body=bytes(self.body))


def _replay(stored: StoredResponse) -> Response:
    headers = {**stored.headers, "idempotency-replayed": "true"}
    return Response(stored.body, stored.status, headers)


def _without_secret(answer: StoredResponse) -> StoredResponse:
    """Return a response that says it was done, without the secret that was shown once."""
    response = problem(
        409,
        "the first request under this Idempotency-Key did this, and its response showed the secret "
        "once; if it is lost, revoke what was created and create another",
        code="secret-shown-once",
    )
    return replace(
        answer,
        status=response.status_code,
        headers={"content-type": response.media_type or ""},
        body=bytes(response.body),
    )


def _fingerprint(scope: Scope, body: IO[bytes], *, key: bytes) -> bytes:
    """Hash what identifies a request: method, path, query, content type, body.

    With the server's key: a body may hold a password, and a stolen database must not allow to
    guess it.
    """
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in (
        scope["method"].encode(),
        scope.get("raw_path") or scope["path"].encode(),
        scope["query_string"],
        Headers(scope=scope).get("content-type", "").encode(),
    ):
        digest.update(len(part).to_bytes(8, "big") + part)
    while piece := body.read(_CHUNK):
        digest.update(piece)
    body.seek(0)
    return digest.digest()


def _again(body: IO[bytes]) -> Receive:
    """Return a ``receive`` that reads a stored body again."""
    ended = False

    async def receive() -> Message:
        nonlocal ended
        if ended:
            return {"type": "http.disconnect"}
        piece: Any = body.read(_CHUNK)
        ended = len(piece) < _CHUNK
        return {"type": "http.request", "body": piece, "more_body": not ended}

    return receive
