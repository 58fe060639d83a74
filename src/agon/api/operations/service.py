"""The service itself: health and metrics."""

from agon.api.models.service import Health, Readiness
from agon.api.operation import Context, operation
from agon.version import __version__


@operation("GET", "/healthz", id="getHealth", permission=None,
           cost="quick", summary="Liveness", raw=True,
           prefix="")  # fmt: skip
def get_health(_ctx: Context) -> Health:
    """Respond as long as the process can respond at all; no other component is checked."""
    return Health(status="alive", version=__version__)


@operation("GET", "/readyz", id="getReadiness", permission=None,
           cost="quick", summary="Readiness", raw=True,
           prefix="")  # fmt: skip
def get_readiness(ctx: Context) -> Readiness:
    """Return 200 when the database can be reached and has the right revision, else 503."""
    with ctx.service.store.read() as session:
        session.queue.is_paused()  # any query will do
    return Readiness(status="ready", version=__version__)


@operation("GET", "/metrics", id="getMetrics", permission="metrics.read", cost="quick",
           summary="Prometheus metrics", raw=True, media_types=("text/plain",),
           prefix="")  # fmt: skip
def get_metrics(_ctx: Context) -> None:
    """Return counters in the text format of Prometheus."""
    raise NotImplementedError
