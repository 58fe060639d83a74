"""Read the segments of a path: a slash that is part of an id is no border between segments.

Servers decode a whole path before it is routed, and ``a%2Fb`` becomes two segments. Here the path
is taken as it was sent and decoded segment by segment; within a segment ``/`` and ``%`` stay
encoded until the segment is a parameter.
"""

import string
from collections.abc import Sequence
from functools import lru_cache
from re import Pattern
from typing import Any, Final
from urllib.parse import quote, unquote

from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.api.catalog import all_operations
from agon.http.path_index import PathIndex

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


def allowed_methods(path: str) -> str:
    """Return the methods of a routed path as the ``Allow`` header lists them; empty for none.

    Example:
        >>> allowed_methods("/api/v1/contests/spring/records")
        'GET, HEAD, POST'
    """
    candidates = _patterns().candidates(path)
    methods = next((allowed for pattern, allowed in candidates if pattern.match(path)), ())
    return ", ".join(sorted(methods))


@lru_cache
def _patterns() -> PathIndex[tuple[Pattern[str], Sequence[str]]]:
    """Return the methods of each path of an operation; paths without placeholders come first."""
    methods_of: dict[str, list[str]] = {}
    for operation in sorted(all_operations(), key=lambda item: len(item.placeholders)):
        methods = methods_of.setdefault(operation.url, [])
        methods += ["GET", "HEAD"] if operation.method == "GET" else [operation.method]
    return PathIndex((url, (compile_path(url)[0], methods)) for url, methods in methods_of.items())
