"""Convert error responses to the exceptions that were raised on the server."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import orjson

from agon import errors
from agon.errors import (
    AgonError,
    Changed,
    Conflict,
    Forbidden,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unreadable,
)

_MAX_EXCERPT_BYTES: Final = 200
_FIRST_SERVER_ERROR: Final = 500

_BY_STATUS: Final[Mapping[int, type[AgonError]]] = MappingProxyType(
    {
        401: Unauthenticated,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        412: Changed,
        502: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }
)
_BY_CODE: Final[Mapping[str, type[AgonError]]] = MappingProxyType(
    {
        kind.code: kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, AgonError) and kind is not TooMany
    }
)


def error_of(status: int, body: bytes, *, retry_after: float | None = None) -> AgonError:
    """Return the exception of an error response: the same class, message and exit code.

    For an unknown code the status decides, so that an older client understands a newer server.

    Args:
        status: the HTTP status, 400 or more.
        body: ``application/problem+json``, or anything that a proxy sent.
        retry_after: seconds, from the header.

    Example:
        >>> error_of(404, b'{"code":"not-found","detail":"there is no contest x"}')
        NotFound('there is no contest x')
        >>> error_of(502, b"<html>Bad Gateway</html>")
        Unavailable('the server answered 502: <html>Bad Gateway</html>; try again later')
    """
    problem = problem_of(body)
    detail = problem.get("detail")
    if not isinstance(detail, str):
        excerpt = body[:_MAX_EXCERPT_BYTES].decode("utf-8", "replace").strip()
        detail = f"the server answered {status}: {excerpt or 'nothing'}; try again later"
    detail = "\n".join([detail, *_other_errors(problem, detail)])
    if status == 429:  # noqa: PLR2004 (HTTP)
        return TooMany(detail, retry_after=retry_after or 1.0)
    otherwise = Unavailable if status >= _FIRST_SERVER_ERROR else Unreadable
    kind = _BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status, otherwise)
    return kind(detail)


def problem_of(body: bytes) -> Mapping[str, Any]:
    """Return the problem details in a body; an empty mapping if there are none."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _other_errors(problem: Mapping[str, Any], detail: str) -> list[str]:
    """Return the listed errors that ``detail`` does not contain."""
    listed = problem.get("errors")
    return [
        f"{item.get('pointer', '')}: {item.get('detail')}"
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and str(item.get("detail")) not in detail
    ]
