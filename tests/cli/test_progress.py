"""Long commands show their progress on a terminal, and nowhere else."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

from cli.command import arena_folder, run_process

LONG = ("--ci", "--set", "bootstrap_rounds=100000")


def test_a_terminal_shows_a_share_until_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """A percentage on stderr; Ctrl-C is exit code 130, one line, and nothing on stdout."""
    folder = arena_folder(tmp_path / "arena")
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "agon", "arena", "rate", str(folder), *LONG]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=stderr, env=environment
    ) as process:
        os.close(stderr)
        shown = b""
        while b"rating: resampling" not in shown:
            shown += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        shown += _rest(terminal)
    os.close(terminal)
    assert process.returncode == 130
    assert b"%" in shown
    assert shown.count(b"interrupted") == 1
    assert b"Traceback" not in shown
    assert out == b""


def test_a_pipe_gets_no_progress(tmp_path: Path) -> None:
    """Logs of a job hold messages alone, and data is parsed."""
    folder = arena_folder(tmp_path / "arena")
    done = run_process("arena", "rate", folder, "--ci", "--set", "bootstrap_rounds=200")
    assert done.code == 0
    assert done.err == ""
    assert "%" not in done.out.replace("95 %", "")


def _rest(terminal: int) -> bytes:
    """Read what a terminal still holds; a closed one is at its end."""
    rest = b""
    try:
        while chunk := os.read(terminal, 4096):
            rest += chunk
    except OSError:
        pass
    return rest
