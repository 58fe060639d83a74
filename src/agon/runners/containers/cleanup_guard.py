"""Tie containers to this process: when it ends, by ``kill -9`` too, they are removed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from agon.runners.containers.engine import CommandLine

_REAPER: Final = Path(__file__).with_name("reaper.py")
_TIMEOUT_S: Final = 10.0


class CleanupGuard:
    """Keep a small process that removes what carries a label once this process is gone.

    It stands in a session of its own, so that what ends this process and its group leaves it.
    """

    def __init__(self, engine: CommandLine, *, label: str, folder: Path) -> None:
        """Start it.

        Args:
            engine: whose containers.
            label: which of them.
            folder: temporary files that go with them.
        """
        clients_end, self.inherited = os.pipe()
        try:
            self._reaper = subprocess.Popen(  # noqa: S603  # our own program
                [
                    *(sys.executable, "-I", "-S", "-B", str(_REAPER)),
                    *(str(clients_end), str(folder), label),
                    *(json.dumps(engine.command), json.dumps(engine.removing)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(clients_end,),
                start_new_session=True,
                cwd="/",
            )
        except BaseException:
            os.close(self.inherited)
            raise
        finally:
            os.close(clients_end)

    inherited: int
    """A descriptor that every client of the engine inherits."""

    @property
    def process(self) -> int:
        """Give the process's id."""
        return self._reaper.pid

    def close(self) -> None:
        """Let it end without removing anything: everything is removed."""
        os.close(self.inherited)
        pipe = self._reaper.stdin
        if pipe is not None:
            try:
                pipe.write(b".")
                pipe.close()
            except BrokenPipeError:
                pass  # it was killed before
        try:
            self._reaper.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._reaper.kill()
            self._reaper.wait()
