"""Stream events over HTTP; a stream that ends early is resumed after the last event."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from agon.api.models.records import Event
from agon.client.connection import Connection
from agon.errors import Unavailable

_TIMEOUT_S: Final = 90.0
"""Time without a byte after which a stream is opened again; servers send comments earlier."""


def follow(connection: Connection, contest: str, *, since: str | None) -> Iterator[Event]:
    """Yield events as they happen, without end; a lost connection is resumed.

    Args:
        connection: the connection to the server.
        contest: the contest's id.
        since: the id of the last event that is known; "0": from the first one; None: from now on.

    Raises:
        Unavailable: the server cannot be reached for longer than the client's patience, or the
            stream ended before the first event.
    """
    last = since
    while True:
        headers = {"accept": "text/event-stream"}
        if last is not None:
            headers["last-event-id"] = last
        path, opened = ("contests", contest, "events"), False
        try:
            with connection.stream(*path, headers=headers, timeout=_TIMEOUT_S) as response:
                opened = True
                for event in _events(response.iter_lines()):
                    last = event.id
                    yield event
        except Unavailable:
            # Opening was repeated already; a stream that ends later is opened once more,
            # unless its position is unknown.
            if not opened or last is None:
                raise


def _events(lines: Iterator[str]) -> Iterator[Event]:
    """Parse server-sent events: fields, and an empty line at the end of each event."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "data" in fields and "id" in fields:
            data: dict[str, Any] = orjson.loads(fields["data"])
            yield Event.model_validate({**data, "id": fields["id"]})
        fields = {}
