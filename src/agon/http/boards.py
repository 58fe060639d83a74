"""Render pages of boards: bytes from the stored lines, without reading them again."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import Page
from agon.entities.contests import Snapshot
from agon.http.etags import etag_of, names
from agon.kernel.times import written_time

CACHED: Final = "no-cache"
"""Boards may be kept, and are asked for again with their ETag before they are shown."""

PRIVATE: Final = "private, no-cache"
"""The same, by the caller alone."""


def proved(snapshot: Snapshot) -> dict[str, Any]:
    """Tell what made a board: edition, position and hashes."""
    manifest = snapshot.manifest
    return {
        "board": snapshot.board,
        "edition": manifest.get("edition"),
        "overrides": manifest.get("overrides"),
        "rules_sha256": manifest.get("rules_sha256"),
        "seq": snapshot.seq,
        "head_sha256": manifest.get("head_sha256"),
        "at": written_time(snapshot.at),
        "published_at": written_time(snapshot.published_at),
        "snapshot": snapshot.no,
        "board_sha256": snapshot.board_sha256,
        "merkle_root": manifest.get("merkle_root"),
        "rows_total": snapshot.rows,
        "unscored_total": snapshot.unscored,
    }


def rendered(view: View, page: Page, *, unscored: bool = False) -> bytes:
    """Write a page as JSON; the rows are the very bytes that were hashed and signed."""
    head = {
        "contest": view.contest.id,
        "discipline": view.contest.discipline,
        "title": view.contest.title,
        "state": view.contest.state,
        **proved(page.snapshot),
        "amended_by": None if page.amended_by is None else _amendment(page.amended_by),
        "start": page.start,
        "place": page.place,
        "next": page.next,
        "previous": page.previous,
    }
    name = b"unscored" if unscored else b"rows"
    return b"".join((orjson.dumps(head)[:-1], b',"', name, b'":[', b",".join(page.lines), b"]}\n"))


def answered(view: View, page: Page, *, known: str | None, unscored: bool = False) -> Response:
    """Answer with a page, or 304 where the client has it (``known``: its ``If-None-Match``)."""
    body = rendered(view, page, unscored=unscored)
    headers = {
        "etag": etag_of(body),
        "cache-control": cache_control(view),
        "vary": "authorization, accept",
    }
    if known is not None and names(known, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def cache_control(view: View) -> str:
    """Say who may keep a page: everybody what the public sees, else the caller alone."""
    public = view.contest.visibility == "public" and not view.staff
    return CACHED if public else PRIVATE


def _amendment(snapshot: Snapshot) -> Mapping[str, Any]:
    return {
        "snapshot": snapshot.no,
        "seq": snapshot.seq,
        "at": written_time(snapshot.at),
        "board_sha256": snapshot.board_sha256,
    }
