"""The site behind the layers of the API: an application of its own for the requests for pages."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.http.addresses import normalize_path
from agon.http.middleware.auth import SiteAuthMiddleware
from agon.http.middleware.error_pages import ErrorPagesMiddleware
from agon.http.middleware.head import HeadMiddleware
from agon.http.middleware.public_path import PublicLinksMiddleware
from agon.http.path_index import index_routes
from agon.http.problems import EXCEPTION_HANDLERS
from agon.http.server_context import ServerContext
from agon.http.slots import Slots
from agon.settings.public_url import public_path
from agon.web.site import site_routes

_API: Final = ("/api", "/healthz", "/readyz", "/metrics")
"""What the paths of the API begin with; the site has all others."""


class SiteMiddleware:
    """Passes requests for pages to the site, and all others on to the API.

    Neither passes layers or is compared with routes of the other. HEAD is a layer of such requests
    only.

    Args:
        app: the API.
        site: the site.
    """

    def __init__(self, app: ASGIApp, *, site: ASGIApp) -> None:
        self.api = app
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.api(scope, receive, send)
            return
        app = self.api if scope["path"].startswith(_API) else self.site
        if scope["method"] == "HEAD":
            app = HeadMiddleware(app)
        await app(scope, receive, send)


class PageDataMiddleware:
    """Lets pages pass a request on to the operations of the API, and occupy slots.

    ``scope["agon.data"]`` is :meth:`respond`; such a request is authenticated and counted once.
    ``scope["agon.slot"]`` is the context in which work of a kind is done.

    Args:
        app: the pages.
        api: the operations, without layers.
        slots: the slots of the process.
    """

    def __init__(self, app: ASGIApp, *, api: ASGIApp, slots: Slots) -> None:
        self.app = app
        self.api = api
        self.slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope["agon.data"] = self.respond
            scope["agon.slot"] = partial(self.slots.slot, scope=scope)
        await self.app(scope, receive, send)

    async def respond(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as if it were for another address, with JSON unless that names a format.

        Args:
            address: path and query in the API.
            scope: of the request for the page.
            receive: of the request.
            send: of the request.
        """
        target = urlsplit(address)
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept"]
        inner = {
            **scope,
            "path": normalize_path(target.path),
            "raw_path": target.path.encode(),
            "query_string": target.query.encode(),
            "headers": [*headers, (b"accept", b"application/json")],
        }
        for name in ("router", "route", "endpoint", "path_params"):
            inner.pop(name, None)
        await self.api(inner, receive, send)


def site_app(context: ServerContext, *, api: ASGIApp, layers: Sequence[Middleware]) -> Starlette:
    """Return the application that renders pages.

    Args:
        context: the dependencies of the process.
        api: the operations, without layers; errors that it raises are those of the page.
        layers: what requests of both pass before their caller is known.
    """
    settings = context.settings
    path = public_path(settings.public_url)
    routes = site_routes(
        context.service,
        public_url=settings.public_url,
        development=settings.development,
        in_threads=settings.database_file is None,
    )
    app = Starlette(
        routes=routes,
        middleware=[
            *([Middleware(PublicLinksMiddleware, path=path)] if path else ()),
            Middleware(ErrorPagesMiddleware),
            *layers,
            Middleware(SiteAuthMiddleware, serving=context),
            Middleware(PageDataMiddleware, api=api, slots=context.slots),
        ],
        exception_handlers=EXCEPTION_HANDLERS,
    )
    app.router.redirect_slashes = False
    index_routes(app.router)
    app.state.serving = context
    return app
