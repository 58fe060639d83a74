"""The dependencies of the routes of one server process."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from agon.app.service import Service
from agon.settings import Settings

if TYPE_CHECKING:
    from agon.http.boards.read import BoardReader
    from agon.http.limiting import Limiter
    from agon.http.metrics import Metrics
    from agon.http.slots import Slots
    from agon.http.sse import Streams
    from agon.http.work_waits import WorkWaits


@dataclass(frozen=True)
class ServerContext:
    """The dependencies of one server process.

    Attributes:
        service: the service.
        settings: the settings.
        limiter: counts requests.
        slots: limits how many expensive requests are worked on.
        metrics: counts responses.
        streams: the open event streams.
        work_waits: the requests that wait for work.
        boards: reads pages of boards.
        log: the access log.
    """

    service: Service
    settings: Settings
    limiter: "Limiter"
    slots: "Slots"
    metrics: "Metrics"
    streams: "Streams"
    work_waits: "WorkWaits"
    boards: "BoardReader"
    log: Any

    def stop(self) -> None:
        """End what would last for long: event streams, and requests that wait for work."""
        self.streams.close()
        self.work_waits.close()


def serving(connection: HTTPConnection) -> ServerContext:
    """Return the dependencies of the process that handles a request."""
    state = connection.app.state.serving
    assert isinstance(state, ServerContext)  # noqa: S101 (create_app put it there)
    return state
