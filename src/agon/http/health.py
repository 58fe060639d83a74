"""Tell whether this process lives, and whether it can do its work."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon import __version__
from agon.errors import AgonError
from agon.http.auth import needs
from agon.http.metrics import MEDIA_TYPE
from agon.http.models.house import Alive, Ready
from agon.http.problems import OUT_OF_ORDER, problem
from agon.http.routes.common import refusals, text_of
from agon.http.serving import serving

router = APIRouter(tags=["house"], responses=refusals())


@router.get("/healthz", operation_id="getHealth", summary="Whether the process lives")
async def alive() -> Alive:
    """Answer as long as the process can answer at all; it looks at nothing else."""
    return Alive(status="alive", version=__version__)


@router.get("/readyz", operation_id="getReadiness", summary="Whether it can do its work",
            response_model=Ready)  # fmt: skip
async def ready(request: Request) -> Ready | Response:
    """Answer 200 when the database can be reached and is of this version, else 503."""
    try:
        await run_in_threadpool(_look, request)
    except AgonError as error:
        serving(request).log.error("not-ready", why=str(error))
        return problem(503, OUT_OF_ORDER, code="not-ready", headers={"retry-after": "5"})
    return Ready(status="ready", version=__version__)


def _look(request: Request) -> None:
    """Ask the database for anything; how much waits there is nobody's business but metrics'."""
    with serving(request).service.store.read() as session:
        session.queue.paused()


@router.get("/metrics", operation_id="getMetrics", summary="Counters for Prometheus",
            response_class=Response, dependencies=[needs("metrics.read")],
            responses=text_of("text/plain"))  # fmt: skip
def metrics(request: Request) -> Response:
    """Answer in Prometheus's text form."""
    return Response(serving(request).metrics.text(), media_type=MEDIA_TYPE)
