"""Give everybody the page that somebody just got, until anything is stored."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agon.http.etags import names

_BOARDS: Final = re.compile(r"/api/v1/contests/[^/]+/(boards(/.+)?|participants(/.+)?|snapshots)?")
_MOST: Final = 1024
_LARGEST: Final = 256 << 10
_ROOM: Final = 64 << 20
"""So many bytes of pages a process keeps, whatever strangers ask for."""

_PASSED_ON: Final = frozenset({b"etag", b"cache-control", b"vary"})


class Recent:
    """Keep answers to people without a token for as long as the database does not change.

    Before each use the database is asked whether anything was stored since (a few microseconds in
    SQLite), so that nobody ever gets what is no longer true.

    Args:
        app: the application.
        changed: tells whether anything was stored since it was asked last; None: keep nothing.
    """

    def __init__(self, app: ASGIApp, *, changed: Callable[[], bool] | None) -> None:
        self.app = app
        self._changed = changed
        self._kept: dict[tuple[bytes, bytes, str], _Answer] = {}
        self._size = 0
        self._state = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass on and keep the answer."""
        if (
            self._changed is None
            or scope["type"] != "http"
            or scope["method"] != "GET"
            or scope.get("agon.who") != "anonymous"
            or _BOARDS.fullmatch(scope["path"]) is None
        ):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        key = (scope["raw_path"], scope["query_string"], headers.get("accept", ""))
        state = self._looked()
        kept = self._kept.get(key)
        if kept is not None:
            scope["agon.route"] = kept.route
            await kept.send(send, known=headers.get("if-none-match"))
            return
        fresh = _Answer()
        await self.app(scope, receive, fresh.listening(send))
        if fresh.is_good() and self._looked() == state:
            fresh.route = str(getattr(scope.get("route"), "path", scope.get("agon.route", "")))
            self._keep(key, fresh)

    def _keep(self, key: tuple[bytes, bytes, str], answer: "_Answer") -> None:
        """Keep an answer; when there is no more room, begin anew."""
        size = len(answer.body) + sum(map(len, key))
        if len(self._kept) >= _MOST or self._size + size > _ROOM:
            self._drop()
        self._kept[key] = answer
        self._size += size

    def _drop(self) -> None:
        self._kept.clear()
        self._size = 0

    def _looked(self) -> int:
        """Return the number of the database's state; what was kept of another is dropped."""
        if self._changed is not None and self._changed():
            self._state += 1
            self._drop()
        return self._state


@dataclass
class _Answer:
    start: Message = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    etag: str = ""
    route: str = ""
    whole: bool = False

    def listening(self, send: Send) -> Send:
        """Return a ``send`` that notes what passes."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                self.start = {**message, "headers": headers}
                self.etag = dict(headers).get(b"etag", b"").decode("latin-1")
            elif message["type"] == "http.response.body" and len(self.body) <= _LARGEST:
                self.body += message.get("body", b"")
                self.whole = not message.get("more_body", False)
            await send(message)

        return noting

    def is_good(self) -> bool:
        """Tell whether the answer can be given again."""
        good = self.start.get("status") == 200 and self.etag  # noqa: PLR2004 (HTTP)
        return bool(good and self.whole and len(self.body) <= _LARGEST)

    async def send(self, send: Send, *, known: str | None) -> None:
        """Give the answer once more, or 304."""
        headers = list(self.start["headers"])
        if known is not None and names(known, self.etag):
            few = [one for one in headers if one[0] in _PASSED_ON]
            await send({"type": "http.response.start", "status": 304, "headers": few})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({**self.start, "headers": headers})
        await send({"type": "http.response.body", "body": bytes(self.body)})
