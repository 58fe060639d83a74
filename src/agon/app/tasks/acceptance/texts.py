"""Read the scripts and programs that a task's tests consist of, and what they say about rewards."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agon.app.tasks.acceptance.forgeries import REWARDS, Clues
from agon.app.tasks.task import Task

_SUFFIXES: Final = (
    ".sh", ".bash", ".bats", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".go", ".rs", ".c",
    ".cpp", ".java", ".kt", ".php", ".lua", ".exp", ".tcl", ".r", ".jl", ".ex", ".exs", ".hs", "",
)  # fmt: skip
_MAX_FILE_BYTES: Final = 1 << 20
_SHELL: Final = re.compile(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?(?:ba|da|a|k|z)?sh\b")
_TIMEOUT: Final = re.compile(
    r"\btime_?out(?:_s|_sec|_seconds)?\"?\s*(?:=|:|,)\s*(\d+(?:\.\d+)?)"
    r"|\btimeout\s+(?:-\S+\s+(?:\w+\s+)?)*?(\d+(?:\.\d+)?)([smh]?)\b"
    r"|\"timeout\",\s*\"(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_MILLISECONDS_FROM: Final = 1000.0
_UNITS: Final = {"m": 60.0, "h": 3600.0}
_SPARE_S: Final = 3
_REWARD_NAME: Final = re.compile(r"(?<![\w.-])(\.?[\w-]*reward[\w.~-]*)", re.IGNORECASE)


def texts_of_tests(task: Task) -> dict[str, str]:
    """Return the texts of a task's tests that are not large, by their paths in the task."""
    files = task.files
    paths = {path for path in files.tests.rglob("*") if path.suffix.casefold() in _SUFFIXES}
    texts = {}
    for path in sorted({*paths, *filter(None, (files.script,))}):
        if path.is_file() and path != files.cheat and path.stat().st_size <= _MAX_FILE_BYTES:
            texts[str(path.relative_to(task.folder))] = path.read_text(errors="replace")
    return texts


def script_of(task: Task) -> str:
    """Return the path in the task of the script with which its tests begin."""
    return str((task.files.script or task.files.tests / "test.sh").relative_to(task.folder))


def is_shell(file: str, text: str) -> bool:
    r"""Return whether a file of the tests is a script for a shell.

    Example:
        >>> is_shell("tests/test.sh", "echo"), is_shell("tests/test.sh", "#!/usr/bin/env python3\n")
        (True, False)
        >>> is_shell("tests/judge.py", "import json"), is_shell("tests/run", "#!/bin/bash -e")
        (False, True)
    """
    if text.startswith("#!"):
        return bool(_SHELL.match(text.split("\n", 1)[0]))
    return Path(file).suffix in {".sh", ".bash", ".bats"}


def clues_in(texts: Mapping[str, str]) -> Clues:
    r"""Return what texts of tests say about their time-outs and the names of their rewards.

    Example:
        >>> clues_in({"a.py": "run(x, timeout=10)\nrename('reward.json.new', 'reward.json')"})
        Clues(seconds=13, temporary=('reward.json.new',), rewards=('reward.json',))
    """
    seconds = max((value for text in texts.values() for value in _timeouts(text)), default=0.0)
    matches = (name for text in texts.values() for name in _REWARD_NAME.findall(text))
    names = tuple(dict.fromkeys(name.rstrip(".") for name in matches))
    return Clues(
        seconds=int(seconds) + _SPARE_S if seconds else 0,
        temporary=tuple(name for name in names if "." in name and name not in REWARDS),
        rewards=tuple(name for name in REWARDS if name in names) or REWARDS,
    )


def _timeouts(text: str) -> list[float]:
    values = []
    for stated, command, unit, quoted in _TIMEOUT.findall(text):
        value = float(stated or command or quoted) * _UNITS.get(unit, 1.0)
        values.append(value / 1000 if stated and value >= _MILLISECONDS_FROM else value)
    return values
