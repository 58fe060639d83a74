"""Health of the process, and its metrics."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.service import Health, Readiness
from agon.api.operation import Context
from agon.api.operations import service
from agon.errors import AgonError
from agon.http.metrics import MEDIA_TYPE
from agon.http.problems import DATABASE_UNAVAILABLE, problem
from agon.http.server_context import serving


async def get_health(_request: Request, _response: Response, ctx: Context) -> Health:
    """Respond without any other component."""
    return service.get_health.function(ctx)


async def get_readiness(
    request: Request, _response: Response, ctx: Context
) -> Readiness | Response:
    """Return 200 when the database can be used, else 503."""
    try:
        return await run_in_threadpool(service.get_readiness.function, ctx)
    except AgonError as error:
        serving(request).log.error("not-ready", why=str(error))
        return problem(503, DATABASE_UNAVAILABLE, code="not-ready", headers={"retry-after": "5"})


def get_metrics(request: Request, _response: Response, _ctx: Context) -> Response:
    """Return metrics in the text format of Prometheus."""
    return Response(serving(request).metrics.text(), media_type=MEDIA_TYPE)
