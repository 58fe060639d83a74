"""Keep processes running: start them, start them again when they die, end them in good order."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from agon.errors import Unavailable

_TICK: Final = 0.2
_YOUNG: Final = 5.0
_MOST_EARLY_DEATHS: Final = 5
_LONGEST_PAUSE: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1


@dataclass
class Kept:
    """Hold one process that is kept running.

    Attributes:
        name: for messages.
        command: what runs.
        needed: whether the house cannot be without it; what is not needed may stay away.
        sockets: file descriptors it inherits.
    """

    name: str
    command: Sequence[str]
    needed: bool
    sockets: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    early_deaths: int = 0
    again_at: float = 0.0
    given_up: bool = field(default=False)


class Supervisor:
    """Run processes until a signal (SIGTERM, SIGINT) asks to stop.

    Args:
        kept: the processes.
        environment: theirs.
        grace: seconds they have to end when asked.
        tell: tells people what happens.
    """

    def __init__(
        self,
        kept: Sequence[Kept],
        *,
        environment: Mapping[str, str],
        grace: float,
        tell: Callable[[str], None],
    ) -> None:
        self._kept = kept
        self._environment = dict(environment)
        self._grace = grace
        self._tell = tell
        self._stopping = False

    def run(self) -> None:
        """Keep everything running until asked to stop, then end everything.

        Raises:
            Unavailable: something that is needed dies each time it is started.
        """
        before = {
            number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            while not self._stopping:
                for one in self._kept:
                    self._look_after(one)
                time.sleep(_TICK)
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _look_after(self, one: Kept) -> None:
        """Start a process that is not there; one that dies young waits longer each time."""
        now = time.monotonic()
        if one.process is not None and one.process.poll() is not None:
            young = now - one.began < _YOUNG
            one.early_deaths = one.early_deaths + 1 if young else 0
            pause = min(_TICK * 2**one.early_deaths, _LONGEST_PAUSE)
            self._tell(f"{one.name} ended ({_how(one.process.returncode)}); starting it again")
            one.process, one.again_at = None, now + pause
            if one.early_deaths >= _MOST_EARLY_DEATHS:
                self._give_up(one)
        if one.process is None and not one.given_up and now >= one.again_at:
            one.process, one.began = self._started(one), now

    def _give_up(self, one: Kept) -> None:
        told = f"{one.name} dies each time it is started; see the messages above"
        if one.needed:
            raise Unavailable(told)
        self._tell(f"{told}; going on without it")
        one.given_up = True

    def _started(self, one: Kept) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def die_with_parent() -> None:
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(0)

        return subprocess.Popen(  # noqa: S603 (our own command)
            one.command,
            stdin=subprocess.DEVNULL,
            env=self._environment,
            pass_fds=tuple(one.sockets),
            start_new_session=True,  # Ctrl-C reaches us alone; we end them in good order
            preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 (this process has one thread)
        )

    def _end(self) -> None:
        """Ask all to end, wait, and kill who does not."""
        alive = [one for one in self._kept if one.process is not None]
        for one in alive:
            _signal(one, signal.SIGTERM)
        end = time.monotonic() + self._grace
        for one in alive:
            process = one.process
            if process is None:
                continue
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._tell(f"{one.name} did not end within {self._grace:g} seconds; killed")
                _signal(one, signal.SIGKILL)
                process.wait()


def _signal(one: Kept, number: int) -> None:
    if one.process is not None and one.process.poll() is None:
        one.process.send_signal(number)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
