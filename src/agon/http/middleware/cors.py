"""Let pages of other origins call the API from a browser (CORS)."""

from collections.abc import Sequence
from typing import Final

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

REQUEST_HEADERS: Final = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "X-Request-ID",
)
"""Headers that a page may send."""

RESPONSE_HEADERS: Final = (
    "Content-Disposition",
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "Location",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "X-Request-ID",
)
"""Headers that a page may read besides those that browsers always show."""

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_MAX_AGE_S: Final = 600


def cors_middleware(origins: Sequence[str]) -> Sequence[Middleware]:
    """Return the middleware that adds the headers of CORS; none without origins.

    It is outside the others, so that a page can read errors as well. Browsers send no credentials
    of their own: a page adds its token to its requests.
    """
    if not origins:
        return ()
    return (
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=_METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=RESPONSE_HEADERS,
            max_age=_MAX_AGE_S,
        ),
    )
