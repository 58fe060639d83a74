"""Run the command line as users do, and provide small records for it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agon.cli.run import run

BOTS = "id,owner_id,name\nann,o1,Ann\nbob,o2,Bob\ncy,o3,Cy\n"
OWNERS = "id,handle,account_created_at\no1,one,\no2,two,\no3,three,\n"
MATCHES = (
    "id,played_at,bot_a,bot_b,kind,winner\n"
    "1,2026-01-01T10:00:00Z,ann,bob,rated,a\n"
    "2,2026-01-02T10:00:00Z,bob,cy,rated,a\n"
    "3,2026-01-03T10:00:00Z,cy,ann,rated,tie\n"
    "4,2026-01-04T10:00:00Z,cy,ann,rated,a\n"
)


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the standard output as JSON."""
        return json.loads(self.out)


class Cli:
    """Run commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> CommandResult:
        """Run one command."""
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        return CommandResult(code, out, err)

    def piped(self, content: bytes, *arguments: object) -> CommandResult:
        """Run one command whose standard input is a pipe with a content that fits into it."""
        read_end, write_end = os.pipe()
        with os.fdopen(write_end, "wb") as writer:
            writer.write(content)
        with os.fdopen(read_end) as stdin, patch("sys.stdin", stdin):
            return self(*arguments)


def run_process(*arguments: object, given: bytes = b"", **environment: str) -> CommandResult:
    """Run one command as a separate process."""
    process = subprocess.run(
        [sys.executable, "-m", "agon", *map(str, arguments)],
        input=given,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    return CommandResult(process.returncode, process.stdout.decode(), process.stderr.decode())


def arena_folder(folder: Path, *, matches: str = MATCHES) -> Path:
    """Write a small arena: ann beats bob, bob beats cy, cy ties with and beats ann."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "owners.csv").write_text(OWNERS)
    (folder / "bots.csv").write_text(BOTS)
    (folder / "matches.csv").write_text(matches)
    return folder
