"""Render pages of boards: JSON from the stored lines, which are not parsed."""

from datetime import datetime
from typing import Final

import orjson
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.boards.fields import board_fields, window_fields
from agon.app.contests.boards.pages import BoardRows, PublishedBoard
from agon.app.contests.clock import contest_clock
from agon.entities.contests import Phase
from agon.web.etags import etag_of, names
from agon.web.responses import PHASE_HEADER

CACHED: Final = "no-cache"
"""Any cache may store a board, and validates it with its ETag before each use."""

PRIVATE: Final = "private, no-cache"
"""The same, in the caller's own cache only."""


def render_head(view: View, board: BoardRows | PublishedBoard) -> bytes:
    """Return the JSON that all pages of a published board begin with."""
    return orjson.dumps(board_fields(view, board))[:-1]


def render_page(head: bytes, page: BoardRows, *, phase: Phase, unscored: bool = False) -> bytes:
    """Return a page as JSON; the rows are the bytes that were hashed and signed."""
    window = orjson.dumps(window_fields(page, phase=phase))[1:-1]
    name = b"unscored" if unscored else b"rows"
    return b"".join((head, b",", window, b',"', name, b'":[', b",".join(page.lines), b"]}\n"))


def page_response(
    view: View,
    page: BoardRows,
    *,
    now: datetime,
    known: str | None,
    head: bytes | None = None,
    unscored: bool = False,
) -> Response:
    """Return the response with a page, or 304 if the client has it.

    Args:
        view: what the caller sees.
        page: the page.
        now: the time, which decides whether the contest has ended.
        known: the request's ``If-None-Match``.
        head: from :func:`render_head`; None: not rendered yet.
        unscored: whether the page lists the participants without a score.
    """
    phase = contest_clock(view.contest, now=now, amendment=page.amendment).phase
    body = render_page(head or render_head(view, page), page, phase=phase, unscored=unscored)
    headers = board_headers(view, etag_of(body), phase=phase)
    if known is not None and names(known, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def board_headers(view: View, tag: str, *, phase: Phase) -> dict[str, str]:
    """Return the headers of a response about a board; a file has no other place for the phase."""
    return {
        "etag": tag,
        "cache-control": cache_control(view),
        "vary": "authorization, accept",
        PHASE_HEADER: phase,
    }


def cache_control(view: View) -> str:
    """Return which caches may store a page: any if the public sees it, else the caller's only."""
    public = view.contest.visibility == "public" and not view.staff
    return CACHED if public else PRIVATE
