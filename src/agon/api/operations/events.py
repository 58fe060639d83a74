"""Events of a contest, as a stream that resumes where it was interrupted."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from agon.api.models.records import Event
from agon.api.operation import HEADER, ContestContext, operation
from agon.api.transport import Noun

EventId = Annotated[str, Field(pattern=r"^(0|[0-9a-f]{32})$")]


@operation("GET", "/contests/{contest}/events", id="streamEvents", permission="contest.read",
           cost="quick",
           summary="Stream events", raw=True, media_types=("text/event-stream",))  # fmt: skip
def stream_events(
    ctx: ContestContext,
    *,
    last_event_id: Annotated[EventId | None, HEADER] = None,
    since: Annotated[
        EventId | None, Field(description="Like Last-Event-ID; 0: from the beginning.")
    ] = None,
) -> None:
    """Stream events as they happen; ``Last-Event-ID`` resumes without a gap."""
    raise NotImplementedError


class Events(Noun):
    """Events of a contest."""

    def follow(self, contest: str, *, since: str | None = None) -> Iterator[Event]:
        """Yield events as they happen; a lost connection is resumed. Over HTTP only.

        Args:
            contest: the contest's id.
            since: the id of the last event that is known; "0": from the first one; None: from now
                on.

        Raises:
            Unavailable: the server cannot be reached for longer than the client's patience, or the
                stream was cut before the first event.
        """
        return self.transport.events(contest, since)
