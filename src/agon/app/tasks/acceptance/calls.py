"""Find the programs of the agent that tests run, or import into their own process."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from agon.app.tasks.acceptance.probes import Observation
from agon.app.tasks.acceptance.programs import LeftFile, mentions
from agon.app.tasks.acceptance.texts import is_shell

_PYTHON: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NODE: Final = re.compile(
    r"\b(?:require|import)\([ \t]*[\"']([./][^\"']+)[\"']|\b(?:from|import)[ \t]+[\"']([./][^\"']+)"
)
_RUBY: Final = re.compile(
    r"^[ \t]*(?:require|require_relative|load)[ (]+[\"']([^\"']+)", re.MULTILINE
)
_SOURCE: Final = re.compile(
    r"(?:^|[;&|(])[ \t]*(?:\.|source)[ \t]+\"?([./][^\s;\"']+)", re.MULTILINE
)
_PATHS: Final = {
    ".js": _NODE, ".mjs": _NODE, ".cjs": _NODE, ".ts": _NODE, ".rb": _RUBY,
}  # fmt: skip
_INTERPRETERS: Final = "sh|bash|python3?|node|perl|ruby"
_RUN: Final = re.compile(
    rf"(?:\b(?:{_INTERPRETERS}|exec)[ \t]+|^[ \t]*|[;&|(][ \t]*"
    rf"|(?:run|call|Popen|check_output|system)\([ \t\n]*\[?[ \t\n]*[\"']"
    rf"|[\"'](?:{_INTERPRETERS})[\"'],[ \t\n]*[\"'])"
    r"(/[\w./-]+|\./[\w./-]+)",
    re.MULTILINE,
)
_DROP: Final = re.compile(r"\b(?:su|runuser|setpriv|sudo|gosu|chpst|setuidgid)\b|\buser=")
"""A line that runs a program as another user."""


@dataclass(frozen=True, kw_only=True)
class ProgramCall:
    """A program of the agent that runs with the rights of the tests.

    Attributes:
        file: the file of the tests that runs it.
        program: its path.
        writable: the processes of the tests that it was seen to be able to write to; None: unseen.
    """

    file: str
    program: str
    writable: tuple[str, ...] | None


def imports_in(
    texts: Mapping[str, str], files: Mapping[str, LeftFile], workdir: str
) -> Iterator[tuple[str, str]]:
    """Yield the files of the agent that run in the process of the tests, each after their file.

    Args:
        texts: the texts of the tests by file.
        files: the files that the oracle left.
        workdir: the folder in which the tests begin.
    """
    own = frozenset(PurePosixPath(file).stem for file in texts if file.endswith(".py"))
    programs = [file.path for file in files.values() if file.language]
    for file, text in texts.items():
        modules = _modules(text, own) if file.endswith(".py") else _paths(file, text, workdir)
        for endings in modules:
            yield from ((file, path) for path in programs if path.endswith(endings))


def _modules(text: str, own: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Yield how the paths end of each module that a Python text imports, but for the tests' own."""
    for module in dict.fromkeys(_PYTHON.findall(text)):
        if module not in own and module not in sys.stdlib_module_names:
            yield f"/{module}.py", f"/{module}/__init__.py"


def _paths(file: str, text: str, workdir: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of each file that a text of another language imports."""
    pattern = _SOURCE if is_shell(file, text) else _PATHS.get(PurePosixPath(file).suffix)
    suffixes = [suffix for suffix, same in _PATHS.items() if same is pattern]
    names = (match.groups(default="") for match in (pattern.finditer(text) if pattern else ()))
    for path in dict.fromkeys(_absolute("".join(name), workdir) for name in names):
        yield path, *(f"{path}{suffix}" for suffix in suffixes)


def _absolute(name: str, workdir: str) -> str:
    return name if name.startswith("/") else f"{workdir}/{name.removeprefix('./')}"


def calls_in(
    texts: Mapping[str, str],
    files: Mapping[str, LeftFile],
    workdir: str,
    observation: Observation,
    script: str,
) -> Iterator[ProgramCall]:
    """Yield the agent's programs that run with the rights of the tests: seen to run, else read.

    Args:
        texts: the texts of the tests by file.
        files: the files that the oracle left.
        workdir: the folder in which the tests begin.
        observation: what was seen with forged programs.
        script: the file with which the tests begin.
    """
    seen = {run.path: run for run in observation.runs}
    for path, run in seen.items():
        if not run.other_user:
            callers = [file for file, text in texts.items() if mentions(text, path)]
            for file in callers or [script]:
                yield ProgramCall(file=file, program=path, writable=run.writable)
    for file, text in texts.items():
        lines = "\n".join(line for line in text.splitlines() if not _DROP.search(line))
        for called in dict.fromkeys(_RUN.findall(lines)):
            path = _absolute(called, workdir)
            if path not in seen and path in files and files[path].language:
                yield ProgramCall(file=file, program=path, writable=None)
