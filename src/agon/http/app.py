"""Create the application of one server process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from agon.api.catalog import all_operations
from agon.app.service import Service
from agon.errors import AgonError
from agon.http.addresses import AddressMiddleware
from agon.http.board_pages import BoardPages, BoardPagesMiddleware
from agon.http.board_views import ViewCache
from agon.http.description import complete
from agon.http.limiting import Limiter
from agon.http.metrics import Metrics
from agon.http.middleware.auth import AuthMiddleware
from agon.http.middleware.bodies import BodyLimitMiddleware
from agon.http.middleware.cors import cors_middleware
from agon.http.middleware.error_pages import ErrorPagesMiddleware
from agon.http.middleware.forwarded import ForwardedMiddleware
from agon.http.middleware.head import HeadMiddleware
from agon.http.middleware.idempotency import IdempotencyMiddleware
from agon.http.middleware.logging import LoggingMiddleware
from agon.http.operations import operation_routes
from agon.http.page_data import PageDataMiddleware
from agon.http.problems import on_agon_error, on_http_error, on_invalid_request
from agon.http.server_context import ServerContext
from agon.http.slots import Slots
from agon.http.sse import Streams
from agon.http.work_waits import WorkWaits
from agon.logs import logger
from agon.settings import Settings
from agon.store.board_rows import BoardRows, open_board_rows
from agon.version import __version__
from agon.web.site import site_routes

SUMMARY = "Contests among AIs and the people who test them: scored, explained, replayed."


def create_app(service: Service, settings: Settings) -> FastAPI:
    """Return the application of one process.

    Args:
        service: database, clock and keys; the caller closes it.
        settings: limits, proxies, authentication.
    """
    context = _server_context(service, settings)
    rows = open_board_rows(settings.database)
    app = FastAPI(
        title="agon",
        summary=SUMMARY,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        middleware=_middleware(context, rows),
        exception_handlers={
            AgonError: on_agon_error,
            HTTPException: on_http_error,
            RequestValidationError: on_invalid_request,
        },
    )
    app.state.serving = context
    app.state.board_rows = rows
    app.router.routes.extend(
        site_routes(
            service,
            public_url=settings.public_url,
            development=settings.development,
            in_threads=settings.database_file is None,
        )
    )
    app.router.routes.extend(operation_routes(all_operations()))
    _complete_openapi(app)
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
        log=logger("agon.http").bind(),
    )


def _middleware(context: ServerContext, rows: BoardRows) -> list[Middleware]:
    """Return what a request passes on its way to a route, the outermost first."""
    service, settings = context.service, context.settings
    views = ViewCache(service, in_threads=settings.database_file is None)
    pages = BoardPages(service, rows=rows, views=views, slots=context.slots)
    return [
        Middleware(
            ForwardedMiddleware,
            trusted=settings.trusted_proxies,
            public_url=settings.public_url,
        ),
        Middleware(AddressMiddleware),
        *cors_middleware(settings.cors_origins),
        Middleware(HeadMiddleware),
        Middleware(ErrorPagesMiddleware),
        Middleware(LoggingMiddleware, serving=context),
        Middleware(BodyLimitMiddleware, max_bytes=settings.max_body_mib << 20),
        Middleware(AuthMiddleware, serving=context),
        Middleware(PageDataMiddleware, rows=rows, slots=context.slots),
        Middleware(BoardPagesMiddleware, pages=pages),
        Middleware(IdempotencyMiddleware, serving=context),
    ]


def _complete_openapi(app: FastAPI) -> None:
    """Let the application describe itself in full, once it is asked."""
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
    await app.state.board_rows.close()
