"""Ask bots that are commands: the work on stdin, the reply on stdout."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from agon.app.arena.live.network.transport import BotReply
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import NotFound
from agon.runners.bots.http import MAX_REPLY_BYTES
from agon.runners.bots.replies import read_reply


@dataclass(frozen=True)
class CommandBot:
    """A bot that is a command, started for each work.

    The command is trusted: it runs with the rights of its caller. It ends, with all processes of
    its group, by the time limit.

    Attributes:
        words: the command and its arguments.

    Raises:
        NotFound: there is no such command.
    """

    words: Sequence[str]

    def __post_init__(self) -> None:
        """Check that the command exists."""
        if not self.words or shutil.which(self.words[0]) is None:
            name = self.words[0] if self.words else ""
            raise NotFound(f"there is no command {name!r}; give a URL, or a command in the PATH")

    def ask(self, work: Mapping[str, Any], *, seconds: float) -> BotReply | Fault:
        """Return the command's reply to work, or why there is none."""
        start = time.monotonic()
        with subprocess.Popen(  # noqa: S603 (the caller's own command)
            list(self.words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(orjson.dumps(dict(work)), timeout=seconds)
            except subprocess.TimeoutExpired:
                # The command has not been waited for, so that its group cannot be another's yet.
                os.killpg(process.pid, signal.SIGKILL)
                return Fault("bot", "late", f"the command did not end within {seconds:.3g} s")
        if process.returncode != 0:
            return Fault("bot", "invalid", f"the command ended with exit code {process.returncode}")
        if len(output) > MAX_REPLY_BYTES:
            return Fault("bot", "too-large", f"the reply has over {MAX_REPLY_BYTES:,} B")
        latency_ms = (time.monotonic() - start) * 1000
        return read_reply(output, kind=str(work["kind"]), latency_ms=latency_ms)
