"""Serve an instance on a port, in a thread, for the browser."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agon.http import process
from fakes.instance import Instance

TIMEOUT_S = 60.0


@contextmanager
def serve(instance: Instance, *, port: int = 0) -> Iterator[str]:
    """Serve until the end of the block and give the origin; connections wait for the start.

    At the end streams are ended, as by a signal to a process.
    """
    listening = socket.create_server(("127.0.0.1", port))
    server = process.server(instance.service, instance.app.state.serving.settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.handle_exit(signal.SIGTERM, None)
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()
