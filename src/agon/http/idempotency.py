"""Answer a repeated request as the first one was answered, when it carries an Idempotency-Key."""

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
from agon.http.serving import Serving

METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_KEPT_HEADERS: Final = ("content-type", "location", "etag")
_LARGEST: Final = 1 << 20
_PIECE: Final = 1 << 18
_LOST: Final = timedelta(seconds=15)
"""A request that gave no sign of life for so long was cut off with its process."""

_SIGN_SECONDS: Final = 4.0
"""A request under way says so often that it is."""

_PASSING: Final = frozenset({401, 403, 408, 413, 429})
"""Refusals that a repetition may not meet again; they are not kept."""


class IdempotencyKeyReused(Conflict):
    """Say that an Idempotency-Key was used for another request."""


class UnderWay(Conflict):
    """Say that the first request under this Idempotency-Key is not answered yet."""

    retry_after = 1.0


class Repeated:
    """Replay answers kept under an Idempotency-Key; each token has its own keys, strangers none.

    A request that changes something and carries the header is answered once. Its repetition gets
    the same answer with ``Idempotency-Replayed: true``; another request under the same key, or
    the same one while the first is under way, is a conflict. Answers are kept in the database,
    so that it does not matter which process a repetition meets. When the first one's process was
    killed, the repetition takes its place: what is under way gives signs of life in the database,
    as a worker does for its job.
    """

    def __init__(self, app: ASGIApp, *, serving: Serving) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or replay its answer."""
        # Anonymous requests change nothing: they are rejected, and that need not be stored.
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
            known = await run_in_threadpool(self._begin, first)
            if known is not None:
                await _replay(known)(scope, receive, send)
                return
            await self._answer(scope, body, send, first)

    async def _answer(
        self, scope: Scope, body: IO[bytes], send: Send, first: StoredResponse
    ) -> None:
        """Let the request be answered, and keep the answer."""
        kept = _Kept(send)
        living = asyncio.create_task(self._live(first))
        try:
            await self.app(scope, _again(body), kept.send)
        finally:
            living.cancel()
            await run_in_threadpool(self._try_end, first, kept, secret="agon.secret" in scope)

    async def _live(self, first: StoredResponse) -> None:
        """Give signs of life until cancelled; one that cannot be stored is made up for."""
        while True:
            await asyncio.sleep(_SIGN_SECONDS)
            with suppress(Unavailable):
                await run_in_threadpool(self._sign, first)

    def _sign(self, first: StoredResponse) -> None:
        service = self.serving.service
        with service.store.write() as session:
            session.access.touch_response(first.caller, first.key, at=service.clock())

    def _begin(self, first: StoredResponse) -> StoredResponse | None:
        """Take the key; return the answer given under it, if there is one.

        Raises:
            IdempotencyKeyReused: the key belongs to another request.
            UnderWay: the first request is not answered yet.
        """
        with self.serving.service.store.write() as session:
            access = session.access
            if access.add_response(first):
                return None
            known = access.response(first.caller, first.key)
            if known is not None and known.request_sha256 != first.request_sha256:
                raise IdempotencyKeyReused(
                    "this Idempotency-Key was used for another request; take a new key for each"
                )
            if known is not None and known.status:
                return known
            if access.take_over_response(
                first, lost_before=first.at - _LOST
            ) or access.add_response(first):
                return None
            raise UnderWay("the first request under this Idempotency-Key is under way; wait")

    def _try_end(self, first: StoredResponse, kept: "_Kept", *, secret: bool) -> None:
        """Keep the answer if it can be kept; it has been given, and nothing takes it back."""
        try:
            self._end(first, kept, secret=secret)
        except Unavailable as error:
            self.serving.log.warning("answer-not-kept", status=kept.status, why=str(error))

    def _end(self, first: StoredResponse, kept: "_Kept", *, secret: bool) -> None:
        with self.serving.service.store.write() as session:
            if not kept.whole or kept.status in _PASSING or kept.status >= 500:  # noqa: PLR2004 (HTTP)
                session.access.delete_pending_response(first.caller, first.key)
                return
            answer = kept.answer(first)
            session.access.save_response(_without_secret(answer) if secret else answer)


@dataclass
class _Kept:
    """Keep a copy of an answer while it is sent."""

    send_on: Send
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    whole: bool = False

    async def send(self, message: Message) -> None:
        """Pass a message on and keep it; an answer too large to keep is not kept at all."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            found = Headers(raw=message.get("headers", []))
            self.headers = {name: found[name] for name in _KEPT_HEADERS if name in found}
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            self.whole = not message.get("more_body", False) and len(self.body) <= _LARGEST
            del self.body[_LARGEST + 1 :]
        await self.send_on(message)

    def answer(self, first: StoredResponse) -> StoredResponse:
        return replace(first, status=self.status, headers=self.headers, body=bytes(self.body))


def _replay(known: StoredResponse) -> Response:
    headers = {**known.headers, "idempotency-replayed": "true"}
    return Response(known.body, known.status, headers)


def _without_secret(answer: StoredResponse) -> StoredResponse:
    """Keep that it was done, not the secret that was shown once."""
    said = problem(
        409,
        "this was done by the first request under this Idempotency-Key, and its secret was shown "
        "once, then; if it is lost, revoke what was made and make another",
        code="secret-shown-once",
    )
    return replace(
        answer,
        status=said.status_code,
        headers={"content-type": said.media_type or ""},
        body=bytes(said.body),
    )


def _fingerprint(scope: Scope, body: IO[bytes], *, key: bytes) -> bytes:
    """Hash what makes a request the same: method, address, query, kind of body, body.

    Under the server's key: a body may hold a password, and whoever stole the database must not
    be able to try all of them.
    """
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in (
        scope["method"].encode(),
        scope.get("raw_path") or scope["path"].encode(),
        scope["query_string"],
        Headers(scope=scope).get("content-type", "").encode(),
    ):
        digest.update(len(part).to_bytes(8, "big") + part)
    while piece := body.read(_PIECE):
        digest.update(piece)
    body.seek(0)
    return digest.digest()


def _again(body: IO[bytes]) -> Receive:
    """Hand a body that was read out once more."""
    ended = False

    async def receive() -> Message:
        nonlocal ended
        if ended:
            return {"type": "http.disconnect"}
        piece: Any = body.read(_PIECE)
        ended = len(piece) < _PIECE
        return {"type": "http.request", "body": piece, "more_body": not ended}

    return receive
