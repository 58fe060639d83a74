"""Read the body of an operation: require its type, and all of it before work begins."""

import tempfile
from typing import IO, Final, NoReturn

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request

_IN_MEMORY: Final = 1 << 20


async def spooled(request: Request) -> IO[bytes]:
    """Return the whole body, in memory or, when it is large, in a file; the caller closes it.

    Work begins only then, so that a slow client never holds a transaction open.
    """
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (the caller closes it)
    try:
        async for chunk in request.stream():
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def has_body(headers: Headers) -> bool:
    """Return whether a request has a body."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def require_json(headers: Headers) -> None:
    """Raise HTTPException (415) unless the content type is one of JSON."""
    kind = media_type(headers)
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise_unsupported(kind, "application/json")


def raise_unsupported(kind: str, remedy: str) -> NoReturn:
    """Reject the content type of a body; the remedy names those that are supported.

    Raises:
        HTTPException: always (415).
    """
    fact = f"has the content type {kind[:40]!r}" if kind else "has no content type"
    raise_status(415, f"the body {fact}; send the header Content-Type: {remedy}")


def media_type(headers: Headers) -> str:
    """Return the media type of a request's body, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().casefold()


def raise_status(status: int, detail: str) -> NoReturn:
    """Reject a request with an HTTP status and close the connection: more of its body may follow.

    Raises:
        HTTPException: always.
    """
    raise HTTPException(status, detail, headers={"connection": "close"})
