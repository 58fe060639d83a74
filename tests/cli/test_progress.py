"""Long commands show their progress on a terminal, and nowhere else."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from agon.kernel import progress
from agon.kernel.progress import ProgressStep
from cli.command import Cli, arena_folder, run_process

LONG = ("--ci", "--set", "bootstrap_rounds=100000")
PAIRS = (("ann", "bob"), ("bob", "cy"), ("cy", "ann"))
MANY = "id,played_at,bot_a,bot_b,kind,winner\n" + "".join(
    f"{n},2026-01-01T10:00:00Z,{a},{b},rated,{'ab'[n % 7 < 3]}\n"
    for n, (a, b) in enumerate(PAIRS * 5000)
)
"""Matches whose resampling takes far longer than a busy machine needs to send a signal."""


@pytest.mark.exhaustive
def test_a_terminal_shows_a_share_until_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """A percentage on stderr; Ctrl-C is exit code 130, one line, and nothing on stdout."""
    folder = arena_folder(tmp_path / "arena", matches=MANY)
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "agon", "arena", "rate", str(folder), *LONG]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=stderr, env=environment
    ) as process:
        os.close(stderr)
        screen = Screen(terminal, until=b"rating: resampling")
        assert screen.shows.wait(timeout=60)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()  # a command that was not interrupted works for minutes
    shown = screen.text()
    os.close(terminal)
    assert process.returncode == 130
    assert b"%" in shown
    assert shown.count(b"interrupted") == 1
    assert b"Traceback" not in shown
    assert out == b""


@pytest.mark.exhaustive
def test_a_pipe_gets_no_progress(tmp_path: Path) -> None:
    """Logs of a job hold messages alone, and data is parsed."""
    folder = arena_folder(tmp_path / "arena")
    done = run_process("arena", "rate", folder, "--ci", "--set", "bootstrap_rounds=200")
    assert done.code == 0
    assert done.err == ""
    assert "%" not in done.out.replace("95 %", "")


@pytest.mark.exhaustive
def test_work_on_ledgers_and_databases_has_a_share(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one takes minutes; a spinner does not say how many."""
    begun: list[ProgressStep] = []

    def begin(label: str, share: Callable[[], float | None]) -> ProgressStep:
        begun.append(ProgressStep(label, share))
        return begun[-1]

    monkeypatch.setattr(progress, "ProgressStep", begin)
    at = ("--database", f"sqlite:///{tmp_path}/agon.db")
    other = ("--database", f"sqlite:///{tmp_path}/other.db")
    third = ("--database", f"sqlite:///{tmp_path}/third.db")
    ledger, copy, archive = tmp_path / "ledger", tmp_path / "a.db", tmp_path / "a.tar.gz"
    agon("contest", "create", "spring", "--discipline", "arena", *at)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), *at)
    commands: dict[tuple[object, ...], set[str]] = {
        ("contest", "rescore", "spring", "--set", "k_new=64", "--dry-run", *at): {
            "reading entries", "comparing boards"},
        ("contest", "export", "spring", "--out", ledger, *at): {"writing entries"},
        ("contest", "import", ledger, *other): {"reading entries"},
        ("contest", "import", ledger, "--dry-run"): {"reading entries"},
        ("replay", ledger): {"reading entries"},
        ("db", "backup", copy, *at): {"copying"},
        ("db", "backup", archive, *at): {"writing rows"},
        ("db", "restore", archive, *third): {"loading", "spring"},
        ("db", "verify", *at): {"spring"},
    }  # fmt: skip
    counted = {"writing entries", "comparing boards", "writing rows", "spring"}
    for command, labels in commands.items():
        begun.clear()
        with progress.observe():
            ended = agon(*command)
        assert ended.code == 0, ended.err
        assert labels <= {step.label for step in begun}, command
        # Files that were read are closed now; counts stay, and say that all was done.
        assert {step.share() for step in begun if step.label in counted & labels} <= {1.0}


class Screen:
    """Reads a terminal to its end in a thread: a full one would stop the command that writes.

    Attributes:
        shows: set when a text has appeared; also at the end.
    """

    def __init__(self, terminal: int, *, until: bytes) -> None:
        self._terminal = terminal
        self._until = until
        self._shown = b""
        self.shows = Event()
        self._thread = Thread(target=self._read)
        self._thread.start()

    def text(self) -> bytes:
        """Return everything that was written, once the other end is closed."""
        self._thread.join(timeout=60)
        return self._shown

    def _read(self) -> None:
        with suppress(OSError):  # the end of a terminal
            while chunk := os.read(self._terminal, 4096):
                self._shown += chunk
                if self._until in self._shown:
                    self.shows.set()
        self.shows.set()
