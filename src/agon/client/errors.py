"""Turn a server's refusal back into the error that was raised there."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import orjson

from agon import errors
from agon.errors import (
    AgonError,
    Conflict,
    Forbidden,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unreadable,
)

_SHOWN: Final = 200
_FAULT_OF_OURS: Final = 500

_BY_STATUS: Final[Mapping[int, type[AgonError]]] = MappingProxyType(
    {
        401: Unauthenticated,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        502: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }
)
_BY_CODE: Final[Mapping[str, type[AgonError]]] = MappingProxyType(
    {
        one.code: one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, AgonError) and one is not TooMany
    }
)


def error_of(status: int, body: bytes, *, retry_after: float | None = None) -> AgonError:
    """Return the error an answer stands for: the same class, message and exit code.

    Codes that are not known here are taken by their status, so that an older client understands
    a newer server.

    Args:
        status: the HTTP status, 400 or more.
        body: the answer, ``application/problem+json`` or whatever a proxy wrote.
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
        said = body[:_SHOWN].decode("utf-8", "replace").strip()
        detail = f"the server answered {status}: {said or 'nothing'}; try again later"
    detail = "\n".join([detail, *_faults(problem, detail)])
    if status == 429:  # noqa: PLR2004 (HTTP)
        return TooMany(detail, retry_after=retry_after or 1.0)
    otherwise = Unavailable if status >= _FAULT_OF_OURS else Unreadable
    kind = _BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status, otherwise)
    return kind(detail)


def problem_of(body: bytes) -> Mapping[str, Any]:
    """Read a problem; an empty one where there is none."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _faults(problem: Mapping[str, Any], detail: str) -> list[str]:
    """Return the errors that the message does not contain already."""
    listed = problem.get("errors")
    return [
        f"{one.get('pointer', '')}: {one.get('detail')}"
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and str(one.get("detail")) not in detail
    ]
