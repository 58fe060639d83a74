"""Cut connections whose clients ask and do not read the answers."""

import asyncio
import fcntl
import struct
import termios
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

STALL_SECONDS = 30.0
"""Between two looks at what a client has left unread."""

LEAST = 16 << 10
"""So many bytes a client reads between two looks, or all there are."""


class Draining(H11Protocol):
    """Look now and then whether what was written is read; a client that reads nothing is cut off.

    Otherwise each would hold a connection, its buffers and the rest of its answer for as long as it
    liked, after the answer's end too: closing waits until everything is read.
    """

    _looking: asyncio.TimerHandle | None = None
    _left = 0
    _flowed = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to look."""
        super().connection_made(transport)
        self._look_later()

    def resume_writing(self) -> None:
        """Note that a full buffer was read."""
        self._flowed = True
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def _unread(self) -> int:
        """Count what waits for the client, here and with the system.

        The system hands on megabytes before a slow line moves anything here.
        """
        here, there = self.transport.get_write_buffer_size(), 0
        line = self.transport.get_extra_info("socket")
        if here and line is not None:
            with suppress(OSError):
                [there] = struct.unpack("i", fcntl.ioctl(line, termios.TIOCOUTQ, bytes(4)))
        return here + there

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(STALL_SECONDS, self._look)

    def _look(self) -> None:
        left = self._unread()
        read = self._flowed or left <= max(0, self._left - LEAST)
        if self._left and left and not read:
            self.transport.abort()
            return
        self._left, self._flowed = left, False
        self._look_later()
