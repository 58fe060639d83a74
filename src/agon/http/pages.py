"""Shape lists as pages: ``items``, ``next``, ``previous``, and a Link header."""

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

import orjson
from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from agon.errors import Unreadable

LARGEST: Final = 500
"""So many rows or items a page may have."""

Limit = Annotated[
    int, Query(ge=1, le=LARGEST, description="How many items the page has.", examples=[50])
]
"""How many items are wanted; others than 1 to 500 are refused, none is quietly changed."""

Cursor = Annotated[
    str | None,
    Query(
        max_length=500,
        pattern=r"^[A-Za-z0-9_-]*$",
        description="Where the page begins, as an earlier page said.",
    ),
]
"""A place to go on at; what it holds is the server's own affair."""


def cursor_of(value: object) -> str:
    """Make a cursor that begins after a value.

    Example:
        >>> after(cursor_of("spring-2026"), kind=str)
        'spring-2026'
    """
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def after(cursor: str | None, *, kind: type) -> Any:
    """Return the value a cursor begins after; None for no cursor.

    Raises:
        Unreadable: it is none of ours.
    """
    if not cursor:
        return None
    try:
        value = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, kind) or not _is_storable(value):
        raise Unreadable("this cursor is of no page here; begin again without it")
    return value


def _is_storable(value: Any) -> bool:
    """Tell whether a database can look for it: no NUL, no number of more than 63 bits."""
    if isinstance(value, str):
        return 0 < len(value) <= LARGEST and "\x00" not in value
    return isinstance(value, int) and 0 <= value < 1 << 63


def page_of(items: Sequence[Any], *, limit: int, key: Any, shown: Any) -> dict[str, Any]:
    """Shape a page of items that were asked for with one more than ``limit``.

    Args:
        items: at most ``limit + 1`` of them.
        limit: how many are shown.
        key: gives what the next page begins after, of the last item shown.
        shown: gives an item's form.
    """
    kept = items[:limit]
    more = len(items) > limit
    return {
        "items": [shown(item) for item in kept],
        "next": cursor_of(key(kept[-1])) if more else None,
    }


def link(request: Request, **cursors: str | None) -> str | None:
    """Write the Link header: ``<address>; rel="next"``; None when there is nowhere to go.

    The address is the one that was asked, from its path on: which scheme and host a client sees,
    only the client knows, and a token must not follow a link to another.
    """
    address = quote(request.scope["path"])
    given = [
        (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
    ]
    parts = [
        f'<{address}?{urlencode([*given, ("cursor", cursor)])}>; rel="{name}"'
        for name, cursor in cursors.items()
        if cursor is not None
    ]
    return ", ".join(parts) or None


def linked(request: Request, response: Response, page: dict[str, Any]) -> dict[str, Any]:
    """Add the Link header of a page and return the page."""
    found = link(request, next=page["next"])
    if found is not None:
        response.headers["link"] = found
    return page
