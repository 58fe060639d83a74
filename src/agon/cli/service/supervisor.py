"""Run processes: start them, restart them when they die, stop them cleanly.

``agon serve`` is servers and workers on one socket and under one signal, also where systemd does
not run. Uvicorn's supervisor runs copies of a server only, and restarts one that cannot start for
ever (``docs/decisions/0013-libraries-for-what-is-not-ours.md``).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from agon.cli.shared import interrupts
from agon.errors import Unavailable

_POLL_S: Final = 0.2
_EARLY_S: Final = 5.0
_MAX_EARLY_EXITS: Final = 5
_MAX_PAUSE_S: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1


@dataclass
class ManagedProcess:
    """A process that is restarted when it ends.

    Attributes:
        name: for messages.
        command: what runs.
        needed: whether the service cannot run without it; one that is not may stay stopped.
        sockets: file descriptors it inherits.
    """

    name: str
    command: Sequence[str]
    needed: bool
    sockets: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    early_exits: int = 0
    again_at: float = 0.0
    given_up: bool = field(default=False)


class Supervisor:
    """Runs processes until a signal (SIGTERM, SIGINT) to stop.

    Args:
        processes: what runs.
        environment: of the processes.
        grace: seconds that they have to end after a signal.
        report: prints a message.
    """

    def __init__(
        self,
        processes: Sequence[ManagedProcess],
        *,
        environment: Mapping[str, str],
        grace: float,
        report: Callable[[str], None],
    ) -> None:
        self._processes = processes
        self._environment = dict(environment)
        self._grace = grace
        self._report = report
        self._stopping = False

    def run(self) -> None:
        """Run everything until a signal to stop, then stop everything.

        Raises:
            Unavailable: a needed process ends each time it is started.
        """
        before = {
            number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            while not self._stopping:
                for managed in self._processes:
                    self._restart_if_ended(managed)
                time.sleep(_POLL_S)
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        interrupts.note(number)
        self._stopping = True

    def _restart_if_ended(self, managed: ManagedProcess) -> None:
        """Start a process that does not run; after each early exit it waits longer."""
        now = time.monotonic()
        if managed.process is not None and managed.process.poll() is not None:
            early = now - managed.began < _EARLY_S
            managed.early_exits = managed.early_exits + 1 if early else 0
            pause = min(_POLL_S * 2**managed.early_exits, _MAX_PAUSE_S)
            self._report(
                f"{managed.name} ended ({_how(managed.process.returncode)}); restarting it"
            )
            managed.process, managed.again_at = None, now + pause
            if managed.early_exits >= _MAX_EARLY_EXITS:
                self._give_up(managed)
        if managed.process is None and not managed.given_up and now >= managed.again_at:
            managed.process, managed.began = self._start(managed), now

    def _give_up(self, managed: ManagedProcess) -> None:
        message = f"{managed.name} ends each time it is started; see the messages above"
        if managed.needed:
            raise Unavailable(message)
        self._report(f"{message}; continuing without it")
        managed.given_up = True

    def _start(self, managed: ManagedProcess) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def die_with_parent() -> None:
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(0)

        return subprocess.Popen(  # noqa: S603 (our own command)
            managed.command,
            stdin=subprocess.DEVNULL,
            env=self._environment,
            pass_fds=tuple(managed.sockets),
            start_new_session=True,  # Ctrl-C reaches this process only, which stops them cleanly
            preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 (this process has managed thread)
        )

    def _end(self) -> None:
        """Send SIGTERM to all, wait, and kill those that do not end."""
        alive = [managed for managed in self._processes if managed.process is not None]
        for managed in alive:
            _signal(managed, signal.SIGTERM)
        end = time.monotonic() + self._grace
        for managed in alive:
            process = managed.process
            if process is None:
                continue
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._report(f"{managed.name} did not end within {self._grace:g} seconds; killed")
                _signal(managed, signal.SIGKILL)
                process.wait()


def _signal(managed: ManagedProcess, number: int) -> None:
    if managed.process is not None and managed.process.poll() is None:
        managed.process.send_signal(number)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
