"""Receive the logs of a proxy through pipes: it writes no file, and what is stored is bounded."""

import os
import select
from pathlib import Path
from threading import Thread
from typing import Final

MAX_LOG_BYTES: Final = 4 << 20
"""Maximum size of the log of a trial's requests; further ones are counted."""
_MAX_MESSAGES_BYTES: Final = 64 << 10
_READ_BYTES: Final = 64 << 10
REQUESTS: Final = "access.log"
MESSAGES: Final = "cache.log"
"""The names of the pipes: one line for each request, and what the proxy says of itself."""


class ProxyLogs:
    """The pipes of one proxy, which a thread reads until :meth:`close`.

    An agent decides how many requests there are, so a file of the proxy's own could fill the disk.
    """

    def __init__(self, folder: Path, *, target: Path, most: int = MAX_LOG_BYTES) -> None:
        """Create the pipes in an existing folder; the requests are written to ``target``."""
        self._requests = _open_pipe(folder / REQUESTS)
        self._messages = _open_pipe(folder / MESSAGES)
        self._woken, self._waking = os.pipe()
        self._target = target.open("wb", buffering=0)
        self._most = most
        self._written = self._cut = self._cut_lines = 0
        self._printed = b""
        self._thread = Thread(target=self._read, name="proxy logs", daemon=True)
        self._thread.start()

    @property
    def messages(self) -> bytes:
        """What the proxy said of itself: the first 64 KiB."""
        return self._printed

    def close(self) -> None:
        """Read what is there, and write how much was cut; the proxy has ended."""
        os.close(self._waking)
        self._thread.join()
        if self._cut:
            self._target.write(
                f"# cut at {self._most:,} bytes: {self._cut_lines:,} further requests "
                f"({self._cut:,} bytes) are left out\n".encode()
            )
        self._target.close()
        for descriptor in (self._requests, self._messages, self._woken):
            os.close(descriptor)

    def _read(self) -> None:
        """Read both pipes until the other side has closed and nothing is left."""
        rest, is_ending = b"", False
        pipes = [self._requests, self._messages]
        while True:
            ready = select.select([*pipes, self._woken], [], [], 0 if is_ending else None)[0]
            if self._messages in ready:
                content = os.read(self._messages, _READ_BYTES)
                self._printed += content[: _MAX_MESSAGES_BYTES - len(self._printed)]
            if self._requests in ready:
                *lines, rest = (rest + os.read(self._requests, _READ_BYTES)).split(b"\n")
                self._store(lines)
                rest = rest[:_READ_BYTES]
            if self._woken in ready and not is_ending:
                is_ending = True
            elif is_ending and not set(ready) & set(pipes):
                break
        if rest:
            self._store([rest])

    def _store(self, lines: list[bytes]) -> None:
        """Write lines that still fit, whole; count the others."""
        for line in lines:
            size = len(line) + 1
            if self._cut or self._written + size > self._most:
                self._cut += size
                self._cut_lines += 1
            else:
                self._target.write(line + b"\n")
                self._written += size


def _open_pipe(path: Path) -> int:
    """Create a named pipe that any user may write to; return its end for reading.

    It is opened for both: so it has always a writer, and its end is never reported early.
    """
    os.mkfifo(path)
    path.chmod(0o666)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
