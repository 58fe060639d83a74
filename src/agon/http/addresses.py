"""Read the segments of a path: a slash that is part of an id is no border between segments.

Servers decode a whole path before it is routed, and ``a%2Fb`` becomes two segments. Here the path
is taken as it was sent and decoded segment by segment; within a segment ``/`` and ``%`` stay
encoded until the segment is a parameter.
"""

import json
import string
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from os import SEEK_END
from re import Pattern
from typing import IO, Any, Final
from urllib.parse import quote, unquote

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.api.catalog import all_operations
from agon.api.costs import QUICK, SMALL_BODY, Kind
from agon.http.bodies import has_body, require_json, spooled
from agon.http.server_context import serving
from agon.kernel.text.plain_json import InvalidJson, read_json

_TAKEN_BY_HANDLERS: Final = frozenset({"bodies", "streams"})
"""Kinds whose slots are taken later than here: for a body that has arrived, for a part."""

_SLASH: Final = "%2F"
_PERCENT: Final = "%25"


class AddressMiddleware:
    """Replaces the decoded path of a request by one whose segments are those that were sent.

    Clients may send bytes as they are that others encode: path and query are ASCII after this.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope = _encode(scope)
            sent = scope.get("raw_path")
            if sent and b"%" in sent:
                scope = {**scope, "path": normalize_path(sent.decode("ascii"))}
        await self.app(scope, receive, send)


def _encode(scope: Scope) -> Scope:
    """Return a request's scope whose path and query are percent-encoded, as far as not ASCII."""
    parts = {name: scope.get(name) or b"" for name in ("raw_path", "query_string")}
    unusual = {
        name: quote(part, safe=string.printable).encode()
        for name, part in parts.items()
        if not part.isascii()
    }
    return {**scope, **unusual} if unusual else scope


def normalize_path(sent: str) -> str:
    """Return a path as it is routed.

    Example:
        >>> normalize_path("/c/spring/people/a%2Fb%C3%A9")
        '/c/spring/people/a%2Fbé'
    """
    return "/".join(map(_normalize_segment, sent.split("/")))


def _normalize_segment(segment: str) -> str:
    """Return a segment as it is routed: decoded, without slashes."""
    return unquote(segment).replace("%", _PERCENT).replace("/", _SLASH)


def path_parameters(scope: Scope) -> dict[str, Any]:
    """Return the parameters of a routed request's path, decoded."""
    return {name: _decode(value) for name, value in scope.get("path_params", {}).items()}


def _decode(value: str) -> str:
    return value.replace(_SLASH, "/").replace(_PERCENT, "%") if "%" in value else value


class OperationRequest(Request):
    """A request of an operation: its path is decoded, its body has the limits of JSON."""

    def __init__(self, request: Request, body: IO[bytes] | None = None) -> None:
        parameters = path_parameters(request.scope)
        super().__init__({**request.scope, "path_params": parameters}, request.receive)
        self._spooled = body

    async def body(self) -> bytes:
        """Return the body."""
        if self._spooled is None:
            return await super().body()
        self._spooled.seek(0)
        return self._spooled.read()

    async def json(self) -> Any:
        """Return the body's value.

        Raises:
            JSONDecodeError: it is not JSON, or beyond the limits; FastAPI answers with 400.
        """
        try:
            return read_json(await self.body())
        except InvalidJson as error:
            raise json.JSONDecodeError(f"the body {error}", "", 0) from None


class OperationRoute(APIRoute):
    """The route of an operation.

    Args:
        cost: the kind of work whose slots its requests wait for.
        arguments, options: those of :class:`~fastapi.routing.APIRoute`.
    """

    def __init__(self, *arguments: Any, cost: Kind, **options: Any) -> None:
        self._cost: Kind = cost
        super().__init__(*arguments, **options)

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # a coroutine is one
        """Return what answers requests."""
        handle = super().get_route_handler()
        kind = self._cost
        own = () if kind == QUICK or kind in _TAKEN_BY_HANDLERS else (kind,)

        async def answer(request: Request) -> Response:
            if self.body_field is None or not has_body(request.headers):
                async with _in_slots(request, own):
                    return await handle(OperationRequest(request))
            require_json(request.headers)
            with await spooled(request) as body:  # a slow client occupies no slot
                is_small = body.seek(0, SEEK_END) <= SMALL_BODY
                async with _in_slots(request, own if is_small else ("bodies", *own)):
                    return await handle(OperationRequest(request, body))

        return answer


@asynccontextmanager
async def _in_slots(request: Request, kinds: Sequence[Kind]) -> AsyncIterator[None]:
    """Occupy slots of some kinds, one after the other."""
    async with AsyncExitStack() as taken:
        for kind in kinds:
            await taken.enter_async_context(serving(request).slots.slot(kind, request.scope))
        yield


def allowed_methods(path: str) -> str:
    """Return the methods of a routed path as the ``Allow`` header lists them; empty for none.

    Example:
        >>> allowed_methods("/api/v1/contests/spring/records")
        'GET, HEAD, POST'
    """
    methods = next((allowed for pattern, allowed in _patterns() if pattern.match(path)), ())
    return ", ".join(sorted(methods))


@lru_cache
def _patterns() -> Sequence[tuple[Pattern[str], Sequence[str]]]:
    """Return the methods of each path of an operation; paths without placeholders come first."""
    methods_of: dict[str, list[str]] = {}
    for operation in sorted(all_operations(), key=lambda item: len(item.placeholders)):
        methods = methods_of.setdefault(operation.url, [])
        methods += ["GET", "HEAD"] if operation.method == "GET" else [operation.method]
    return [(compile_path(url)[0], methods) for url, methods in methods_of.items()]
