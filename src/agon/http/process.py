"""Run one HTTP server process on a socket that its parent listens on.

It reads the settings as ``agon serve`` does, which starts and supervises it.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Final

import h11
import uvicorn

from agon.app.service import Service
from agon.errors import AgonError
from agon.http.app import create_app
from agon.http.slow_readers import SlowReaderTimeout
from agon.logs import start_logging
from agon.settings import Settings, load
from agon.wiring import open_service

HEAD_TIMEOUT_S: Final = 10.0
"""Maximum number of seconds for the head of a request."""

GRACE_S: Final = 25
"""Maximum number of seconds for running requests to end after a signal to stop."""

_BACKLOG: Final = 2048
_MAX_ACCEPTED_TOGETHER: Final = 8
"""Maximum number of connections accepted in one turn; more would be taken from other processes."""


class HeaderTimeout(SlowReaderTimeout):
    """Closes connections whose request has no complete head in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the timeout of the first head."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Run the timeout while the head is incomplete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """Serves until a signal; then ends streams and waits, and lets running requests finish."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        stopping: Callable[[], None],
        stopped: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._stopped = stopped

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve; exempt what is loaded by now from garbage collection."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_BACKLOG)  # asyncio has one number for both, and set this one low
        gc.freeze()  # no collection before it: modules leave no garbage, and it would take 0.1 s
        gc.enable()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let running requests finish; the signal then ends the process without anything else."""
        await super().shutdown(sockets)
        self._stopped()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the shutdown."""
        self._stopping()
        super().handle_exit(sig, frame)


def server(service: Service, settings: Settings) -> Server:
    """Return the server of a process; ``run(sockets=[…])`` serves."""
    app = create_app(service, settings)
    config = uvicorn.Config(
        app,
        http=HeaderTimeout,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # AuthMiddleware trusts only configured proxies, and stores no address
        backlog=_MAX_ACCEPTED_TOGETHER,
        timeout_graceful_shutdown=GRACE_S,
    )
    return Server(config, stopping=app.state.serving.stop, stopped=service.replicas.close)


def run(arguments: Sequence[str]) -> None:
    """Serve on an inherited socket, whose descriptor is the argument, until a signal ends it."""
    signal.signal(signal.SIGTERM, _quit)  # until the server runs there is nothing to finish
    settings = load()
    start_logging(form=settings.log_format, level=settings.log_level)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    service = open_service(settings, create=False)
    with suppress(AgonError), service.store.read():  # modules loaded now delay no request
        pass
    listener = socket.socket(fileno=int(arguments[0]))
    try:
        server(service, settings).run(sockets=[listener])
    finally:
        service.store.close()


def _quit(*_: Any) -> None:
    os._exit(0)
