"""Events over HTTP: a stream that goes on where it was cut."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from agon.client.values import EventTold
from agon.client.wire import Wire
from agon.errors import Unavailable

_SILENCE: Final = 90.0
"""Seconds without a byte after which a stream is opened anew; servers send comments sooner."""


class RemoteEvents:
    """Follow what happens in a contest."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def follow(self, contest: str, *, since: str | None = None) -> Iterator[EventTold]:
        """Yield events as they happen, for ever; a lost connection is taken up where it was.

        Args:
            contest: the contest.
            since: the id of the last event that is known; "0": from the first one; None: from now
                on.

        Raises:
            Unavailable: the server cannot be reached for longer than the client's patience, or the
                stream was cut before the first event.
        """
        last = since
        while True:
            headers = {"accept": "text/event-stream"}
            if last is not None:
                headers["last-event-id"] = last
            path, opened = ("contests", contest, "events"), False
            try:
                with self._wire.stream(*path, headers=headers, timeout=_SILENCE) as answer:
                    opened = True
                    for event in _events(answer.iter_lines()):
                        last = event.id
                        yield event
            except Unavailable:
                # Opening was tried patiently; a stream that is cut in the middle is opened once
                # more, unless nothing tells where it was.
                if not opened or last is None:
                    raise


def _events(lines: Iterator[str]) -> Iterator[EventTold]:
    """Read the form of server-sent events: fields, and an empty line at each event's end."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "data" in fields and "id" in fields:
            told: dict[str, Any] = orjson.loads(fields["data"])
            yield EventTold.model_validate({**told, "id": fields["id"]})
        fields = {}
