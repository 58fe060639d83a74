"""A zygote, from outside the sandbox: one socket, one process."""

import contextlib
import fcntl
import os
import secrets
import select
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from subprocess import DEVNULL, Popen

from agon.errors import Unavailable
from agon.runners.sandbox import namespaces
from agon.runners.sandbox.inside.wire import HELLO_BYTES, REPORT_BYTES, Report, WireRequest
from agon.runners.sandbox.isolation import Isolation, environment
from agon.runners.sandbox.verdicts import WorkerLost

_START_S = 60.0
"""Seconds that a zygote may take to start; loading sympy from a slow disk takes far less."""
GRACE_S = 5.0
"""Seconds between the zygote's own deadline and that of the supervisor."""
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Zygote:
    """A warm interpreter in the sandbox, which runs each program in a fork, one at a time.

    The thread that creates it must outlive it: the kernel kills a zygote with that thread.
    """

    def __init__(self, isolation: Isolation, *, hash_seed: int, sympy: bool) -> None:
        """Start the process and wait for its greeting.

        Raises:
            Unavailable: it does not start, with the last line it wrote.
        """
        self._closing = threading.Lock()
        self._closed = False
        # SEQPACKET keeps the borders of messages, so that a report is one recv().
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as cleanup, theirs, memory_file("complaints") as complaints:
            cleanup.callback(self._control.close)
            try:
                self._process = Popen(  # noqa: S603  # the command line has fixed parts only
                    isolation.command(descriptor=theirs.fileno(), sympy=sympy),
                    stdin=DEVNULL, stdout=complaints, stderr=complaints, cwd="/",
                    env=environment(hash_seed), pass_fds=(theirs.fileno(),), start_new_session=True,
                )  # fmt: skip
            except OSError as wrong:
                raise Unavailable(f"the {isolation.mode} sandbox does not start: {wrong}") from None
            cleanup.callback(self._process.wait)
            cleanup.callback(self._process.kill)
            theirs.close()
            # Unlike a process id, a handle never means another process later.
            self._handle = os.pidfd_open(self._process.pid)
            # From here on close() cleans up, with its lock and its order of steps.
            cleanup.pop_all()
            self.greeting = self._greeting(isolation, complaints)

    def _greeting(self, isolation: Isolation, complaints: int) -> dict[str, str]:
        try:
            said = self._receive(HELLO_BYTES, within_s=_START_S).decode()
        except WorkerLost:
            self.close()
            words = os.pread(complaints, 1 << 16, 0).decode("utf-8", "replace").strip()
            last = words.splitlines()[-1] if words else "it ended without a word"
            fact = f"the {isolation.mode} sandbox does not start: {last}"
            wanted = namespaces.remedy(words) if isolation.hides_processes else "install agon again"
            raise Unavailable(f"{fact}; {wanted}") from None
        return dict(word.split("=", 1) for word in said.split())

    def run(self, request: WireRequest, source: bytes) -> tuple[Report, bytes]:
        """Run a source; return the kernel's record of the process and the bytes of the answer.

        Raises:
            WorkerLost: the zygote has ended, does not answer or answers another request; close it.
        """
        # A late report of an earlier request must not be taken for the one of this.
        request = request._replace(number=secrets.randbits(64))
        with (
            memory_file("source", source) as program,
            memory_file("answer") as answer,
            memory_file("prints") as prints,
        ):
            try:
                socket.send_fds(self._control, [request.pack()], [program, answer, prints])
                # One byte more than a report, so that a longer record does not look like one.
                record = self._receive(REPORT_BYTES + 1, within_s=request.wall_s + GRACE_S)
                report = Report.unpack(record)
                if report.number != request.number:
                    raise WorkerLost("the zygote answered another request")
            except (OSError, struct.error):
                raise WorkerLost("the zygote was lost") from None
            # pread from 0: the program may have moved the position that it shares with us. One byte
            # more than allowed shows that there is too much.
            return report, os.pread(answer, request.output_bytes + 1, 0)

    def _receive(self, size: int, *, within_s: float) -> bytes:
        """Return one record of the zygote, if it comes in time and the process is running.

        A wrapper that is killed can leave a process that keeps the socket open.

        Raises:
            WorkerLost: none came in time, or the process has ended.
        """
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._handle, select.POLLIN)
        ready = {descriptor for descriptor, _ in waiting.poll(within_s * 1000)}
        if not ready:
            raise WorkerLost(f"the zygote gave no answer within {within_s:g} s")
        try:
            # An ended zygote may have left a record; it is not trusted, since its process is gone.
            record = b"" if self._handle in ready else self._control.recv(size)
        except OSError:  # it was killed with a request unread
            record = b""
        if not record:
            raise WorkerLost("the zygote was lost")
        return record

    def close(self) -> None:
        """Kill it with all its processes; may be called twice and from any thread."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_RDWR)
            # Kill the group before waiting for the process: until then the kernel does not reuse
            # its id, which is the group's. A process that is killed before it has made its group
            # leaves none.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
            self._control.close()
            os.close(self._handle)


@contextlib.contextmanager
def memory_file(name: str, content: bytes | None = None) -> Iterator[int]:
    """Open a file in memory; with content, it is sealed and cannot be changed."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        if content is not None:
            with open(descriptor, "wb", buffering=0, closefd=False) as file:
                file.write(content)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        yield descriptor
    finally:
        os.close(descriptor)
