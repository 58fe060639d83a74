"""Start and end the processes of a simulated league's bots."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from agon.errors import Unavailable

_END_S: Final = 5.0


@dataclass(frozen=True)
class ParticipantProcess:
    """A process that runs some bots.

    Attributes:
        process: the process.
        port: the port of their endpoints.
    """

    process: "subprocess.Popen[str]"
    port: int

    def endpoint(self, number: int) -> str:
        """Return the endpoint of a bot."""
        return f"http://127.0.0.1:{self.port}/{number}"

    def add(self, number: int, bot_id: str, secret: str | None) -> None:
        """Start a bot that was registered; without a secret it asks for its work."""
        _send(self.process, {"number": number, "id": bot_id, "secret": secret})


@contextmanager
def participant_processes(
    count: int, shared: Mapping[str, Any]
) -> Iterator[list[ParticipantProcess]]:
    """Run processes; they end with the block, and if this process is killed.

    Args:
        count: how many.
        shared: the first line of their input.

    Raises:
        Unavailable: one did not start.
    """
    with ExitStack() as opened:
        started = [opened.enter_context(_process()) for _ in range(count)]
        for process in started:
            _send(process, shared)
        yield [ParticipantProcess(process, _port(process)) for process in started]


@contextmanager
def _process() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "agon.client.league.participants"]
    with subprocess.Popen(  # noqa: S603 (our own command)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C reaches the command only, which ends them
    ) as process:
        try:
            yield process
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process: by the end of its input, and by force if it takes too long."""
    try:
        process.communicate(timeout=_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _port(process: "subprocess.Popen[str]") -> int:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise Unavailable("a process with bots did not start; see its message above")
    return int(json.loads(line)["port"])


def _send(process: "subprocess.Popen[str]", value: Mapping[str, Any]) -> None:
    if process.stdin is None:
        raise RuntimeError("the process has no standard input")
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()
