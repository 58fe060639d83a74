"""The routes of the site, and how pages become responses."""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agon.app.access.permissions import ANONYMOUS
from agon.app.service import Service
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.errors import (
    AgonError,
    Conflict,
    Forbidden,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from agon.web import addresses
from agon.web.page import Page, View, Visit
from agon.web.pages import board, home, ledger, person, rules
from agon.web.rendering import render, static_files

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy of all pages: nothing inline, nothing from another host."""

HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

_STATUSES: Final[tuple[tuple[type[AgonError], int, str], ...]] = (
    (Unauthenticated, 401, "Sign in"),
    (Forbidden, 403, "Not permitted"),
    (NotFound, 404, "Not found"),
    (Conflict, 409, "Not possible now"),
    (TooMany, 429, "Too many requests"),
    (Unavailable, 503, "Not available"),
)
_INVALID: Final = (422, "Not a valid address")
_IMMUTABLE: Final = "public, max-age=31536000, immutable"

PAGES: Final[tuple[tuple[str, View], ...]] = (
    ("/", home.home),
    ("/c/{contest}", board.default_board),
    ("/c/{contest}/boards/{board}", board.board),
    ("/c/{contest}/people/{id}", person.person),
    ("/c/{contest}/rules", rules.rules),
    ("/c/{contest}/ledger", ledger.ledger),
)
"""Every page: its address and what reads its content."""


def site_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of all pages and static files.

    ``scope["agon.caller"]`` of a request is the visitor.
    """
    pages = [Route(path, _endpoint(service, view)) for path, view in PAGES]
    return [*pages, Route(f"{addresses.STATIC}/{{file}}", _static)]


def _endpoint(service: Service, view: View) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_respond, service, view, request)

    return endpoint


def _respond(service: Service, view: View, request: Request) -> Response:
    caller = request.scope.get("agon.caller", ANONYMOUS)
    visit = Visit(
        api=Api(LocalTransport(service, caller)),
        path={name: unquote(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
    )
    try:
        page = view(visit)
    except AgonError as error:
        page = error_page(error)
    return _response(request, page)


def error_page(error: AgonError) -> Page:
    """Return the page of an error: its status, and the message with its remedy."""
    status, title = next(
        ((status, title) for kind, status, title in _STATUSES if isinstance(error, kind)), _INVALID
    )
    return Page(template="error.html", title=title, values={"message": str(error)}, status=status)


def _response(request: Request, page: Page) -> Response:
    body = render(page).encode()
    tag = f'"{blake2b(body, digest_size=16).hexdigest()}"'
    headers = {
        **HEADERS,
        "etag": tag,
        "cache-control": "private, no-cache",
        "vary": "authorization",
    }
    if page.status == 200 and tag in request.headers.get("if-none-match", ""):  # noqa: PLR2004
        return Response(status_code=304, headers=headers)
    return Response(body, page.status, headers, media_type="text/html; charset=utf-8")


async def _static(request: Request) -> Response:
    """Return a static file by its name with the hash of its content."""
    for name, content, media_type in static_files().values():
        if name == request.path_params["file"]:
            headers = {**HEADERS, "cache-control": _IMMUTABLE}
            return Response(content, headers=headers, media_type=media_type)
    return Response("no such file", status_code=404, headers=HEADERS, media_type="text/plain")
