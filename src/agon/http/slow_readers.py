"""Close connections whose clients do not read their responses."""

import asyncio
import fcntl
import struct
import termios
from contextlib import suppress
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

TIMEOUT_S: Final = 30.0
"""Number of seconds between two checks of what a client has not read."""

MIN_BYTES: Final = 16 << 10
"""Minimum number of bytes a client reads between two checks, unless it reads all there are."""


class SlowReaderTimeout(H11Protocol):
    """Aborts the connection of a client that reads nothing between two checks.

    Without it such a client would hold a connection, its buffers and the rest of its response
    without limit, also after the response's end: closing waits until everything is read.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread_before = 0
    _buffer_drained = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the checks."""
        super().connection_made(transport)
        self._check_later()

    def resume_writing(self) -> None:
        """Record that a full buffer was read."""
        self._buffer_drained = True
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the checks."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _unread(self) -> int:
        """Return the number of bytes that wait for the client, in this process and the kernel.

        The kernel buffers megabytes before a slow connection changes anything in this process.
        """
        buffered, queued = self.transport.get_write_buffer_size(), 0
        connection = self.transport.get_extra_info("socket")
        if buffered and connection is not None:
            with suppress(OSError):
                [queued] = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))
        return buffered + queued

    def _check_later(self) -> None:
        self._timer = self.loop.call_later(TIMEOUT_S, self._check)

    def _check(self) -> None:
        unread = self._unread()
        has_read = self._buffer_drained or unread <= max(0, self._unread_before - MIN_BYTES)
        if self._unread_before and unread and not has_read:
            self.transport.abort()
            return
        self._unread_before, self._buffer_drained = unread, False
        self._check_later()
