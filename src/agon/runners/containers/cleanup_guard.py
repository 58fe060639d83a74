"""Remove the containers of this process when it ends, also by ``kill -9``."""

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
    """A small process that removes this process's containers, by name, once it has ended.

    It runs in its own session, so that a signal to this process's group does not reach it.
    """

    def __init__(self, engine: CommandLine, *, pattern: str, folder: Path) -> None:
        """Start it.

        Args:
            engine: the container engine.
            pattern: a regular expression for the containers' names.
            folder: temporary files to remove with them.
        """
        clients_end, self.inherited = os.pipe()
        try:
            self._reaper = subprocess.Popen(  # noqa: S603  # our own program
                [
                    *(sys.executable, "-I", "-S", "-B", str(_REAPER)),
                    *(str(clients_end), str(folder), pattern),
                    *map(json.dumps, (engine.command, engine.listing, engine.removing)),
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
        """The process id."""
        return self._reaper.pid

    def close(self) -> None:
        """Stop it without removing anything; everything is removed already."""
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
