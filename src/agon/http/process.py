"""Run one process that answers HTTP, on a socket its parent listens on.

``python -m agon.http.process FD`` reads the settings as ``agon serve`` does; it is started and
watched by that command.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

import h11
import uvicorn

from agon.app.service import Service
from agon.errors import AgonError
from agon.http.app import create_app
from agon.http.draining import Draining
from agon.logs import start_logging
from agon.settings import Settings, load
from agon.wiring import open_service

HEAD_SECONDS: Final = 10.0
"""A client has so long to send the head of a request."""

GRACE_SECONDS: Final = 25
"""Requests under way have so long to end when the process is asked to stop."""

_BACKLOG: Final = 2048
_TAKEN_AT_ONCE: Final = 8
"""So many new connections a process takes in one turn; else it would take those of the others."""


class Punctual(Draining):
    """Close connections whose request's head does not come to its end in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait as long as the head is unfinished."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self._close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """Serve until asked to stop; then end the event streams and let requests come to their end."""

    def __init__(self, config: uvicorn.Config, *, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve; what is loaded by now stays, and is no more searched for garbage."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_BACKLOG)  # asyncio has one number for both, and made this one short
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        self._stopping()
        super().handle_exit(sig, frame)


def server(service: Service, settings: Settings) -> Server:
    """Return the server of a process; ``run(sockets=[…])`` serves."""
    app = create_app(service, settings)
    config = uvicorn.Config(
        app,
        http=Punctual,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # ours believes only trusted proxies, and keeps no address
        backlog=_TAKEN_AT_ONCE,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, stopping=app.state.serving.streams.close)


def main(arguments: list[str]) -> None:
    """Serve on the inherited socket until a signal ends it."""
    settings = load()
    start_logging(form=settings.log_format, level=settings.log_level)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    service = open_service(settings, create=False)
    with suppress(AgonError), service.store.read():  # what is loaded now is not waited for later
        pass
    listening = socket.socket(fileno=int(arguments[0]))
    try:
        server(service, settings).run(sockets=[listening])
    finally:
        service.store.close()


def _quit(*_: Any) -> None:
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _quit)  # until the server takes it over there is nothing to end
    main(sys.argv[1:])
