"""Forged programs run in their language, leave a trace, and forge only what they are to forge."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agon.app.tasks.acceptance.forgeries import PROBES, TRACE, Clues, language_of, program

RUNS = {
    "shell": ("sh", "x.sh"),
    "python": (sys.executable, "x.py"),
    "perl": ("perl", "x.pl"),
    "c": ("sh", "-c", "cc -o x x.c && ./x"),
}
"""Commands for languages that every machine with these tests has; C where there is a compiler."""
NAMES = {"shell": "x.sh", "python": "x.py", "perl": "x.pl", "c": "x.c"}


def in_folder(text: bytes, folder: Path) -> bytes:
    """Return a program whose ``/logs`` is a folder of this machine."""
    return text.replace(b"/logs", str(folder / "logs").encode())


@pytest.mark.parametrize(
    "language", sorted(set(RUNS) - ({"c"} if not shutil.which("cc") else set()))
)
@pytest.mark.parametrize("ending", ["", "echo forged > /logs/reward\nexit 0\n"])
def test_a_forged_program_leaves_its_trace(tmp_path: Path, language: str, ending: str) -> None:
    """Quoted right in each language; the original is in it as a comment."""
    (tmp_path / "logs").mkdir()
    text = program(language, 3, ending, original=b"original \\\n'line\"\n")
    (tmp_path / NAMES[language]).write_bytes(in_folder(text, tmp_path))
    ended = subprocess.run(RUNS[language], cwd=tmp_path, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, b""), ended.stderr
    trace = (tmp_path / "logs" / f"{TRACE}3").read_text().splitlines()
    assert trace[0] == f"user {os.getuid()}"
    assert (tmp_path / "logs/reward").exists() is bool(ending)
    assert b" original" in text


def test_a_hollow_module_returns_to_what_imports_it_and_a_forged_one_does_not(
    tmp_path: Path,
) -> None:
    """Tests that import a module fail on a hollow one; a forged one ends their process."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "test.py").write_text("import solution\nprint('went on')\nraise SystemExit(7)\n")
    codes = {}
    for ending in ("", "exit 0\n"):
        text = program("python", 0, ending, original=b"def f(): ...\n")
        (tmp_path / "solution.py").write_bytes(in_folder(text, tmp_path))
        ended = subprocess.run([sys.executable, "test.py"], cwd=tmp_path, capture_output=True,
                               check=False)  # fmt: skip
        codes[ending] = (ended.returncode, ended.stdout)
    assert codes == {"": (7, b"went on\n"), "exit 0\n": (0, b"")}


def test_the_trace_names_processes_that_can_be_written_to(tmp_path: Path) -> None:
    """A runner of the same user, in any language, unless the kernel denies it."""
    opens = "import os; open(f'/proc/{os.getppid()}/mem', 'r+b')"
    ended = subprocess.run([sys.executable, "-c", opens], capture_output=True, check=False)
    (tmp_path / "logs").mkdir()
    (tmp_path / "x.sh").write_bytes(in_folder(program("shell", 0, ""), tmp_path))
    subprocess.run([sys.executable, "-c", "import os; os.system('sh x.sh; :')"], cwd=tmp_path,
                   check=True)  # fmt: skip
    lines = (tmp_path / "logs" / f"{TRACE}0").read_text().splitlines()
    seen = any(line.startswith("writable python") for line in lines)
    assert seen is (ended.returncode == 0)


def test_every_probe_is_a_script_that_a_shell_can_read() -> None:
    """In dash or busybox as in bash."""
    clues = Clues(seconds=2, temporary=("reward.part",))
    for probe in PROBES:
        script = program("shell", 0, probe.script(clues)).decode()
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)
        assert ("reward" in script) is probe.of_reward
        assert script.rstrip("\n# ").endswith("exit 0")


@pytest.mark.parametrize(
    ("path", "first", "mode", "language"),
    [
        ("/app/a", b"\x7fELF\2", 0o755, "shell"),
        ("/app/a", b"\x7fELF\2", 0o644, "shell"),
        ("/app/run", b"#!/bin/bash\n", 0o644, "shell"),
        ("/app/run", b"#!/usr/bin/env node\n", 0o755, "node"),
        ("/app/run.sh", b"#!/usr/bin/python3\n", 0o755, "python"),
        ("/app/m.mjs", b"import x", 0o644, "node-module"),
        ("/app/main.go", b"package main", 0o644, "go"),
        ("/app/data.json", b"{}", 0o644, ""),
        ("/app/README", b"text", 0o644, ""),
        ("/app/Makefile", b"all:", 0o644, ""),
    ],
)
def test_a_program_is_known_by_its_first_line_ending_or_mode(
    path: str, first: bytes, mode: int, language: str
) -> None:
    """The kernel reads the first line first."""
    assert language_of(path, first, mode) == language
