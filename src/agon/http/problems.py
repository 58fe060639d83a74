"""Return every error in one form: ``application/problem+json`` with a stable code."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from agon.api.invalid_fields import field_fault
from agon.entities.access import Caller
from agon.errors import (
    AgonError,
    Changed,
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    Gone,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from agon.http.addresses import allowed_methods
from agon.http.server_context import serving

MEDIA_TYPE: Final = "application/problem+json"
SHOWN: Final = 1000
"""Maximum number of errors listed in one response; ``total`` counts them all."""

STATUSES: Final[tuple[tuple[type[AgonError], int], ...]] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (Changed, 412),
    (Conflict, 409),
    (Gone, 410),
    (TooMany, 429),
    (Unavailable, 503),
)
"""Status of each kind of error; any other is 422: the request was read and is invalid."""

CODES: Final[Mapping[int, str]] = {
    400: "bad-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    408: "request-timeout",
    409: "conflict",
    410: "gone",
    411: "length-required",
    412: "changed",
    413: "body-too-large",
    415: "unsupported-media-type",
    422: "invalid-request",
    429: "too-many",
    431: "headers-too-large",
    500: "internal-error",
    503: "unavailable",
}
"""Code of each status, for errors of HTTP itself."""

_REMEDIES: Final[Mapping[int, str]] = {
    404: "there is nothing at this address; / lists the contests, and /api/openapi.json the "
    "operations of the API",
    405: "this URL does not allow the method; use one listed in the Allow header",
}


DATABASE_UNAVAILABLE: Final = (
    "the server's database is unavailable; try again later, or inform the operator of the server"
)


@dataclass(frozen=True, kw_only=True)
class FieldError:
    """An error in a request: a JSON pointer to it, and what is wrong."""

    pointer: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        """Return a plain value for JSON."""
        return {"pointer": self.pointer, "detail": self.detail}


def problem(
    status: int,
    detail: str,
    *,
    code: str | None = None,
    request_id: str | None = None,
    errors: Iterable[FieldError] = (),
    total: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error response with the error and its remedy.

    Args:
        status: the HTTP status.
        detail: the fact and the remedy.
        code: by default the code of the status.
        request_id: identifies this occurrence, also in the log.
        errors: the errors in the request; at most :data:`SHOWN` are listed.
        total: number of errors, if it is larger than the number of ``errors``.
        headers: further headers.
    """
    name = code or CODES.get(status, f"status-{status}")
    listed = [error.to_dict() for error in errors]
    body: dict[str, Any] = {
        "type": f"urn:agon:problem:{name}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": name,
        "errors": listed[:SHOWN],
    }
    if request_id is not None:
        body["instance"] = f"urn:agon:request:{request_id}"
    count = len(listed) if total is None else total
    if count > len(body["errors"]):
        body["total"] = count
    return Response(
        orjson.dumps(_printable(body)),
        status,
        {"cache-control": "no-store", **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def problem_of(
    error: AgonError, *, request_id: str | None = None, caller: Caller | None = None
) -> Response:
    """Return the response to an error of agon.

    Only operators get the database's location and error; others learn that it is unavailable.
    """
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 422)
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = 'Bearer realm="agon"'
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers["retry-after"] = str(max(1, int(retry_after + 0.999)))
    elif isinstance(error, Unavailable):
        headers["retry-after"] = "1"
    errors, total = _field_errors(error)
    is_operator = caller is not None and caller.role == "operator"
    hidden = isinstance(error, DatabaseUnavailable) and not is_operator
    return problem(
        status,
        DATABASE_UNAVAILABLE if hidden else str(error),
        code=error.code,
        request_id=request_id,
        errors=errors,
        total=total,
        headers=headers,
    )


async def on_agon_error(request: Request, error: Exception) -> Response:
    """Return the response to an error of agon."""
    assert isinstance(error, AgonError)  # noqa: S101 (it is registered for these)
    return agon_error_response(error, request)


def agon_error_response(error: AgonError, request: Request) -> Response:
    """Return the response to an error; database errors are also written to the log."""
    if isinstance(error, DatabaseUnavailable):
        serving(request).log.error("database-unavailable", why=str(error))
    caller = request.scope.get("agon.caller")
    return problem_of(error, request_id=request_id(request), caller=caller)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Return the response to an HTTP error: unknown paths or methods, bodies that are too large."""
    assert isinstance(error, HTTPException)  # noqa: S101 (it is registered for these)
    detail = _REMEDIES.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == 405:  # noqa: PLR2004 (HTTP)
        # Each route knows its own method only.
        headers["allow"] = allowed_methods(request.scope["path"]) or headers.get("Allow", "")
        headers.pop("Allow", None)
    return problem(error.status_code, detail, request_id=request_id(request), headers=headers)


async def on_invalid_request(request: Request, error: Exception) -> Response:
    """Return the response to an invalid request; every error is listed with its location."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 (it is registered for these)
    errors = [
        FieldError(pointer=pointer(item["loc"]), detail=field_fault(item))
        for item in error.errors()
    ]
    status = 422
    if any(item["type"] == "json_invalid" for item in error.errors()):
        status = 400
    return problem(
        status,
        f"the request has {len(errors)} error{'s' if len(errors) != 1 else ''}; "
        "correct what errors lists, each with its pointer",
        request_id=request_id(request),
        errors=errors,
    )


def pointer(location: Iterable[Any]) -> str:
    """Return a location as a JSON pointer (RFC 6901); outside the body it begins with its kind.

    Example:
        >>> pointer(("body", "overrides", "a/b")), pointer(("query", "limit"))
        ('/overrides/a~1b', '/query/limit')
    """
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in location]
    if parts and parts[0] == "body":
        parts = parts[1:]
    return "".join(f"/{part}" for part in parts)


def request_id(request: Request) -> str | None:
    """Return the id by which logs and responses name a request, if it has one."""
    id_ = request.scope.get("agon.request_id")
    return id_ if isinstance(id_, str) else None


def _field_errors(error: AgonError) -> tuple[list[FieldError], int | None]:
    issues = getattr(error, "issues", ())
    errors = []
    for issue in issues:
        line = getattr(issue, "line", None) or getattr(issue, "row", None)
        column = getattr(issue, "column", None)
        location = [part for part in (line, column) if part is not None]
        errors.append(FieldError(pointer=pointer(location), detail=str(issue)))
    total = getattr(error, "total", None)
    return errors, total if isinstance(total, int) else None


def _printable(value: Any) -> Any:
    """Replace lone surrogates, which an invalid request can contain and JSON cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return value


EXCEPTION_HANDLERS: Final[dict[int | type[Exception], Any]] = {
    AgonError: on_agon_error,
    HTTPException: on_http_error,
    RequestValidationError: on_invalid_request,
}
"""What responds to errors that routes raise, of the API and of the site."""
