"""Create the application of one server process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.telemetry import TelemetryConfig
from starlette.applications import Starlette
from starlette.middleware import Middleware

from agon.api.catalog import all_operations
from agon.app.service import Service
from agon.http.addresses import AddressMiddleware
from agon.http.boards.read import BoardReader
from agon.http.bodies import BodyLimitMiddleware
from agon.http.description import complete
from agon.http.limiting import Limiter
from agon.http.metrics import Metrics
from agon.http.middleware.auth import AuthMiddleware
from agon.http.middleware.cors import cors_middleware
from agon.http.middleware.forwarded import ForwardedMiddleware
from agon.http.middleware.idempotency import IdempotencyMiddleware
from agon.http.middleware.logging import LoggingMiddleware
from agon.http.middleware.public_path import PublicPathMiddleware
from agon.http.operations import operation_routes
from agon.http.path_index import index_routes
from agon.http.problems import EXCEPTION_HANDLERS
from agon.http.server_context import ServerContext
from agon.http.site import SiteMiddleware, site_app
from agon.http.slots import Slots
from agon.http.sse import Streams
from agon.http.work_waits import WorkWaits
from agon.logs import logger
from agon.settings import Settings
from agon.settings.public_url import public_path
from agon.version import __version__

SUMMARY = "Contests among AIs and the people who test them: scored, explained, replayed."

_NO_TELEMETRY: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False}
"""FastAPI would look for a provider of each in every request; agon has its log and its metrics."""


def create_app(service: Service, settings: Settings) -> FastAPI:
    """Return the application of one process.

    Args:
        service: database, clock and keys; the caller closes it.
        settings: limits, proxies, authentication.
    """
    context = _server_context(service, settings)
    app = FastAPI(
        title="agon",
        summary=SUMMARY,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
        telemetry=_NO_TELEMETRY,
    )
    app.state.serving = context
    app.router.routes.extend(operation_routes(all_operations()))
    index_routes(app.router)
    # The data of pages come from the routes of the API, behind the layers of the site.
    api = AsyncExitStackMiddleware(app.router)
    layers = [
        Middleware(LoggingMiddleware, serving=context),
        Middleware(BodyLimitMiddleware, max_bytes=settings.max_body_mib << 20),
    ]
    app.user_middleware = [
        *_outer_layers(settings, site_app(context, api=api, layers=layers)),
        *layers,
        Middleware(AuthMiddleware, serving=context),
        Middleware(IdempotencyMiddleware, serving=context),
    ]
    _complete_openapi(app, public_url=settings.public_url)
    return app


def _server_context(service: Service, settings: Settings) -> ServerContext:
    return ServerContext(
        service=service,
        settings=settings,
        limiter=Limiter(token=settings.rate_limit_token, address=settings.rate_limit_address),
        slots=Slots(password_hashes=settings.password_hashes),
        metrics=Metrics(service),
        streams=Streams(
            service,
            most=settings.sse_streams,
            per_address=settings.sse_streams_per_address,
            keepalive=settings.sse_keepalive_seconds,
        ),
        work_waits=WorkWaits(service),
        boards=BoardReader(service),
        log=logger("agon.http").bind(),
    )


def _outer_layers(settings: Settings, site: Starlette) -> list[Middleware]:
    """Return what all requests pass first, until those for pages go to the site."""
    proxies = settings.trusted_proxies
    forwarded = Middleware(ForwardedMiddleware, trusted=proxies, public_url=settings.public_url)
    path = public_path(settings.public_url)
    return [
        *([forwarded] if proxies else ()),
        *([Middleware(PublicPathMiddleware, path=path)] if path else ()),
        Middleware(AddressMiddleware),
        *cors_middleware(settings.cors_origins),
        Middleware(SiteMiddleware, site=site),
    ]


def _complete_openapi(app: FastAPI, *, public_url: str) -> None:
    """Let the application describe itself in full, once it is asked."""
    if public_url:
        app.servers = [{"url": public_url}]
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = complete(plain())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.serving.stop()
